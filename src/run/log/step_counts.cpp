#include "step_counts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace grove {
namespace {

StepCounts::Row row_of(const Activity& a) {
  return {a.collectives, a.messages, a.nccl_groups, a.host_waits, a.launches, a.sent};
}

}  // namespace

StepCounts::StepCounts(const Activity& all, const PhaseTimers& timers, std::span<const char* const> phases)
    : phases_(phases), rows_{row_of(all)} {
  for (const char* phase : phases) rows_.push_back(row_of(timers.cost(phase).activity));
}

std::string StepCounts::text() const {
  constexpr std::array words = {"collectives",       "messages",       "groups of NCCL",
                                "waits for the GPU", "launches on it", "bytes sent"};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (all()[i] > 0) parts.push_back(fmt::format("{} {}", all()[i], words[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace grove
