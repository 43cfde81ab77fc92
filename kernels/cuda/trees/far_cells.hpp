#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/particles/leaf_pieces.hpp"
#include "kernels/math/ball.hpp"
#include "kernels/math/far_cells.hpp"
#include "kernels/math/far_images.hpp"
#include "kernels/math/walk_views.hpp"

/// The gravity of cells of a periodic box on leaves far off, and of far images (kernels/math/far_cells.hpp,
/// far_images.hpp): twins of those of src/gravity/far_cells.hpp. Arrays in device memory.
namespace grove::cuda {

/// The moments of own leaves. leaves, moments (out): [pieces.leaves]. Cost: some 1200 operations a particle.
void sum_leaf_moments(const Images& images, const LeafPieces& pieces, const Ball* leaves,
                      const Vec3d* position, const double* mass, FarMoments* moments);

/// Cells by number, and their moments on the way up.
struct FarClimb {
  const TopLinks* links;
  const std::int32_t* parent;  ///< of the root -1
  const Ball* balls;
  FarMoments* moments;
  std::size_t cells;
  Images images;
};
/// Moments of the cells that are leaves, and of those above them: up to the root, or with is_cover, by cell,
/// up to the first cell for which it is not 0. From both children of a cell in their order, so that the bits
/// do not depend on which comes first. leaf_cell: [leaves].
void climb_from_leaves(const FarClimb& way, const FarMoments* leaf_moments, const std::uint32_t* leaf_cell,
                       std::uint32_t leaves, const std::uint8_t* is_cover);
/// The same from all covers to the root. cover_cells: [covers].
void climb_from_covers(const FarClimb& way, const FarMoments* cover_moments, const std::int32_t* cover_cells,
                       std::uint32_t covers);

/// A FarTree as kernels see it.
struct DeviceFarTree {
  static constexpr std::int32_t most_nodes = 1 << 27;  ///< a number of 32 bits is a cell in an image

  const TopLinks* links;      ///< [nodes]; the root is the first
  const Ball* balls;          ///< [nodes]
  const FarMoments* moments;  ///< [nodes]
  std::int32_t nodes;
  Images images;
};
/// The particles of the own leaves.
struct FarTargets {
  const Ball* leaves;  ///< [own leaves]
  const std::uint8_t* rung;
  const Vec3d* position;
  Vec3f* acceleration;
  float* potential;
};
/// Adds what both do to the particles on rungs of first_active or more. Below cells that do not act from far
/// and of which this rank knows no more it does not look: walks come there, too, and throw OpensPruned.
/// Throws std::length_error if there are too many cells. Cost: for each leaf with such particles, and each
/// cell that acts on it, 1716 complex products.
void add_far_cells(const DeviceFarTree& tree, const FarField<far_order>& far, const FarUnits& units,
                   const LeafPieces& pieces, const FarTargets& targets, int first_active);

}  // namespace grove::cuda
