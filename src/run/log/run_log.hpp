#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/display_units.hpp"
#include "base/types.hpp"
#include "gravity/audit.hpp"
#include "gravity/lagrange_radii.hpp"
#include "gravity/totals.hpp"
#include "log_file.hpp"
#include "rung_costs.hpp"
#include "step_counts.hpp"
#include "telemetry.hpp"
#include "tuning/tree_update.hpp"
#include "verdict.hpp"

namespace grove {

/// The phases of a step that are timed, in their order; columns of timing.csv.
inline constexpr std::array step_phases = {"advance", "decompose", "migrate", "move",   "sort",
                                           "build",   "moments",   "let",     "walk",   "gas",
                                           "tune",    "wait",      "audit",   "output", "checkpoint"};

/// "refit", "renew" or "redecompose".
const char* name_of(TreeUpdate update);

/// Bytes of the rank that has most.
struct MemoryReport {
  double host = 0, host_peak = 0, device_peak = 0;
};

/// The report of one step, in the units of the run.
struct StepReport {
  std::int64_t step = 0;               ///< steps done, of all lengths
  double time = 0, dt = 0;             ///< after the step; its length
  std::optional<double> scale_factor;  ///< then, where space expands
  double done = 0;                     ///< of the longest steps that this start of the run makes
  int rung = 0;                        ///< of the longest steps that end with it
  TreeUpdate tree_update = TreeUpdate::redecompose;         ///< what was done to the trees
  Count leaves_moved = 0;                                   ///< to other ranks, without new cuts
  Count active = 0;                                         ///< particles that got forces
  double wall_seconds = 0;                                  ///< since the report before
  double run_seconds = 0;                                   ///< since the first step began
  double cell_interactions = 0, particle_interactions = 0;  ///< per active particle
  /// If all particles are synchronised: these, and the relative change of the total energy since the begin.
  std::optional<Totals> totals;
  double energy_error = 0;
  std::optional<LagrangeRadii> radii;  ///< where they were measured
  std::optional<AuditResult> audit;    ///< where this step was audited
  std::optional<MemoryReport> memory;  ///< where all particles are synchronised
  StepCounts counts;                   ///< since the report before
  Count sent_bytes = 0;  ///< that ranks sent each other, all ranks: particles, records, trees, agreements
  Count tree_bytes = 0;  ///< of that, locally essential trees
  std::array<double, step_phases.size()> phases{};  ///< seconds, the slowest rank
  double imbalance = 1;  ///< walk: slowest rank over mean; on GPUs what the exchange leaves of it
};

/// The report behind the last step of a run that is complete.
struct RunEnd {
  double seconds = 0;                               ///< since the first step began
  double host_peak = 0, device_peak = 0;            ///< bytes of the rank that has most
  std::array<double, step_phases.size()> phases{};  ///< seconds since the last report, the slowest rank
  Verdict verdict;
};

/// The progress of a run: a line per longest step, or per step where verbosity() asks for it, to standard
/// error, and in the output folder timing.csv, a row per step; energy.csv and rungs.csv, for each longest
/// step a row, and a row per rung; audit.csv, a row per audit; and log.jsonl, all of that for
/// programs. Lives on the master. Rows are flushed as they come, so that a run that dies leaves all it did.
class RunLog {
 public:
  /// Creates the files, replacing those of an earlier run; or, where that goes on after so many steps, cuts
  /// them back to these, if they are there, and appends; a table of other columns, of another version of
  /// Grove, is kept under another name, with a warning. InputError: the folder does not take files.
  /// shown: what values are written in. types: bit t set: Lagrange radii of type t have columns. expands:
  /// space does; energy.csv has scale factors, the console redshifts. has_gas: energy.csv has the internal
  /// energy of gas.
  RunLog(const std::filesystem::path& folder, const DisplayUnits& shown, std::uint8_t types, bool expands,
         bool has_gas, std::optional<std::int64_t> resumed_at = {});

  /// True if the folder holds logs of a run.
  static bool is_there(const std::filesystem::path& folder);
  /// True if a run did more there than begin: its log.jsonl, if there is one, tells of a step.
  static bool has_steps(const std::filesystem::path& folder);
  /// True if they tell of a checkpoint, or of the end, where there is one.
  static bool has_checkpoints(const std::filesystem::path& folder);
  /// InputError if the folder holds results of an earlier run, whose snapshots would mix with new ones; what
  /// one left that ended before its first step can be replaced.
  static void require_no_earlier_run(const std::filesystem::path& folder);

  /// Throws std::runtime_error if the rows cannot be written.
  void add(const StepReport& report);
  /// All rows so far will survive a power failure, where the file system can do that.
  void keep() const;
  /// After a longest step of this length, of which the last report was.
  void add(const RungCosts& costs, double longest_step, int ranks);

  Telemetry& telemetry() { return telemetry_; }

 private:
  void flush(const LogFile& file, const char* name) const;
  void add_totals(const StepReport& report);
  void add_radii(const std::optional<LagrangeRadii>& radii);
  void add_audit(const StepReport& report);
  void print_header() const;
  void print_step(const StepReport& report) const;
  void print_longest_step(const StepReport& report);
  double energy(double value) const { return shown_.shown(value, dimension::energy); }
  double time(double value) const { return shown_.shown(value, dimension::time); }
  std::string when_heading() const;
  double when(const StepReport& report) const;

  std::filesystem::path folder_;
  DisplayUnits shown_;
  bool expands_, has_gas_;
  std::vector<int> radii_of_;  ///< types that have columns
  LogFile energy_, timing_, rungs_, audit_;
  Telemetry telemetry_;
  std::int64_t last_step_ = 0;
  double last_time_ = 0;
  /// The present longest step, so far.
  struct Passed {
    int steps = 0, deepest = 0;
    double seconds = 0;
  };
  Passed passed_;
};

}  // namespace grove
