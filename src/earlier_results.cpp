#include "earlier_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
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

}  // namespace

EarlierResults::EarlierResults(const std::filesystem::path& folder) {
  // As Simulation::write_output() and write_requested_snapshot() name them, one file or several.
  static const std::regex due(R"(snapshot_(\d{3,18})(\.\d+)?\.(hdf5|png))"),
      asked_for(R"(requested_step_\d+(\.\d+)?\.hdf5)");
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  try {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_directory()) continue;
      const std::string name = entry.path().filename().string();
      std::smatch found;
      if (std::regex_match(name, found, due))
        results_.push_back({entry.path(), std::stoll(found[1].str())});
      else if (std::regex_match(name, asked_for))
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
