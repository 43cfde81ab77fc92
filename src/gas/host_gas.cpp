#include "gas/host_gas.hpp"

#include <algorithm>
#include <vector>

#include "base/errors.hpp"
#include "kernels/math/gas_density.hpp"
#include "kernels/math/gas_visitors.hpp"
#include "kernels/math/neighbour_box.hpp"

namespace grove {
namespace {

/// The neighbours of a target, in memory of the thread.
class NeighbourList {
 public:
  NeighbourList() : list_(memory_of_thread()) { list_.clear(); }
  void add(const GasNeighbour& neighbour) { list_.push_back(neighbour); }
  template <class Action>
  void for_each(const Action& action) const {
    for (const GasNeighbour& neighbour : list_) action(neighbour);
  }

 private:
  static std::vector<GasNeighbour>& memory_of_thread() {
    thread_local std::vector<GasNeighbour> neighbours;
    return neighbours;
  }
  std::vector<GasNeighbour>& list_;
};

/// The visitor that finds H, rho and the flow from all neighbours within a radius that is larger than H.
struct FindDensity {
  using Sum = NeighbourList;
  const std::uint8_t* is_wanted;  ///< in
  DensityFields fields;

  bool is_target(std::uint32_t i) const { return is_wanted[i] != 0; }
  void particle(Sum& sum, const NeighbourPair& pair) const {
    sum.add({std::sqrt(pair.r2), fields.sources[pair.source].mass, pair.d, pair.source});
  }
  void finish(std::uint32_t i, const Sum& sum) const { fields.find(i, sum); }
};

}  // namespace

GasFields HostGas::fields() const {
  Particles& p = particles_;
  return {p.type.data(),
          p.rung.data(),
          p.work.data(),
          p.position.data(),
          p.velocity.data(),
          p.mass.data(),
          p.acceleration.data(),
          p.previous_acceleration.data(),
          p.internal_energy.data(),
          p.energy_rate.data(),
          p.density.data(),
          p.smoothing_length.data(),
          p.pressure.data(),
          p.hydro_acceleration.data(),
          p.velocity_divergence.data(),
          p.balsara.data(),
          p.density_response.data(),
          p.signal_speed.data()};
}

Count HostGas::evaluate(const Domain& domain, int first_active, const GasMoment& now) {
  predict(now);
  find_densities(domain, first_active, now.space);
  return find_rates(domain, first_active, now.space);
}

void HostGas::predict(const GasMoment& now) {
  velocity_.resize(particles_.size());
  energy_.resize(particles_.size());
  const GasFields of = fields();
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    velocity_[i] = of.present_velocity(i, now.since_middle);
    energy_[i] = of.present_energy(i, now);
  }
}

void HostGas::find_densities(const Domain& domain, int first_active, const GasSpace& space) {
  const std::size_t count = particles_.size();
  const GasFields of = fields();
  Array<FlowSource> own(count);
  Array<std::uint8_t> is_wanted(count);
  Array<double> radius = first_radii(domain);
  const Array<double> first(particles_.smoothing_length);
  for (std::size_t i = 0; i < count; ++i) {
    own[i] = {velocity_[i], particles_.mass[i]};
    is_wanted[i] = of.is_active_gas(i, first_active) ? 1 : 0;
  }
  Neighbours neighbours(comm_, domain, shapes_, images_);
  for (bool goes_on = true; goes_on;) {
    Array<double> reach(count);
    for (std::size_t i = 0; i < count; ++i) reach[i] = is_gas(i) ? (is_wanted[i] ? radius[i] : 0) : -1;
    require_neighbours(domain, reach);
    neighbours.search(particles_.position, reach, NeighbourSearch::gather);
    const Array<FlowSource> all = neighbours.share(std::span<const FlowSource>(own));
    neighbours.walk(FindDensity{
        is_wanted.data(),
        {parameters(), first.data(), all.data(), energy_.data(), space.hubble, images_.edge, radius.data(),
         of.smoothing_length, of.density, of.density_response, of.velocity_divergence, of.balsara}});
    bool is_complete = true;
    for (std::size_t i = 0; i < count; ++i) {
      is_wanted[i] = is_wanted[i] && particles_.smoothing_length[i] == 0 ? 1 : 0;
      is_complete = is_complete && !is_wanted[i];
    }
    goes_on = comm_.max(is_complete ? 0 : 1) != 0;
  }
}

Array<double> HostGas::first_radii(const Domain& domain) const {
  Array<double> radius(particles_.size(), 0);
  const FirstRadius rule{parameters().kernel, domain.box.edge, images_.edge};
  for (std::size_t leaf = 0; leaf + 1 < domain.leaf_begin.size(); ++leaf) {
    const auto begin = static_cast<std::size_t>(domain.leaf_begin[leaf]),
               end = static_cast<std::size_t>(domain.leaf_begin[leaf + 1]);
    NeighbourBounds bounds;
    double number = 0;
    for (std::size_t i = begin; i < end; ++i)
      if (is_gas(i)) bounds.add(particles_.position[i], 0), ++number;
    if (number == 0) continue;
    const double of_leaf = rule.of_leaf(bounds, number);
    for (std::size_t i = begin; i < end; ++i)
      radius[i] = rule.of_particle(particles_.smoothing_length[i], of_leaf);
  }
  return radius;
}

void HostGas::require_neighbours(const Domain& domain, std::span<const double> radius) const {
  const double most = largest_search(images_, domain.box);
  comm_.together([&] {
    for (std::size_t i = 0; i < radius.size(); ++i)
      if (!(radius[i] < most))
        throw InputError(fault_of_neighbours(particles_.id[i], images_, parameters().kernel));
  });
}

/// How others see the own particles.
Array<GasSource> HostGas::sources(const GasSpace& space) {
  Array<GasSource> own(particles_.size());
  const GasFields of = fields();
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i] = of.source(parameters(), space, i, velocity_[i], energy_[i]);
  return own;
}

Count HostGas::find_rates(const Domain& domain, int first_active, const GasSpace& space) {
  const std::size_t count = particles_.size();
  const GasFields of = fields();
  const Array<GasSource> own = sources(space);
  Array<double> reach(count);
  Array<std::uint8_t> is_wanted(count);
  for (std::size_t i = 0; i < count; ++i) {
    reach[i] = is_gas(i) ? particles_.smoothing_length[i] : -1;
    is_wanted[i] = of.is_active_gas(i, first_active) ? 1 : 0;
  }
  Neighbours neighbours(comm_, domain, shapes_, images_);
  neighbours.search(particles_.position, reach, NeighbourSearch::symmetric);
  const Array<GasSource> all = neighbours.share(std::span<const GasSource>(own));
  Array<GasRates> rates(count);
  neighbours.walk(FindRates{parameters(), space.hubble, is_wanted.data(), all.data(), rates.data()});
  Count not_finite = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (is_wanted[i] && !of.take(parameters(), space, i, rates[i], own[i].sound_speed)) ++not_finite;
  return not_finite;
}

}  // namespace grove
