#include "gas_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace grove {
namespace {

/// Particles that want deeper rungs by gravity alone, on all ranks.
Count deeper_by_gravity(const Communicator& comm, const Particles& particles, const StepRule& rule,
                        int deepest) {
  Count count = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Vec3d all = particles.acceleration[i].as<double>();
    const Vec3d of_gravity = all - particles.hydro_acceleration[i].as<double>();
    if (rule.next_rung(of_gravity.as<float>(), {}, particles.type[i], 0, 0) > deepest) ++count;
  }
  return comm.sum(count);
}

}  // namespace

std::string CourantStep::text(const GasParameters& gas, const DisplayUnits& shown) const {
  return fmt::format(
      "gas, by Courant's condition: for particle {} at {} gas.courant ({}) times its support radius over its "
      "signal speed is {}. Its support radius is {}, where the largest of all gas is {}, and its sound speed "
      "{}, of an internal energy of {}, where the largest of all gas is {}. Give a smaller internal energy, "
      "if that has the wrong unit, "
      "places that differ, if more particles than a kernel has neighbours lie in one, or a shorter time.step",
      id, shown.text(position, dimension::length, 4), gas.courant, shown.text(step, dimension::time, 3),
      shown.text(support_radius, dimension::length, 3), shown.text(largest_radius, dimension::length, 3),
      shown.text(sound_speed, dimension::velocity, 3), shown.text(internal_energy, dimension::potential, 3),
      shown.text(largest_energy, dimension::potential, 3));
}

std::optional<CourantStep> courant_step_to_blame(const Communicator& comm, const Particles& particles,
                                                 const GasParameters& gas, const StepRule& rule,
                                                 double scale_factor, const StepBound& bound) {
  if (deeper_by_gravity(comm, particles, rule, bound.deepest) > bound.may_exceed) return {};
  const double physical = std::pow(scale_factor, -gas.expansion_power());
  CourantStep shortest{.step = INFINITY};
  double largest = 0, hottest = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (particles.type[i] != gas_type) continue;
    const double H = particles.smoothing_length[i], u = physical * particles.internal_energy[i];
    const double step = gas.courant * rule.crossing * H / static_cast<double>(particles.signal_speed[i]);
    largest = std::max(largest, H);
    hottest = std::max(hottest, u);
    if (step < shortest.step || (step == shortest.step && particles.id[i] < shortest.id))
      shortest = {step, particles.id[i], particles.position[i], gas.sound_speed(u), u, H, 0, 0};
  }
  const std::vector<CourantStep> all = comm.all_gather(shortest);
  shortest = *std::min_element(all.begin(), all.end(), [](const CourantStep& a, const CourantStep& b) {
    return std::pair(a.step, a.id) < std::pair(b.step, b.id);
  });
  shortest.largest_radius = comm.max(largest);
  shortest.largest_energy = comm.max(hottest);
  return shortest;
}

}  // namespace grove
