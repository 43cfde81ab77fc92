#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/types.hpp"
#include "kernels/math/ball.hpp"
#include "kernels/math/far_cells.hpp"
#include "kernels/math/far_images.hpp"
#include "kernels/math/walk_views.hpp"
#include "particles/particles.hpp"

/// The gravity in a periodic box that walks leave out: that of cells far off (kernels/math/far_cells.hpp),
/// and that of the images |n|max > 1 of all particles (kernels/math/far_images.hpp).
namespace grove {

/// The top tree, as far as a rank knows it.
struct FarTree {
  const TopLinks* links;      ///< [nodes]; the root is the first
  const Ball* balls;          ///< [nodes]
  const FarMoments* moments;  ///< [nodes]
  std::int32_t nodes;
  Images images;
};

/// The moments of own leaves, from their particles in order. leaf_begin: the first particle of each, length
/// leaves + 1. Cost: a pass over the particles (moments_of()).
std::vector<FarMoments> leaf_moments(const Particles& particles, std::span<const Count> leaf_begin,
                                     std::span<const Ball> leaves, const Images& images);

/// Adds both to the particles on rungs of first_active or more. The order of all sums is that of the tree,
/// left to right, so any rank has the same bits. Throws OpensPruned if a cell does not act from far and
/// nothing is known below it. Cost: for each leaf with such particles, and each cell that acts on it, 1716
/// complex products.
void add_far_cells(const FarTree& tree, const FarField<far_order>& far, const FarUnits& units,
                   std::span<const Ball> leaves, std::span<const Count> leaf_begin, int first_active,
                   Particles& particles);

/// Goes through one image of the tree, left to right: take(cell) for each cell that acts on a leaf from far
/// and is below none that does. stack: room for it. Returns false if it would have had to ask cells that are
/// not known.
template <class Take>
bool visit_far_cells(const FarTree& tree, const Ball& target, int image, std::vector<std::int32_t>& stack,
                     const Take& take) {
  const Vec3d way = tree.images.shift(image);
  bool all_known = true;
  stack.assign(tree.nodes > 0 ? 1 : 0, 0);
  while (!stack.empty()) {
    const std::int32_t cell = stack.back();
    stack.pop_back();
    const TopLinks& links = tree.links[cell];
    const Ball& ball = tree.balls[cell];
    if (acts_from_far(ball.shifted(way), target)) {
      take(cell);
    } else if (links.child >= 0) {
      stack.push_back(links.child + 1);
      stack.push_back(links.child);
    } else if (!links.is_leaf() && ball.is_there()) {
      all_known = false;
    }
  }
  return all_known;
}

}  // namespace grove
