// How a run is saved, and goes on.
#include <algorithm>
#include <utility>

#include "base/progress.hpp"
#include "run/guard/step_forecast.hpp"
#include "simulation.hpp"

namespace grove {

RunState Simulation::state() const {
  return {.begin = timeline_.begin(),
          .longest_step = timeline_.step(),
          .leaf_size = parameters_.decomposition.leaf_size,
          .clock = clock_.state(),
          .steps_done = steps_done_,
          .groups_tuned_at = groups_tuned_at_,
          .has_levels = has_levels_,
          .snapshots = snapshots_,
          .first_energy = first_energy_,
          .energy_scale = energy_scale_,
          .conservation = conservation_,
          .last_output = last_output_,
          .checkpoint_seconds = checkpoint_seconds_,
          .tuning = tuning_.state(),
          .bins = bins_,
          .forces = forces_,
          .frame = frame_};
}

void Simulation::restore(const Checkpoint& from) {
  const RunState& run = from.run;
  parameters_.decomposition.leaf_size = run.leaf_size;
  parameters_.shown = DisplayUnits(parameters_.units, from.manifest.shown);
  clock_ = BlockClock(timeline_, run.clock);
  steps_done_ = run.steps_done;
  groups_tuned_at_ = run.groups_tuned_at;
  first_energy_ = run.first_energy;
  energy_scale_ = run.energy_scale;
  conservation_ = run.conservation;
  tuning_ = TreeTuning(run.tuning, parameters_.tuning.rebuild_interval);
  bins_ = run.bins;
  forces_ = run.forces;
  frame_ = run.frame;
  resumed_at_ = run.steps_done;
  // Until a step of this process was measured.
  const bool is_direct = parameters_.gravity.is_direct(forces_.particles);
  const double share = static_cast<double>(forces_.particles) / comm_.size();
  forecast_.add(forces_, at_most(first_evaluation_seconds(share, forces_.particles, is_direct)));
  start_time_ = time();

  last_output_ = run.last_output;
  has_levels_ = run.has_levels;
  snapshots_ = run.snapshots;
  checkpoint_seconds_ = run.checkpoint_seconds;
  outputs_done_ = output_times_.count_passed(time(), last_output_, timeline_.same());

  domain_ = from.domain;
  Checkpoint::Own own = from.read_own(comm_);
  backend_->replace(std::move(own.particles));
  backend_->gravity().restore({from.gravity, {from.blocks, std::move(own.trees)}}, domain_);
  leaf_moves_.decomposed(longest_steps());
  checkpoints_.resumed(from);
}

void Simulation::write_checkpoint() {
  const auto timer = since_report_.time("checkpoint");
  const Expected expected(at_most(longest_writing_seconds(forces_.particles)));
  if (log_) log_->keep();
  const RunState run = state();
  if (checkpoints_.write({run, time(), parameters_, domain_, *backend_})) log_checkpoint();
}

/// On the way, and at the end: the run does not fail with it. requests (optional): are told what it took.
void Simulation::save(StopRequests* requests) {
  const auto timer = since_report_.time("checkpoint");
  const Expected expected(at_most(longest_writing_seconds(forces_.particles)));
  const auto start = Clock::now();
  if (log_) log_->keep();
  const RunState run = state();
  const bool is_written = checkpoints_.try_to_write({run, time(), parameters_, domain_, *backend_});
  if (is_written) {
    checkpoint_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    log_checkpoint();
  }
  if (requests) requests->steps_go_on(expected_checkpoint_seconds());
}

void Simulation::log_checkpoint() {
  comm_.together([&] {
    if (log_) log_->telemetry().checkpoint(steps_done_);
  });
}

/// Until one was written, as long as hosts take that write to a slow file system, all at once.
double Simulation::expected_checkpoint_seconds() const {
  return checkpoint_seconds_ > 0 ? checkpoint_seconds_ : writing_seconds(forces_.particles / hosts_);
}

}  // namespace grove
