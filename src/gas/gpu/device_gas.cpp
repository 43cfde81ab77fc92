#include "gas/gpu/device_gas.hpp"

#include <optional>

#include "base/errors.hpp"
#include "kernels/cuda/gas/gas_walks.hpp"

namespace grove {

cuda::GasParticles DeviceGas::gas() const {
  const DeviceParticles& p = particles_;
  return {{p.values(fields::type), p.values(fields::rung), p.values(fields::work), p.values(fields::position),
           p.values(fields::velocity), p.values(fields::mass), p.values(fields::acceleration),
           p.values(fields::previous_acceleration), p.values(fields::internal_energy),
           p.values(fields::energy_rate), p.values(fields::density), p.values(fields::smoothing_length),
           p.values(fields::pressure), p.values(fields::hydro_acceleration),
           p.values(fields::velocity_divergence), p.values(fields::balsara),
           p.values(fields::density_response), p.values(fields::signal_speed)},
          p.size()};
}

Count DeviceGas::evaluate(const Domain& domain, int first_active, const GasMoment& now) {
  const Present present(particles_.size(), now.space);
  cuda::predict_gas(gas(), now, present.energy.data(), present.flow.data());
  DeviceNeighbours neighbours(comm_, exchange_, domain, forest_, images_);
  find_densities(domain, first_active, present, neighbours);
  const Count not_finite = find_rates(first_active, present, neighbours);
  cuda::device_synchronise();
  return not_finite;
}

void DeviceGas::find_densities(const Domain& domain, int first_active, const Present& present,
                               DeviceNeighbours& neighbours) const {
  const std::size_t count = particles_.size();
  const cuda::GasParticles own = gas();
  const cuda::DeviceArray<std::uint8_t> is_wanted(count);
  const cuda::DeviceArray<double> radius(count), first(count), reach(count);
  cuda::want_active(own, first_active, is_wanted.data());
  cuda::first_radii(own, {parameters().kernel, domain.box.edge, images_.edge}, forest_.trees().leaves,
                    forest_.leaves(), radius.data());
  cuda::device_copy(first.data(), own.fields.smoothing_length, count * sizeof(double));
  cuda::DeviceArray<FlowSource> memory;
  for (bool goes_on = true; goes_on;) {
    cuda::gathering_reach(own, is_wanted.data(), radius.data(), reach.data());
    require_neighbours(cuda::first_beyond(reach.data(), count, largest_search(images_, domain.box)));
    neighbours.search(own.fields.position, reach.data(), NeighbourSearch::gather);
    const FlowSource* const sources = neighbours.share(present.flow.data(), memory);
    cuda::find_densities(neighbours.tree(), neighbours.groups(), is_wanted.data(),
                         {parameters(), first.data(), sources, present.energy.data(), present.space.hubble,
                          images_.edge, radius.data(), own.fields.smoothing_length, own.fields.density,
                          own.fields.density_response, own.fields.velocity_divergence, own.fields.balsara});
    goes_on = comm_.max(cuda::still_wanted(own, is_wanted.data())) != 0;
  }
}

void DeviceGas::require_neighbours(const std::optional<std::size_t>& lonely) const {
  comm_.together([&] {
    if (!lonely) return;
    ParticleId id = 0;
    cuda::device_download(&id, particles_.values(fields::id) + *lonely, sizeof(id));
    throw InputError(fault_of_neighbours(id, images_, parameters().kernel));
  });
}

/// H of gas. Inactive gas may have expanded since it was found, in a periodic box beyond what has one image.
void DeviceGas::find_reach(double* reach) const {
  cuda::symmetric_reach(gas(), reach);
  if (!images_.are_open()) require_neighbours(cuda::first_beyond(reach, particles_.size(), images_.edge / 2));
}

Count DeviceGas::find_rates(int first_active, const Present& present, DeviceNeighbours& neighbours) const {
  const std::size_t count = particles_.size();
  const cuda::GasParticles own = gas();
  const cuda::DeviceArray<GasSource> of_own(count);
  cuda::find_sources(own, parameters(), present.space, present.flow.data(), present.energy.data(),
                     of_own.data());
  const cuda::DeviceArray<double> reach(count);
  find_reach(reach.data());
  const cuda::DeviceArray<std::uint8_t> is_wanted(count);
  cuda::want_active(own, first_active, is_wanted.data());
  neighbours.search(own.fields.position, reach.data(), NeighbourSearch::symmetric);
  cuda::DeviceArray<GasSource> memory;
  const GasSource* const sources = neighbours.share(of_own.data(), memory);
  const cuda::DeviceArray<GasRates> rates(count);
  const double fastest = comm_.max(cuda::fastest(of_own.data(), count));
  cuda::find_rates(neighbours.tree(), neighbours.groups(),
                   {parameters(), present.space.hubble, is_wanted.data(), sources, rates.data()},
                   fastest > 0 ? fastest : 1);
  return cuda::take_rates(own, parameters(), present.space, is_wanted.data(), rates.data(), of_own.data());
}

RungCounts DeviceGas::limit_rungs(const Domain& domain, const StepRule& rule, int first_active,
                                  const InsideSteps& inside) {
  cuda::DeviceArray<std::uint8_t> is_asking(particles_.size());
  const Count asking = cuda::limit_by_signals(gas(), parameters(), rule, first_active, is_asking.data());
  if (rule.deepest > 0 && comm_.max(asking) > 0) limit_by_neighbours(domain, inside, is_asking);
  return cuda::count_rungs(particles_.values(fields::rung), particles_.size());
}

/// Those whose rung was raised ask their neighbours in turn, until none is too high.
void DeviceGas::limit_by_neighbours(const Domain& domain, const InsideSteps& inside,
                                    cuda::DeviceArray<std::uint8_t>& is_asking) const {
  const cuda::GasParticles own = gas();
  const cuda::DeviceArray<double> reach(own.count);
  find_reach(reach.data());
  // Shorter steps move particles, while the search holds for their places of now.
  const cuda::DeviceArray<Vec3d> position(own.count);
  cuda::device_copy(position.data(), own.fields.position, own.count * sizeof(Vec3d));
  DeviceNeighbours neighbours(comm_, exchange_, domain, forest_, images_);
  neighbours.search(position.data(), reach.data(), NeighbourSearch::symmetric);
  cuda::DeviceArray<std::uint8_t> memory;
  cuda::DeviceArray<std::uint32_t> least(neighbours.size());
  for (bool goes_on = true; goes_on;) {
    const std::uint8_t* const rung = neighbours.share<std::uint8_t>(own.fields.rung, memory);
    least.clear();
    cuda::ask_neighbours(neighbours.tree(), neighbours.groups(), is_asking.data(), rung, neighbours.size(),
                         least.data());
    neighbours.give_back_largest(least.data());
    goes_on = comm_.max(cuda::shorten_steps(own, inside, least.data(), is_asking.data())) != 0;
  }
}

}  // namespace grove
