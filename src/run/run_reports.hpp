#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/activity.hpp"
#include "base/timers.hpp"
#include "base/types.hpp"
#include "comm/joint_reduction.hpp"
#include "gravity/audit.hpp"
#include "gravity/totals.hpp"
#include "run/log/conservation.hpp"
#include "run/log/energy_balance.hpp"
#include "run/log/run_log.hpp"
#include "run/log/rung_costs.hpp"
#include "run/log/verdict.hpp"
#include "run/run_outputs.hpp"
#include "run/run_view.hpp"
#include "tuning/tree_update.hpp"

namespace grove {

/// Reports of a run on the console and in its logs, with the measurements that they need. All calls are
/// collective but those that only return a value.
class RunReports {
 public:
  RunReports(const RunView& run, const RunOutputs& outputs) : run_(run), outputs_(outputs) {}
  ~RunReports();
  RunReports(const RunReports&) = delete;
  RunReports& operator=(const RunReports&) = delete;

  /// The part of it that a checkpoint keeps.
  struct State {
    EnergyBalance energy{};
    Conservation conservation{};  ///< so far
  };
  const State& state() const { return state_; }

  /// The first forces are known.
  void begin();
  /// The run goes on from here, after so many steps.
  void resume(const State& state, std::int64_t steps_done);
  std::optional<std::int64_t> resumed_at() const { return resumed_at_; }

  /// Makes the output folder and its logs, in which step() and end() then write.
  void open();
  bool is_open() const { return is_open_; }

  /// A step that was made, or, before the first one, the begin.
  struct Step {
    std::int64_t number;     ///< steps done, of all lengths
    TreeUpdate tree_update;  ///< what was done to the trees
    Count leaves_moved;      ///< before the walk, but for decompositions
    double length;
    bool is_audited;
    const RungCosts& rung_costs;
  };
  /// timers: of the step; adds to audit and output. joint: what is agreed on with it, which is then known.
  /// The rows of a step that ends no longest one are written by the next call, whichever it is.
  void step(const Step& step, PhaseTimers& timers, JointReduction& joint);
  /// Writes those rows: while GPUs have something to do.
  void write_rows();
  /// Behind the last one. timers: of what came after it.
  void end(PhaseTimers& timers);

  /// A checkpoint is about to be written: what was reported so far is on disk.
  void keep();
  void checkpoint_written(std::int64_t steps_done);
  /// That the ranks are on.
  Count hosts() const { return hosts_; }

 private:
  using Clock = std::chrono::steady_clock;

  void remove_earlier_results() const;
  std::uint8_t types_with_mass() const;
  AuditResult audit() const;
  Totals totals() const;
  ExpandedSpace space() const;
  double energy_to_grow() const;
  bool measures_radii(std::int64_t step) const;
  void measure(const Step& step, StepReport& report, PhaseTimers& timers);
  void log(const Step& step, StepReport& report);
  Verdict verdict(PhaseTimers& timers);

  RunView run_;
  const RunOutputs& outputs_;
  State state_;
  bool is_open_ = false;
  std::unique_ptr<RunLog> log_;          ///< on the master, while open
  std::optional<StepReport> unwritten_;  ///< the last step, on the master
  Count hosts_ = 1;
  Activity reported_activity_;              ///< of this rank until the last report
  std::optional<std::int64_t> resumed_at_;  ///< steps done, where the run goes on
  double begun_at_ = 0;                     ///< longest steps done when this start of the run began
  Clock::time_point opened_at_, reported_at_;
};

}  // namespace grove
