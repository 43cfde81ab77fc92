#include "gas/gas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "gas/density.hpp"
#include "kernels/math/neighbour_box.hpp"

namespace grove {
namespace {

/// Neighbours are searched within so many H of before: most find theirs at once.
constexpr double search_room = 1.1;

/// The visitor of the forces. Arrays by own particle; sources also by imported ones.
struct FindRates {
  using Sum = GasRates;
  const GasParameters& gas;
  const std::uint8_t* is_wanted;  ///< in
  const GasSource* sources;       ///< in
  const double* reach;            ///< in: H, own and imported
  GasRates* rates;                ///< out

  bool is_target(std::uint32_t i) const { return is_wanted[i] != 0; }
  void particle(Sum& sum, const NeighbourPair& pair) const {
    add_pair(sum, gas, sources[pair.target], reach[pair.target], sources[pair.source], reach[pair.source],
             pair.d, std::sqrt(pair.r2));
  }
  void finish(std::uint32_t i, const Sum& sum) const { rates[i] = sum; }
};

}  // namespace

Count Gas::evaluate(const Domain& domain, int first_active, const RungTable& since_middle) {
  predict(since_middle);
  find_densities(domain, first_active);
  return find_rates(domain, first_active);
}

/// Velocities and energies change at the rates of the beginning of the step. Where gravity has new ones those
/// are the previous accelerations.
void Gas::predict(const RungTable& since_middle) {
  velocity_.resize(particles_.size());
  energy_.resize(particles_.size());
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    const double time = since_middle.of[particles_.rung[i]];
    velocity_[i] = particles_.velocity[i] + time * particles_.previous_acceleration[i].as<double>();
    energy_[i] = heated(particles_.internal_energy[i], particles_.energy_rate[i], time);
  }
}

void Gas::find_densities(const Domain& domain, int first_active) {
  const std::size_t count = particles_.size();
  Array<FlowSource> own(count);
  Array<std::uint8_t> is_wanted(count);
  Array<double> radius = first_radii(domain);
  const Array<double> first(particles_.smoothing_length);
  for (std::size_t i = 0; i < count; ++i) {
    own[i] = {velocity_[i], particles_.mass[i]};
    is_wanted[i] = is_gas(i) && particles_.rung[i] >= first_active ? 1 : 0;
  }
  Neighbours neighbours(comm_, domain, shapes_, images_);
  for (bool goes_on = true; goes_on;) {
    Array<double> reach(count);
    for (std::size_t i = 0; i < count; ++i) reach[i] = is_gas(i) ? (is_wanted[i] ? radius[i] : 0) : -1;
    require_neighbours(domain, reach);
    neighbours.search(particles_.position, reach, NeighbourSearch::gather);
    const Array<FlowSource> all = neighbours.share(std::span<const FlowSource>(own));
    neighbours.walk(FindDensity{parameters_, is_wanted.data(), first.data(), all.data(), energy_.data(),
                                radius.data(), particles_.smoothing_length.data(), particles_.density.data(),
                                particles_.density_response.data(), particles_.velocity_divergence.data(),
                                particles_.balsara.data()});
    bool is_complete = true;
    for (std::size_t i = 0; i < count; ++i) {
      is_wanted[i] = is_wanted[i] && particles_.smoothing_length[i] == 0 ? 1 : 0;
      is_complete = is_complete && !is_wanted[i];
    }
    goes_on = comm_.max(is_complete ? 0 : 1) != 0;
  }
}

/// Where there is no H yet, that of gas as dense as in the leaf on average.
Array<double> Gas::first_radii(const Domain& domain) const {
  Array<double> radius(particles_.size(), 0);
  for (std::size_t leaf = 0; leaf + 1 < domain.leaf_begin.size(); ++leaf) {
    const auto begin = static_cast<std::size_t>(domain.leaf_begin[leaf]),
               end = static_cast<std::size_t>(domain.leaf_begin[leaf + 1]);
    NeighbourBounds bounds;
    std::size_t number = 0;
    for (std::size_t i = begin; i < end; ++i)
      if (is_gas(i)) bounds.add(particles_.position[i], 0), ++number;
    if (number == 0) continue;
    const Vec3d half = bounds.target().half;
    const double volume = 8 * half.x * half.y * half.z;
    double guess = std::cbrt(3 * neighbours_of(parameters_.kernel) * volume /
                             (4 * std::numbers::pi * static_cast<double>(number)));
    if (!(guess > 0)) guess = 1e-3 * domain.box.edge;
    if (!images_.are_open()) guess = std::min(guess, images_.edge / 4);
    for (std::size_t i = begin; i < end; ++i)
      radius[i] = particles_.smoothing_length[i] > 0 ? search_room * particles_.smoothing_length[i] : guess;
  }
  return radius;
}

void Gas::require_neighbours(const Domain& domain, std::span<const double> radius) const {
  const double most = images_.are_open() ? 4 * domain.box.edge : images_.edge / 2;
  comm_.together([&] {
    for (std::size_t i = 0; i < radius.size(); ++i)
      if (!(radius[i] < most))
        throw InputError(fmt::format(
            "gas: particle {} has too few neighbours in {} of space: its kernel needs the mass of "
            "{} of its own kind",
            particles_.id[i], images_.are_open() ? "all" : "the periodic box",
            neighbours_of(parameters_.kernel)));
  });
}

/// How others see the own particles.
Array<GasSource> Gas::sources() {
  Array<GasSource> own(particles_.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!is_gas(i)) {
      own[i] = {};
      continue;
    }
    const double density = particles_.density[i];
    particles_.pressure[i] = parameters_.pressure(density, energy_[i]);
    const double f = parameters_.formulation == GasFormulation::grad_h
                         ? static_cast<double>(particles_.density_response[i])
                         : 1.0;
    own[i] = {velocity_[i],
              particles_.mass[i],
              density,
              f * particles_.pressure[i] / (density * density),
              parameters_.sound_speed(energy_[i]),
              static_cast<double>(particles_.balsara[i])};
  }
  return own;
}

Count Gas::find_rates(const Domain& domain, int first_active) {
  const std::size_t count = particles_.size();
  const Array<GasSource> own = sources();
  Array<double> reach(count);
  Array<std::uint8_t> is_wanted(count);
  for (std::size_t i = 0; i < count; ++i) {
    reach[i] = is_gas(i) ? particles_.smoothing_length[i] : -1;
    is_wanted[i] = is_gas(i) && particles_.rung[i] >= first_active ? 1 : 0;
  }
  Neighbours neighbours(comm_, domain, shapes_, images_);
  neighbours.search(particles_.position, reach, NeighbourSearch::symmetric);
  const Array<GasSource> all = neighbours.share(std::span<const GasSource>(own));
  Array<GasRates> rates(count);
  neighbours.walk(
      FindRates{parameters_, is_wanted.data(), all.data(), neighbours.tree().reach, rates.data()});

  const bool heats = parameters_.equation_of_state == EquationOfState::ideal;
  Count not_finite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_wanted[i]) continue;
    const GasRates& found = rates[i];
    particles_.hydro_acceleration[i] = found.acceleration.as<float>();
    particles_.acceleration[i] = (particles_.acceleration[i].as<double>() + found.acceleration).as<float>();
    particles_.energy_rate[i] = heats ? found.heating : 0;
    particles_.signal_speed[i] = static_cast<float>(std::max(found.signal_speed, 2 * all[i].sound_speed));
    if (!std::isfinite(norm2(particles_.acceleration[i].as<double>())) || !std::isfinite(found.heating))
      ++not_finite;
  }
  return not_finite;
}

}  // namespace grove
