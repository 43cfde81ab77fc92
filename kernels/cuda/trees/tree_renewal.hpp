#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/box.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
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

/// Cuts the trees anew that TreeRenewal takes: all fields of their particles come into the order that
/// cut_leaves() would give them where they are now. largest: particles of the largest leaf, at most
/// most_in_leaf. links (in/out): of all nodes. Cost: a byte read per particle; of renewed
/// leaves as cut_leaves(), and a reading and a writing of each field.
void renew_trees(const DeviceArray<LeafPlaces>& leaves, std::int32_t largest,
                 const RenewedParticles& particles, std::span<const FieldBytes> fields, NodeLinks* links,
                 const GroupCuts& rule);

}  // namespace grove::cuda
