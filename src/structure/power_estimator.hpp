#pragma once

#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "kernels/math/mass_assignment.hpp"
#include "kernels/math/mode_shells.hpp"

namespace grove {

/// The modes of one mesh that a power spectrum is made of.
struct PowerMesh {
  MassMesh mass{};
  int points = 256;           ///< along an edge
  bool interlaced = true;     ///< with a second mesh, half a spacing further
  int first = 1, last = 128;  ///< shells of wavenumbers, in fundamental ones of the mesh; last: behind it

  /// The first point of each mesh lies so many spacings from the corner of the box.
  static constexpr double offsets[2] = {0, 0.5};
  std::span<const double> used_offsets() const { return std::span(offsets).first(interlaced ? 2 : 1); }
  std::size_t shells() const { return static_cast<std::size_t>(last > first ? last - first : 0); }
};

/// Assigns particles to a mesh, transforms it and adds up its modes in shells. The same estimator gives the
/// same bits on any number of ranks; another one may differ in the last bits of each transform.
class PowerEstimator {
 public:
  virtual ~PowerEstimator() = default;

  /// For each shell the sums over its modes, on all ranks. position: anywhere, as images; mass: not negative.
  /// Collective.
  virtual std::vector<ShellTotals> totals(const Communicator& comm, std::span<const Vec3d> position,
                                          std::span<const double> mass, const PowerMesh& mesh) const = 0;
};

/// On the host, with transforms by KissFFT. Cost: for each of the meshes an assignment and a transform
/// (density_mesh(), MeshTransform).
class HostPower : public PowerEstimator {
 public:
  std::vector<ShellTotals> totals(const Communicator& comm, std::span<const Vec3d> position,
                                  std::span<const double> mass, const PowerMesh& mesh) const override;
};

/// Adds up what the ranks have. Collective.
void sum_over_ranks(const Communicator& comm, std::span<ShellTotals> totals);

}  // namespace grove
