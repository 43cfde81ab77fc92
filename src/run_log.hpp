#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/types.hpp"
#include "let/audit.hpp"
#include "let/totals.hpp"

namespace grove {

/// The phases of a step that are timed, in their order; columns of timing.csv.
inline constexpr std::array step_phases = {"advance", "decompose", "migrate", "sort",  "build", "moments",
                                           "let",     "walk",      "wait",    "audit", "output"};

/// What is reported of one step.
struct StepReport {
  std::int64_t step = 0, steps = 0;  ///< steps done, steps of the run
  double time = 0, dt = 0;           ///< of the synchronised state after the step; length of the step
  Count active = 0;                  ///< particles that were walked
  double wall_seconds = 0;           ///< of the step
  double run_seconds = 0;            ///< since the first step began
  double cell_interactions = 0, particle_interactions = 0;  ///< per active particle
  double energy_error = 0;  ///< relative change of the total energy since the begin
  Totals totals;
  std::optional<AuditResult> audit;                 ///< where this step was audited
  std::array<double, step_phases.size()> phases{};  ///< seconds, the slowest rank
  double imbalance = 1;  ///< walk: slowest rank over mean; on GPUs what the exchange leaves of it
};

/// The progress of a run: a line per step to standard error, and energy.csv and timing.csv in the output
/// folder. Lives on the master. Rows are flushed as they come, so that a run that dies leaves all it did.
class RunLog {
 public:
  /// Creates both files, replacing those of an earlier run. InputError: the folder does not take files.
  explicit RunLog(const std::filesystem::path& folder);

  /// InputError if the folder holds results of an earlier run, whose snapshots would mix with new ones.
  static void require_no_earlier_run(const std::filesystem::path& folder);

  /// Throws std::runtime_error if the rows cannot be written.
  void add(const StepReport& report);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;
  static File create(const std::filesystem::path& path);

  void flush(const File& file, const char* name) const;
  void print_line(const StepReport& report) const;

  std::filesystem::path folder_;
  File energy_, timing_;
};

}  // namespace grove
