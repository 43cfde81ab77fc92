#include "neighbours/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "kernels/kokkos/host_loop.hpp"

namespace grove {
namespace {

/// The nearest particles of one place, found along the ropes of a tree within a radius that shrinks.
class NearestHeap {
 public:
  /// Those closer than a radius; one with this number is left out. True if there are k of them.
  bool collect(const NeighbourTree& tree, const Vec3d& place, std::uint32_t without, double radius,
               std::size_t k) {
    heap_.clear();
    seen_ = 0;
    limit2_ = radius * radius;
    NeighbourTarget target{place, {0, 0, 0}, radius};
    for (std::uint32_t n = 0; n < tree.node_count;) {
      const NeighbourNode& node = tree.nodes[n];
      if (!is_in_reach(node, target, tree.nearest)) {
        n = node.next;
        continue;
      }
      if (node.is_bucket(n)) {
        for (std::uint32_t j = node.first; j < node.first + node.count; ++j)
          if (j != without) offer(j, squared_length(tree.nearest(tree.position[j] - place)), k);
        target.reach = std::sqrt(limit2_);
      }
      ++n;
    }
    return heap_.size() == k;
  }
  /// Puts them in order. Cost: k log k.
  void write(std::span<NearestNeighbour> to) {
    std::sort_heap(heap_.begin(), heap_.end());
    std::transform(heap_.begin(), heap_.end(), to.begin(), [](const Candidate& c) {
      return NearestNeighbour{c.number, c.r2};
    });
  }

 private:
  struct Candidate {
    double r2;
    std::uint64_t order;  ///< in the tree over all ranks
    std::uint32_t number;
    bool operator<(const Candidate& other) const {
      return std::tie(r2, order) < std::tie(other.r2, other.order);
    }
  };
  /// Particles come in the order of the tree, so that one as far away as the last of k is behind it.
  void offer(std::uint32_t number, double r2, std::size_t k) {
    if (!(r2 < limit2_)) return;
    if (heap_.size() == k) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    heap_.push_back({r2, seen_++, number});
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() == k) limit2_ = heap_.front().r2;
  }

  std::vector<Candidate> heap_;  ///< the farthest first
  std::uint64_t seen_ = 0;
  double limit2_ = 0;
};

/// A radius that a particle at this distance is within, after all rounding; its square is more than 0.
double radius_beyond(double r2) { return std::sqrt(r2) * (1 + 0x1p-40) + 1e-150; }

/// The largest distance that a place can have from one in a node.
double farthest_in(const NeighbourNode& node, const Vec3d& place) {
  Vec3d far;
  for (int axis = 0; axis < 3; ++axis)
    far[axis] = std::abs(place[axis] - node.centre[axis]) + node.half[axis];
  return radius_beyond(squared_length(far));
}

/// Radii below this find each particle at one image alone.
double largest_radius(const Images& images) {
  return images.are_open() ? std::numeric_limits<double>::infinity() : std::nextafter(0.5 * images.edge, 0);
}

}  // namespace

NearestNeighbours::NearestNeighbours(const Communicator& comm, const Domain& domain, const TreeShapes& shapes,
                                     const Images& images)
    : comm_(comm), domain_(domain), images_(images), neighbours_(comm, domain, shapes, images) {}

void NearestNeighbours::search(std::span<const Vec3d> position, std::uint32_t k) {
  find(position, {position, true}, k);
}

void NearestNeighbours::search_around(std::span<const Vec3d> position, std::span<const Vec3d> places,
                                      std::uint32_t k) {
  find(position, {places, false}, k);
}

void NearestNeighbours::find(std::span<const Vec3d> position, Targets targets, std::uint32_t k) {
  const Count total = comm_.sum(static_cast<Count>(position.size())),
              most_k = targets.are_particles ? total - 1 : total;
  if (k < 1 || static_cast<Count>(k) > most_k)
    throw InputError(fmt::format("{} nearest particles are wanted; with {} there are 1 to {}", k,
                                 how_many(total, "particle"), std::max(most_k, Count{0})));
  k_ = k;
  const std::size_t size = targets.place.size();
  found_.resize(size * k_);
  const double most = largest_radius(images_),
               usual = domain_.box.edge * std::cbrt(static_cast<double>(k) / static_cast<double>(total));
  targets.radius = Array<double>(size, usual);

  neighbours_.search_around(position, {});  // a tree of the own particles alone
  if (targets.are_particles) bound_by_tree(targets);
  walk(targets);
  for (std::vector<std::size_t> missing;; widen(targets, missing, most)) {
    for (double& radius : targets.radius) radius = std::min(radius, most);
    if (targets.are_particles) {
      neighbours_.search(position, targets.radius, NeighbourSearch::gather);
    } else {
      std::vector<NeighbourTarget> places;
      for (std::size_t i = 0; i < size; ++i)
        places.push_back({targets.place[i], {0, 0, 0}, targets.radius[i]});
      neighbours_.search_around(position, places);
    }
    missing = walk(targets);
    if (comm_.max(missing.size()) == 0) return;
  }
}

/// Particles have their k nearest within the smallest node around them that has k others, if there is one.
void NearestNeighbours::bound_by_tree(Targets& targets) const {
  const NeighbourTree tree = neighbours_.tree();
  for (std::uint32_t n = 0; n < tree.node_count; ++n) {
    const NeighbourNode& node = tree.nodes[n];
    if (node.count <= k_) continue;
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i)
      targets.radius[i] = farthest_in(node, targets.place[i]);  // parents come before their children
  }
}

/// Finds what is within the radii. Where that is k particles, the radius becomes the distance of the last,
/// else the target is one of those that are returned.
std::vector<std::size_t> NearestNeighbours::walk(Targets& targets) {
  constexpr std::size_t chunk = 256;
  const NeighbourTree tree = neighbours_.tree();
  const std::size_t size = targets.place.size();
  std::vector<std::uint8_t> is_found(size, 0);
  host_loop("Grove::neighbours::nearest", (size + chunk - 1) / chunk, [&](std::size_t c) {
    thread_local NearestHeap heap;
    for (std::size_t i = c * chunk; i < std::min((c + 1) * chunk, size); ++i) {
      const std::uint32_t self = targets.are_particles ? static_cast<std::uint32_t>(i) : no_particle;
      if (!heap.collect(tree, targets.place[i], self, targets.radius[i], k_)) continue;
      const auto result = std::span<NearestNeighbour>(found_).subspan(i * k_, k_);
      heap.write(result);
      targets.radius[i] = radius_beyond(result.back().r2);
      is_found[i] = 1;
    }
  });
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < size; ++i)
    if (is_found[i] == 0) missing.push_back(i);
  return missing;
}

void NearestNeighbours::widen(Targets& targets, std::span<const std::size_t> missing, double most) const {
  comm_.together([&] {
    for (const std::size_t i : missing) {
      if (targets.radius[i] >= most)
        throw InputError(fmt::format(
            "fewer than {} particles are within half the edge of the periodic box, {:g}, of the place "
            "({:g}, {:g}, {:g}): ask for fewer of the nearest",
            k_, images_.edge, targets.place[i].x, targets.place[i].y, targets.place[i].z));
      targets.radius[i] *= 2;
    }
  });
}

}  // namespace grove
