#include "slurm_time.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>

namespace grove {
namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// The name of this job for squeue: a task of an array shares its number with all of them.
std::string job_of_squeue(std::int64_t job) {
  const char *const array = std::getenv("SLURM_ARRAY_JOB_ID"), *const task =
                                                                   std::getenv("SLURM_ARRAY_TASK_ID");
  const auto array_number = array ? whole(array) : std::nullopt,
             task_number = task ? whole(task) : std::nullopt;
  if (array_number && task_number) return fmt::format("{}_{}", *array_number, *task_number);
  return fmt::format("{}", job);
}

/// The first line that squeue prints about a job; empty: it failed.
std::string ask_squeue(const std::string& job) {
  const std::string command =
      fmt::format("timeout 10 squeue --noheader --jobs={} --format=%L 2>/dev/null", job);
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  char line[64] = {};
  const bool has_line = std::fgets(line, sizeof(line), pipe) != nullptr;
  if (pclose(pipe) != 0 || !has_line) return {};
  const std::string_view text = line;
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::optional<double> parse_slurm_time(std::string_view text) {
  if (text == "UNLIMITED" || text == "NOT_SET") return std::numeric_limits<double>::infinity();
  double seconds = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto days = whole(text.substr(0, dash));
    if (!days) return std::nullopt;
    seconds = 24 * static_cast<double>(*days);
    text.remove_prefix(dash + 1);
  }
  int parts = 0;
  for (bool is_last = false; !is_last; ++parts) {
    const auto colon = text.find(':');
    is_last = colon == std::string_view::npos;
    const auto part = whole(text.substr(0, colon));
    if (!part) return std::nullopt;
    seconds = (parts == 0 ? seconds : 60 * seconds) + static_cast<double>(*part);
    text.remove_prefix(is_last ? text.size() : colon + 1);
  }
  return parts == 2 || parts == 3 ? std::optional(seconds) : std::nullopt;
}

SlurmTime slurm_time_left() {
  const char* const id = std::getenv("SLURM_JOB_ID");
  const auto job = id ? whole(id) : std::nullopt;
  if (!job) return {};
  if (const char* const end = std::getenv("SLURM_JOB_END_TIME"))
    if (const auto epoch = whole(end))
      return {static_cast<double>(*epoch - static_cast<std::int64_t>(std::time(nullptr))), {}};
  const std::string name = job_of_squeue(*job), answer = ask_squeue(name);
  const auto left = parse_slurm_time(answer);
  if (!left) return {{}, fmt::format("squeue answered '{}' about job {}", answer, name)};
  return {std::isfinite(*left) ? left : std::nullopt, {}};
}

}  // namespace grove
