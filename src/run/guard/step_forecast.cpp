#include "step_forecast.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "gravity/gravity.hpp"
#include "watchdog.hpp"

namespace grove {
namespace {

/// The rate of a slow file system, for all ranks together.
constexpr double bytes_per_second = 1e8;

/// The longest of recent times: an old one counts half after some 15 others that decide, or 700.
double longest_recent(double longest, double now, double keep) { return std::max(now, keep * longest); }

}  // namespace

double StepForecast::seconds(const RungCounts& particles, int first_active) const {
  const double most = *std::max_element(interactions_.begin(), interactions_.end());
  double work = 0;
  for (auto rung = static_cast<std::size_t>(first_active); rung < rung_count; ++rung)
    work += static_cast<double>(particles[rung]) * (interactions_[rung] > 0 ? interactions_[rung] : most);
  return besides_ + per_interaction_ * work;
}

void StepForecast::add(const ForceReport& forces, double seconds) {
  double work = 0;
  for (std::size_t rung = 0; rung < rung_count; ++rung) {
    const auto active = static_cast<double>(forces.active_of[rung]);
    if (active > 0) interactions_[rung] = static_cast<double>(forces.work[rung]) / active;
    work += static_cast<double>(forces.work[rung]);
  }
  most_work_ = std::max(most_work_, work);
  if (work > 0 && work >= 0.5 * most_work_)
    per_interaction_ = longest_recent(per_interaction_, seconds / work, 0.95);
  else
    besides_ = longest_recent(besides_, seconds, 0.999);
}

double at_most(double seconds) { return seconds / times_predicted; }

double slow_seconds(double interactions) { return 2e-8 * interactions; }

double first_evaluation_seconds(double own, Count n, bool is_direct) {
  return slow_seconds(own * (is_direct ? static_cast<double>(n) : 2000));
}

double reading_seconds(const Communicator& comm, const std::string& folder, int levels) {
  double bytes = 0;
  std::error_code error;
  if (comm.is_master())
    for (std::filesystem::recursive_directory_iterator file(folder, error), end; file != end;
         file.increment(error)) {
      if (file.depth() >= levels) file.disable_recursion_pending();
      if (file->is_regular_file(error)) bytes += static_cast<double>(file->file_size(error));
    }
  return comm.broadcast(bytes) / bytes_per_second;
}

double writing_seconds(Count particles) {
  constexpr double bytes_per_particle = 200;
  return static_cast<double>(particles) * bytes_per_particle / bytes_per_second;
}

double longest_writing_seconds(Count n) { return 4 * writing_seconds(n); }

}  // namespace grove
