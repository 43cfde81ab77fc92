#include "machine/cpu_set.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>

namespace grove {
namespace {

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<CpuSet> parse_cpus(std::string_view list) {
  CpuSet cpus;
  while (!list.empty() && list.back() == '\n') list.remove_suffix(1);
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    const auto dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (std::size_t cpu = *first; cpu <= *last && cpu < cpus.size(); ++cpu) cpus.set(cpu);
    list.remove_prefix(part.size() < list.size() ? part.size() + 1 : list.size());
  }
  return cpus;
}

std::string text_of(const CpuSet& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size(); ++first) {
    if (!cpus[first]) continue;
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1]) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return text.empty() ? "none" : text;
}

}  // namespace grove
