#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "gravity/far_cells.hpp"
#include "support/periodic_boxes.hpp"

namespace grove {

/// Particles of a periodic box in the leaves of a bisection, and the cells above these with their moments.
struct FarLeaves {
  Particles particles;
  GravityParameters gravity = periodic_parameters(1e-3);
  std::vector<Count> begin{0};
  std::vector<Ball> leaves;
  std::vector<TopLinks> links;
  std::vector<std::int32_t> parent;
  std::vector<std::uint32_t> leaf_cell;
  std::vector<Ball> balls;
  std::vector<FarMoments> moments;

  std::size_t leaf_of(std::size_t particle) const {
    return static_cast<std::size_t>(
        std::upper_bound(begin.begin(), begin.end(), static_cast<Count>(particle)) - begin.begin() - 1);
  }
  FarTree tree() const {
    return {links.data(), balls.data(), moments.data(), static_cast<std::int32_t>(links.size()),
            gravity.images};
  }
  /// From the leaves' moments up to the root.
  void find_moments() {
    const auto of_leaves = leaf_moments(particles, begin, leaves, gravity.images);
    moments.resize(links.size());
    for (std::size_t c = links.size(); c-- > 0;) {
      if (links[c].is_leaf()) {
        moments[c] = of_leaves[static_cast<std::size_t>(links[c].first_leaf)];
        continue;
      }
      const auto left = static_cast<std::size_t>(links[c].child), right = left + 1;
      moments[c] =
          united_moments(moments[left], balls[left], moments[right], balls[right], balls[c], gravity.images);
    }
  }
};

/// Cuts at a random place of the longest edge, to leaves of at most 1 to `most` particles. Every third
/// particle is on rung 1, the others on rung 0.
class FarLeavesMaker {
 public:
  FarLeavesMaker(const Particles& all, std::size_t most) : all_(all), most_(most), order_(all.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    made_.links.resize(1);
    made_.balls.resize(1);
    made_.parent = {-1};
    cut(0, 0, order_.size());
    made_.particles = all;
    made_.particles.reorder(order_);
    for (std::size_t i = 0; i < all.size(); ++i)
      made_.particles.rung[i] = made_.particles.id[i] % 3 == 0 ? 1 : 0;
    made_.find_moments();
  }
  FarLeaves take() { return std::move(made_); }

 private:
  void cut(std::size_t cell, std::size_t first, std::size_t end) {
    Vec3d low = all_.position[order_[first]], high = low;
    for (std::size_t i = first; i < end; ++i)
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], all_.position[order_[i]][axis]);
        high[axis] = std::max(high[axis], all_.position[order_[i]][axis]);
      }
    made_.balls[cell] = Ball::around(low, high, 0);
    const auto first_leaf = static_cast<std::int32_t>(made_.leaves.size());
    if (end - first <= 1 + random_() % most_) {
      made_.links[cell] = {-1, first_leaf, 1};
      made_.leaf_cell.push_back(static_cast<std::uint32_t>(cell));
      made_.leaves.push_back(made_.balls[cell]);
      made_.begin.push_back(static_cast<Count>(end));
      return;
    }
    int longest = 0;
    for (int axis = 1; axis < 3; ++axis)
      if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
    const std::size_t quarter = (end - first) / 4;
    const std::size_t middle = first + std::max<std::size_t>(1, quarter + random_() % (2 * quarter + 1));
    const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(first), at(middle), at(end), [&](std::uint32_t a, std::uint32_t b) {
      return all_.position[a][longest] < all_.position[b][longest];
    });
    const std::size_t child = made_.links.size();
    made_.links.resize(child + 2);
    made_.balls.resize(child + 2);
    made_.parent.resize(child + 2, static_cast<std::int32_t>(cell));
    cut(child, first, middle);
    cut(child + 1, middle, end);
    made_.links[cell] = {static_cast<std::int32_t>(child), first_leaf,
                         static_cast<std::int32_t>(made_.leaves.size()) - first_leaf};
  }

  const Particles& all_;
  std::size_t most_;
  std::mt19937_64 random_{7};
  std::vector<std::uint32_t> order_;
  FarLeaves made_;
};

inline FarLeaves in_far_leaves(const Particles& all, std::size_t most) {
  return FarLeavesMaker(all, most).take();
}

}  // namespace grove
