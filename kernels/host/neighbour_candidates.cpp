#include "kernels/host/neighbour_candidates.hpp"

#include <cmath>
#include <cstddef>

namespace grove {
namespace {

struct CandidateView {
  const double *x, *y, *z, *reach;
  std::size_t count;
};

/// As visit_bucket() finds them, to the bit. Loops of their own for open space and for radii of sources, as
/// branches would cost more than distances.
template <bool is_periodic, bool is_symmetric>
void find_signs(const CandidateView& of, const Vec3d& place, double own_reach, const NearestImage& nearest,
                double* sign) {
  const auto along = [&](double d) {
    return is_periodic ? std::fma(-nearest.edge, std::rint(d * nearest.per_edge), d) : d;
  };
  for (std::size_t k = 0; k < of.count; ++k) {
    const double x = along(of.x[k] - place.x), y = along(of.y[k] - place.y), z = along(of.z[k] - place.z);
    const double r2 = std::fma(z, z, std::fma(y, y, x * x));
    const double reach = is_symmetric && of.reach[k] > own_reach ? of.reach[k] : own_reach;
    // No difference of both: the compiler might fuse it with the product, and round otherwise.
    sign[k] = r2 < reach * reach ? -1.0 : 1.0;
  }
}

}  // namespace

void NeighbourCandidates::gather(const NeighbourTree& tree, const NeighbourTarget& box) {
  for (auto* const array : {&x_, &y_, &z_, &reach_}) array->clear();
  number_.clear();
  for (std::uint32_t n = 0; n < tree.node_count;) {
    const NeighbourNode& node = tree.nodes[n];
    const bool is_near = is_in_reach(node, box, tree.nearest);
    if (is_near && node.is_bucket(n))
      for (std::uint32_t j = node.first; j < node.first + node.count; ++j) {
        const double reach = tree.is_symmetric ? tree.reach[j] : 0;
        const NeighbourNode particle{tree.position[j], {0, 0, 0}, reach, 0, j, 1};
        if (tree.reach[j] >= 0 && is_in_reach(particle, box, tree.nearest))
          add(j, tree.position[j], tree.reach[j]);
      }
    n = is_near ? n + 1 : node.next;
  }
  sign_.resize(number_.size());
  found_.resize(number_.size());
}

void NeighbourCandidates::add(std::uint32_t particle, const Vec3d& place, double reach) {
  x_.push_back(place.x);
  y_.push_back(place.y);
  z_.push_back(place.z);
  reach_.push_back(reach);
  number_.push_back(particle);
}

std::span<const std::uint32_t> NeighbourCandidates::neighbours_of(const NeighbourTree& tree,
                                                                  std::uint32_t i) {
  const CandidateView view{x_.data(), y_.data(), z_.data(), reach_.data(), number_.size()};
  const auto find = tree.nearest.is_open()
                        ? (tree.is_symmetric ? find_signs<false, true> : find_signs<false, false>)
                        : (tree.is_symmetric ? find_signs<true, true> : find_signs<true, false>);
  find(view, tree.position[i], tree.reach[i], tree.nearest, sign_.data());
  std::size_t count = 0;
  for (std::size_t k = 0; k < number_.size(); ++k) {
    found_[count] = number_[k];
    count += sign_[k] < 0 && number_[k] != i ? 1 : 0;
  }
  return {found_.data(), count};
}

}  // namespace grove
