// Simulation: saving a run, and going on with it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/progress.hpp"
#include "run/checkpoint/checkpoint_arrays.hpp"
#include "run/guard/step_forecast.hpp"
#include "run/start/run_needs.hpp"
#include "simulation.hpp"

namespace grove {

RunState Simulation::state() const {
  return {.begin = timeline_.begin(),
          .longest_step = timeline_.step(),
          .leaf_size = parameters_.decomposition.leaf_size,
          .clock = clock_.state(),
          .steps_done = steps_done_,
          .groups_tuned_at = groups_tuned_at_,
          .epoch = epoch_,
          .has_rungs = has_rungs_,
          .has_gas = backend_->gas() != nullptr,
          .snapshots = outputs_.state().snapshots,
          .energy = reports_.state().energy,
          .conservation = reports_.state().conservation,
          .last_output = outputs_.state().last,
          .checkpoint_seconds = checkpoint_seconds_,
          .tuning = tuning_.state(),
          .renewals = renewals_.state(),
          .rung_costs = rung_costs_,
          .forces = forces_,
          .frame = outputs_.state().frame};
}

CheckpointSource Simulation::source(const RunState& run) const {
  CheckpointSource source{run, time(), time_text(), parameters_, domain_, *backend_, {}};
  if (const auto& above = tuning_.rule().above) source.rebuild_above = above->state();
  return source;
}

/// Without gravity's walks nothing is counted by which trees could be judged.
TreeTuning::Rule Simulation::rule_of(const Parameters& parameters, const RebuildAbove::State& above) {
  const TuningParameters& tuning = parameters.tuning;
  TreeTuning::Rule rule{.interval = tuning.rebuild_interval, .above = {}};
  if (!parameters.gravity.self_gravity && rule.interval == 0) rule.interval = Epoch::least_steps;
  if (tuning.rebuild_above && parameters.gravity.self_gravity)
    rule.above.emplace(*tuning.rebuild_above, above);
  return rule;
}

void Simulation::restore(const Checkpoint& from) {
  const RunState& run = from.run;
  parameters_.decomposition.leaf_size = run.leaf_size;
  parameters_.shown = DisplayUnits(parameters_.units, from.manifest.shown);
  clock_ = BlockClock(timeline_, run.clock);
  steps_done_ = run.steps_done;
  groups_tuned_at_ = run.groups_tuned_at;
  epoch_ = run.epoch;
  if (parameters_.tuning.rebuild_above && !from.rebuild_above)
    throw Agreed<InputError>(fmt::format("{}/{}: has no {}, the state of tuning.rebuild_above", from.path,
                                         state_file, arrays::above));
  tuning_ = TreeTuning(run.tuning, rule_of(parameters_, from.rebuild_above.value_or(RebuildAbove::State{})));
  renewals_.restore(run.renewals);
  rung_costs_ = run.rung_costs;
  forces_ = run.forces;
  outputs_.restore({run.snapshots, run.last_output, run.frame});
  reports_.resume({run.energy, run.conservation}, run.steps_done);
  // Until a step of this process was measured.
  const bool is_direct = parameters_.gravity.is_direct(forces_.particles);
  const double share = static_cast<double>(forces_.particles) / comm_.size();
  forecast_.add(forces_, at_most(first_evaluation_seconds(share, forces_.particles, is_direct)));
  has_rungs_ = run.has_rungs;
  checkpoint_seconds_ = run.checkpoint_seconds;

  domain_ = from.domain;
  Checkpoint::Own own = from.read_own(comm_, parameters_.gravity.keeps_levels(from.manifest.particles));
  backend_->replace(std::move(own.particles));
  require_types();
  backend_->gravity().restore({from.gravity, {std::move(own.trees)}}, domain_);
  leaf_moves_.decomposed(longest_steps());
  checkpoints_.resumed(from);
}

/// A run that goes on may be asked for others than it began with.
void Simulation::require_types() const {
  std::array<Count, particle_types> counts{};
  const auto count = [&](const Particles& particles) {
    for (const std::uint8_t type : particles.type) ++counts[type];
  };
  backend_->show(nullptr, count, [](const FieldInfo& info) { return info.name == fields::type.info.name; });
  comm_.sum(std::span<Count>(counts));
  if (const std::string fault = fault_of_types(counts, parameters_.output); !fault.empty())
    throw Agreed<InputError>(fault);
}

void Simulation::write_checkpoint() {
  const auto timer = since_report_.time("checkpoint");
  const Expected expected(at_most(longest_writing_seconds(forces_.particles)));
  reports_.keep();
  const RunState run = state();
  if (checkpoints_.write(source(run))) reports_.checkpoint_written(steps_done_);
}

/// On the way, and at the end: the run does not fail with it. requests (optional): are told what it took.
/// True if it was written.
bool Simulation::save(StopRequests* requests) {
  const auto timer = since_report_.time("checkpoint");
  const Expected expected(at_most(longest_writing_seconds(forces_.particles)));
  const auto start = Clock::now();
  reports_.keep();
  const RunState run = state();
  const bool is_written = checkpoints_.try_to_write(source(run));
  if (is_written) {
    checkpoint_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    reports_.checkpoint_written(steps_done_);
  }
  if (requests) requests->steps_go_on(expected_checkpoint());
  return is_written;
}

/// Until one was written, as long as hosts take that write to a slow file system, all at once.
CheckpointTime Simulation::expected_checkpoint() const {
  if (checkpoint_seconds_ > 0) return {checkpoint_seconds_, true};
  return {writing_seconds(forces_.particles / reports_.hosts()), false};
}

}  // namespace grove
