#pragma once

#include "decomposition/gpu/device_exchange.hpp"
#include "gas/gas.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/gas/gas_steps.hpp"
#include "neighbours/gpu/device_neighbours.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// Gas in the memory of a GPU. Only counts and, where there are several ranks, nodes of trees cross to the
/// host.
class DeviceGas : public Gas {
 public:
  /// particles: in tree order when anything is asked for; forest: their trees. exchange: made with the same
  /// communicator. All are kept by the caller.
  DeviceGas(const Communicator& comm, const DeviceExchange& exchange, const GasParameters& parameters,
            const Images& images, const DeviceParticles& particles, const DeviceForest& forest)
      : Gas(parameters),
        comm_(comm),
        exchange_(exchange),
        images_(images),
        particles_(particles),
        forest_(forest) {}

  Count evaluate(const Domain& domain, int first_active, const GasMoment& now) override;
  RungCounts limit_rungs(const Domain& domain, const StepRule& rule, int first_active,
                         const InsideSteps& inside) override;

 private:
  /// Own particles at the present time.
  struct Present {
    Present(std::size_t count, const GasSpace& there) : energy(count), flow(count), space(there) {}
    cuda::DeviceArray<double> energy;
    cuda::DeviceArray<FlowSource> flow;
    GasSpace space;
  };
  cuda::GasParticles gas() const;
  void find_densities(const Domain& domain, int first_active, const Present& present,
                      DeviceNeighbours& neighbours) const;
  void require_neighbours(const std::optional<std::size_t>& lonely) const;
  void find_reach(double* reach) const;
  Count find_rates(int first_active, const Present& present, DeviceNeighbours& neighbours) const;
  void limit_by_neighbours(const Domain& domain, const InsideSteps& inside,
                           cuda::DeviceArray<std::uint8_t>& is_asking) const;

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  Images images_;
  const DeviceParticles& particles_;
  const DeviceForest& forest_;
};

}  // namespace grove
