#include "earlier_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "base/errors.hpp"

namespace grove {
namespace {

std::size_t remove_file(const std::filesystem::path& file) {
  std::error_code error;
  const bool was_there = std::filesystem::remove(file, error);
  if (error)
    throw InputError(
        fmt::format("{}: of an earlier run, cannot be removed: {}", file.string(), error.message()));
  return was_there ? 1 : 0;
}

/// The number behind a prefix, if the name is PREFIX, NUMBER, of one of several files its own number, and
/// .hdf5, .png or _power.csv.
std::optional<std::int64_t> number_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || number < 0) return {};
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  if (const auto behind = name.find_first_not_of("0123456789", 1); behind > 1 && name.starts_with('.'))
    name.remove_prefix(std::min(behind, name.size()));
  if (name != ".hdf5" && name != ".png" && name != "_power.csv") return {};
  return number;
}

}  // namespace

EarlierResults::EarlierResults(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_directory()) continue;
      const std::string name = entry.path().filename().string();
      // As RunOutputs names them.
      if (const auto number = number_in(name, "snapshot_"))
        results_.push_back({entry.path(), number});
      else if (number_in(name, "requested_step_"))
        results_.push_back({entry.path(), {}});
    }
  } catch (const std::filesystem::filesystem_error& fault) {
    throw InputError(fmt::format("{}: {}", folder.string(), fault.code().message()));
  }
  std::sort(results_.begin(), results_.end(),
            [](const Result& a, const Result& b) { return a.path < b.path; });
}

std::string EarlierResults::latest_snapshot() const {
  const Result* latest = nullptr;
  for (const Result& result : results_)
    if (result.number && result.path.extension() == ".hdf5" && (!latest || *result.number > *latest->number))
      latest = &result;
  return latest ? latest->path.string() : "";
}

bool EarlierResults::hold(const std::filesystem::path& file) const {
  std::error_code error;
  return std::any_of(results_.begin(), results_.end(), [&](const Result& result) {
    return std::filesystem::equivalent(result.path, file, error);
  });
}

double EarlierResults::bytes() const {
  double sum = 0;
  std::error_code error;
  for (const Result& result : results_)
    if (const std::uintmax_t bytes = std::filesystem::file_size(result.path, error); !error)
      sum += static_cast<double>(bytes);
  return sum;
}

std::size_t EarlierResults::remove_all() const {
  std::size_t removed = 0;
  for (const Result& result : results_) removed += remove_file(result.path);
  return removed;
}

std::size_t EarlierResults::remove_from(std::int64_t number) const {
  std::size_t removed = 0;
  for (const Result& result : results_)
    if (result.number && *result.number >= number) removed += remove_file(result.path);
  return removed;
}

}  // namespace grove
