#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "io/parameters.hpp"
#include "leaf_moves.hpp"
#include "run/checkpoint/checkpoint.hpp"
#include "run/checkpoint/checkpoints.hpp"
#include "run/guard/gas_steps.hpp"
#include "run/guard/guards.hpp"
#include "run/guard/step_forecast.hpp"
#include "run/guard/stop_requests.hpp"
#include "run/log/rung_costs.hpp"
#include "run/run_outputs.hpp"
#include "run/run_reports.hpp"
#include "run/start/physical_summary.hpp"
#include "time/block_clock.hpp"
#include "time/epoch.hpp"
#include "time/timeline.hpp"
#include "tuning/renewal_turns.hpp"
#include "tuning/tree_tuning.hpp"
#include "tuning/tree_update.hpp"

namespace grove {

/// The way in which a run ended.
enum class Ended { complete, stopped };

/// A run: particles, the forces between them, and their way through time. Every call is collective.
class Simulation {
 public:
  /// Takes the particles at time `begin`, divides space and evaluates the first forces. backend: holds the
  /// particles, and was made with parameters.gravity. parameters.time.begin is not used: `begin` is.
  Simulation(const Communicator& comm, const Parameters& parameters, std::unique_ptr<Backend> backend,
             double begin);
  /// The same on the host.
  Simulation(const Communicator& comm, const Parameters& parameters, Particles particles, double begin);
  /// Goes on from a checkpoint, which find_checkpoint() has found right for the parameters. backend: without
  /// particles; those of the checkpoint are read.
  Simulation(const Communicator& comm, const Parameters& parameters, std::unique_ptr<Backend> backend,
             const Checkpoint& from);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Steps to the end of the run, writing what is due into the output folder, or, after any step, to where
  /// `requests` asks to stop.
  Ended run(StopRequests* requests = nullptr);

  /// One time step, to the end of the shortest step of any particle. Inside run() it is reported, and what is
  /// due before its end is written out.
  void step();

  /// Before the first step, which it chooses for all particles.
  PhysicalSummary summary();

  /// Seconds of a picture of the present, which is not written; 0: there are none. Collective.
  double seconds_of_picture() const { return outputs_.seconds_of_picture(); }

  /// Between two steps: saves all that it takes to go on from here. Agreed<InputError> if that fails.
  void write_checkpoint();

  /// A copy of this rank's particles in the memory of the host.
  Particles particles() const;
  /// The same, at time() also where only some are synchronised; for looking at, not to go on from.
  Particles present_particles() const;
  const Domain& domain() const { return domain_; }
  /// The report of the last evaluation of forces.
  const ForceReport& forces() const { return forces_; }
  /// Number of longest steps that are done. At their ends all particles are synchronised.
  std::int64_t longest_steps_done() const { return clock_.steps_done(); }
  bool is_synchronised() const { return clock_.is_synchronised(); }
  /// The longest steps that ended with the last one are of this rung.
  int rung_of_last_step() const { return clock_.first_active(); }
  bool is_done() const { return clock_.is_done(); }
  double time() const { return clock_.time(); }
  /// At this time; 1 in static space.
  double scale_factor() const { return clock_.scale_factor(); }
  /// As snapshots of the present are written.
  WriteOptions snapshot_options() const { return outputs_.options(time()); }
  /// As it is shown to the user.
  std::string time_text() const { return moment_text(time(), parameters_.shown, timeline_.expansion()); }
  /// In expanding space those of peculiar().
  Totals totals() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Unstarted {};

  /// All but the particles.
  Simulation(Unstarted, const Communicator& comm, const Parameters& parameters,
             std::unique_ptr<Backend> backend, const Timeline& timeline);
  void start();
  Ended to_the_end(StopRequests* requests);
  void introduce();
  StepRule step_rule() const;
  RungCounts own_rungs();
  void choose_rungs();
  void require_rungs() const;
  std::optional<CourantStep> gas_to_blame(const StepBound& bound) const;
  int deepest() const;
  void move_particles(int deepest, PhaseTimers& timers);
  bool runs_on() const;
  void end_step(JointReduction& joint, bool is_complete);
  void agree_on_next(TreeUpdate update);
  bool has_strays(double strayed) const;
  std::optional<Box> periodic_box() const;
  /// The update of the trees that comes with a step.
  struct UpdatePlan {
    TreeTuning::Choice choice;
    double drift;  ///< of one step, ComingSteps::drift
  };
  UpdatePlan planned(const RungCounts& particles, const BlockClock& clock, int deepest);
  UpdatePlan plan_update(int deepest, bool has_strays);
  void carry_out(const UpdatePlan& plan);
  Count active() const;
  std::optional<int> renewable_from(const TreeTuning::Choice& choice) const;
  std::optional<StepSeconds> measured() const;
  void decompose(double lead);
  double longest_steps(double time) const { return timeline_.steps_to(time); }
  double longest_steps() const { return longest_steps(time()); }
  void evaluate_forces(EvaluationPlan plan);
  void evaluate_gas(Gas& gas, int first_active, const RungTable& since_middle);
  Moment now() const { return {steps_done_, time(), parameters_.shown}; }
  void report(TreeUpdate update, JointReduction& joint);
  StopRequests::Heard heard();
  void report_tuning() const;
  Request asked();
  void write_outputs(double end, PhaseTimers& timers);
  static TreeTuning::Rule rule_of(const Parameters& parameters, const RebuildAbove::State& above = {});
  RunState state() const;
  CheckpointSource source(const RunState& run) const;
  bool save(StopRequests* requests);
  CheckpointTime expected_checkpoint() const;
  void restore(const Checkpoint& from);
  void require_types() const;

  const Communicator& comm_;
  Parameters parameters_;
  Timeline timeline_;
  BlockClock clock_;
  std::unique_ptr<Backend> backend_;
  Domain domain_;
  /// State before a decomposition. It is compared behind the evaluation that follows: until then particles on
  /// GPUs are not in order.
  struct BeforeCuts {
    ExchangeGuard particles;
    std::optional<Box> box;  ///< there was one
  };
  std::optional<BeforeCuts> before_cuts_;
  ForceReport forces_;
  RungCosts rung_costs_;
  TreeTuning tuning_;
  RenewalTurns renewals_;
  bool is_audited_;  ///< the step under way; at the begin, if any is
  LeafMoves leaf_moves_;
  StepForecast forecast_;
  Count leaves_moved_ = 0;       ///< before the last walk, but for decompositions
  bool has_rungs_ = false;       ///< for the step that comes
  RungCounts next_particles_{};  ///< by rung, for that
  std::optional<UpdatePlan> next_update_;
  bool is_running_ = false;                       ///< run(): nobody looks at it between steps
  bool has_moved_ = false;                        ///< particles, to the end of the next step
  double strayed_ = -1;                           ///< Backend::drift(), the last one
  StopRequests* requests_ = nullptr;              ///< to this run
  std::optional<StopRequests::Heard> own_heard_;  ///< during the step under way, by this rank
  StopRequests::Heard asked_{};                   ///< of any rank, during the last one
  double dt_ = 0;                                 ///< length of the last step
  PhaseTimers timers_;                            ///< of the present step and what came before it
  PhaseTimers since_report_;                      ///< of what is done between steps
  std::int64_t steps_done_ = 0;                   ///< of all lengths
  std::int64_t groups_tuned_at_ = 0;
  Epoch epoch_;
  RunOutputs outputs_;
  RunReports reports_;
  Checkpoints checkpoints_;
  double checkpoint_seconds_ = 0;  ///< that the last one took; 0: none was written yet
  Clock::time_point step_start_;
};

}  // namespace grove
