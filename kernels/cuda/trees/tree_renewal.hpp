#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/domain_cell.hpp"
#include "kernels/math/group_cuts.hpp"

namespace grove::cuda {

/// The particles of leaves, in tree order. Device memory.
struct RenewedParticles {
  Box box;  ///< that gives them their coordinates
  std::size_t count;
  const Vec3d* position;
  const ParticleId* id;
  const std::uint8_t* rung;
  int first_active;
};

/// A field of particles in device memory.
struct FieldBytes {
  std::byte* values;
  std::size_t element_size;
};

/// The domain cells of a rank in device memory, and the cuts in them by levels.
class DeviceDomainCells {
 public:
  explicit DeviceDomainCells(const DomainCellsView& host);

  /// A cut, and the number of the domain cell that it is in.
  struct CutOfCell {
    CountedCut cut;
    std::uint32_t cell;
  };
  const DeviceArray<DomainCell>& cells() const { return cells_; }
  const DeviceArray<CutOfCell>& cuts() const { return cuts_; }
  /// The first cut of each level, and the end.
  std::span<const std::uint32_t> level_begin() const { return level_begin_; }

 private:
  DeviceArray<DomainCell> cells_;
  DeviceArray<CutOfCell> cuts_;
  std::vector<std::uint32_t> level_begin_;
};

/// Cuts the domain cells and the trees anew that TreeRenewal takes: all fields of their particles come into
/// the order that Forest::renew() would give them. cells: those of this rank. largest: particles of the
/// largest leaf, at most most_in_leaf. links (in/out): of all nodes. Cost: a byte read per particle; of
/// renewed leaves as cut_leaves(), and a reading and a writing of each field, twice; of domain cells 80 bytes
/// read or written per particle and level, and the time of one block that cuts the largest cell of a level.
/// Memory: 40 bytes per particle of the rank, or one field and 8 bytes.
void renew_trees(const DeviceArray<LeafPlaces>& leaves, std::int32_t largest, const DeviceDomainCells& cells,
                 const RenewedParticles& particles, std::span<const FieldBytes> fields, NodeLinks* links,
                 const GroupCuts& rule);

}  // namespace grove::cuda
