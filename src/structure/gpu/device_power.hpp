#pragma once

#include "decomposition/gpu/device_exchange.hpp"
#include "structure/power_estimator.hpp"

namespace grove {

/// On the GPU of this rank, with transforms by cuFFT, which have the same bits on any number of ranks with
/// GPUs of a kind. Assigned masses have those of the host. The mesh stays on the GPUs if there is room beside
/// what is there, else its planes and rows go through the memory of the hosts. The hosts do it all where a
/// GPU has no room for a plane.
class DevicePower : public PowerEstimator {
 public:
  /// users: ranks that share the GPU, which was taken (take_devices()).
  /// exchange: between the GPUs of the ranks that will measure, if these are several; must outlive this.
  DevicePower(int users, const DeviceExchange& exchange) : users_(users), exchange_(exchange) {}

  /// comm: of one rank, or that of the exchange. Cost: 32 bytes a particle cross to the GPU, again for each
  /// block of planes if they do not all fit there; 16 bytes a point, for each of the meshes, go to other
  /// GPUs, or back and forth between GPU and host if the mesh does not fit. Memory of the host: as HostPower
  /// at most.
  std::vector<ShellTotals> totals(const Communicator& comm, std::span<const Vec3d> position,
                                  std::span<const double> mass, const PowerMesh& mesh) const override;

 private:
  double room() const;

  int users_;
  const DeviceExchange& exchange_;
};

}  // namespace grove
