#include "first_steps.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "run/start/composition.hpp"
#include "run/start/cosmological_model.hpp"
#include "run/start/initial_conditions.hpp"
#include "run/start/initial_state.hpp"
#include "run/start/run_timeline.hpp"
#include "simulation.hpp"

namespace grove {
namespace {

InitialState sample_of(const Communicator& comm, const Parameters& parameters, double share) {
  const InitialConditionsParameters& from = parameters.initial_conditions;
  InitialState state;
  if (!from.components.empty()) {
    CompositionOptions options = composition_of(parameters);
    options.share = share;
    state.particles = compose(comm, from.components, options).particles;
  } else if (is_cosmological(from.model.model)) {
    const CosmologicalVolume volume = sample_of(cosmological_volume(comm, parameters), share);
    state.particles = make_particles(comm, volume);
    state.time = Expansion(volume.cosmology).time(scale_factor_of(volume.redshift));
  } else if (from.file.empty()) {
    state.particles = make_initial_conditions(comm, sample_of(from.model, share));
  } else {
    ReadOptions options = reading_of(parameters);
    options.share = share;
    Snapshot snapshot = read_snapshot(comm, from.file, options);
    state.particles = std::move(snapshot.particles);
    state.time = time_of(snapshot.header, parameters);
  }
  if (parameters.time.begin) state.time = *parameters.time.begin;
  ValidationOptions options;
  options.source = from.source();
  options.tracer = from.tracer;
  options.softening = parameters.gravity.softening;
  options.softened = parameters.softened;
  validate(comm, state.particles, options);
  return state;
}

/// Those of the run, for this share of its particles.
Parameters parameters_of_sample(Parameters parameters, Count particles, Count sample) {
  GravityParameters& gravity = parameters.gravity;
  gravity.direct_below = gravity.is_direct(particles) ? sample + 1 : 0;
  if (sample == particles) return parameters;
  parameters.decomposition.leaves = parameters.decomposition.leaf_size = 0;
  const double farther = std::cbrt(static_cast<double>(particles) / static_cast<double>(sample));
  for (std::size_t type = 0; type < gravity.softening.size(); ++type) {
    // Steps are as long as all particles have them.
    if (parameters.time.length[type] == 0) parameters.time.length[type] = gravity.softening[type];
    gravity.softening[type] *= farther;
  }
  return parameters;
}

/// Seconds of steps, by the longest rung that ended with them.
class StepTimes {
 public:
  void add(int rung, double seconds) {
    ++count_[static_cast<std::size_t>(rung)];
    sum_[static_cast<std::size_t>(rung)] += seconds;
  }
  /// Seconds of a longest step. A rung that did not come yet is rare: it counts as the one below it.
  double of_longest_step() const {
    std::size_t deepest = count_.size() - 1;
    while (deepest > 0 && count_[deepest] == 0) --deepest;
    double seconds = 0, mean = 0;
    for (std::size_t rung = deepest + 1; rung-- > 0;) {
      if (count_[rung] > 0) mean = sum_[rung] / count_[rung];
      seconds += mean * (rung > 0 ? std::exp2(static_cast<double>(rung) - 1) : 1);
    }
    return seconds;
  }

 private:
  std::array<double, rung_count> count_{}, sum_{};
};

double measured(const Communicator& comm, Simulation& simulation) {
  using Clock = std::chrono::steady_clock;
  constexpr double enough = 3, least = 0.1;  // seconds; a few short steps alone would say little
  StepTimes times;
  for (double all = 0;
       !simulation.is_done() && all < enough && (all < least || simulation.longest_steps_done() < 2);) {
    const auto start = Clock::now();
    simulation.step();
    const double seconds = comm.max(std::chrono::duration<double>(Clock::now() - start).count());
    times.add(simulation.rung_of_last_step(), seconds);
    all += seconds;
  }
  return times.of_longest_step();
}

}  // namespace

double FirstSteps::seconds_of(Count particles, bool is_direct) const {
  const auto all = static_cast<double>(particles), some = static_cast<double>(sample);
  const double more = all / some;
  return seconds * (is_direct ? more * more : more * std::max(1.0, std::log(all) / std::log(some)));
}

FirstSteps measure_first_steps(const Communicator& comm, const Parameters& parameters,
                               const BackendChoice& choice, Count particles, Count most) {
  const double share = std::min(1.0, static_cast<double>(most) / static_cast<double>(particles));
  InitialState sample =
      particles > most ? sample_of(comm, parameters, share) : initial_state(comm, parameters);
  FirstSteps first;
  first.sample = comm.sum(static_cast<Count>(sample.particles.size()));
  const Parameters own = parameters_of_sample(parameters, particles, first.sample);
  Simulation simulation(
      comm, own, make_backend(comm, choice, std::move(sample.particles), own.gravity, own.gas), sample.time);
  first.summary = simulation.summary();
  const RungCounts& rungs = first.summary.rungs;
  for (std::size_t rung = 0; rung < rungs.size(); ++rung)
    if (rungs[rung] > 0) first.deepest = static_cast<int>(rung);
  if (const std::string fault = fault_of_steps(first.summary, parameters); !fault.empty())
    throw Agreed<InputError>(fault);
  first.picture = simulation.seconds_of_picture();
  first.seconds = measured(comm, simulation);
  return first;
}

std::optional<double> seconds_so_far(const std::filesystem::path& folder, std::int64_t steps_done,
                                     std::int64_t longest_steps) {
  std::ifstream table(folder / "timing.csv");
  std::string row, cell;
  if (!std::getline(table, row)) return std::nullopt;
  std::istringstream names(row);
  int column = 0;
  while (std::getline(names, cell, ',') && !cell.starts_with("total")) ++column;
  double seconds = 0;
  for (std::int64_t step = 0; std::getline(table, row);) {
    std::istringstream cells(row);
    if (!(cells >> step) || step > steps_done) break;
    for (int i = 0; i <= column; ++i) std::getline(cells, cell, ',');
    seconds += std::atof(cell.c_str());
  }
  if (!(seconds > 0) || longest_steps <= 0) return std::nullopt;
  return seconds / static_cast<double>(longest_steps);
}

}  // namespace grove
