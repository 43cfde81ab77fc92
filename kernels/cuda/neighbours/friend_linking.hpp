#pragma once

#include <cstddef>
#include <cstdint>

#include "base/vec3.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/math/friend_cells.hpp"

namespace grove::cuda {

/// Friends of friends among the particles of a GPU, in cells of which all particles are friends
/// (kernels/math/friend_cells.hpp). The groups are those of the host, whatever the order of threads.
class FriendLinking {
 public:
  /// Device memory that it takes at most.
  static constexpr double bytes_per_particle = 64;

  /// Sorts particles by cells. position (device): [count] length units of the run; grid: over all of them, of
  /// this linking length. Cost: a sort of the bits of a key, and some passes.
  FriendLinking(const Vec3d* position, std::size_t count, const FriendGrid& grid, double length,
                const NearestImage& nearest);

  /// Unites the cells with few particles. Cost: 13 searches among the cells for each, and the distances of
  /// pairs until one is below the length.
  void link_sparse();
  /// Unites the others, with all near them. Cost: the same, by a warp for each.
  void link_crowded();

  /// For each particle the least number of its group. least (out, device): [count].
  void label(std::uint32_t* least);

  std::uint32_t cells() const { return cell_count_; }

 private:
  void sort(const Vec3d* position);
  void part(const Vec3d* position);
  FriendCells view() const;

  std::uint32_t count_, cell_count_ = 0;
  FriendGrid grid_;
  double length_;
  NearestImage nearest_;
  DeviceArray<std::uint64_t> keys_;      ///< of the cells of particles, ascending; none once part() is done
  DeviceArray<std::uint32_t> order_;     ///< particles in the order of their cells
  DeviceArray<Vec3d> position_;          ///< in this order
  DeviceArray<std::uint32_t> cell_of_;   ///< in this order
  DeviceArray<std::uint64_t> cell_key_;  ///< [cells]
  DeviceArray<std::uint32_t> begin_;     ///< [cells + 1]
  DeviceArray<std::uint32_t> parent_;    ///< [cells] DisjointSetsView
  DeviceArray<std::uint32_t> least_;     ///< [cells] least number of a particle in it; label(): in its set
};

/// Friends of friends by a FriendLinking, with the grid that these positions need. position (device):
/// [count], length: the linking length, length units of the run; least (out, device): [count], as label() has
/// it. False, and nothing is done, where there is no such grid (FriendGrid::resolves()). std::runtime_error
/// without memory: FriendLinking::bytes_per_particle. Cost: a pass for the bounds, and that of FriendLinking.
bool link_friends(const Vec3d* position, std::size_t count, double length, const NearestImage& nearest,
                  std::uint32_t* least);

}  // namespace grove::cuda
