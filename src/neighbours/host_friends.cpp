#include <cmath>

#include "kernels/host/disjoint_sets.hpp"
#include "neighbours/friend_finder.hpp"

namespace grove {
namespace {

/// The visitor that unites a particle with its friends behind it in the tree; those before it have found it.
struct LinkFriends {
  struct Sum {};
  NeighbourTree tree;
  std::uint32_t own_size;
  double length2;
  DisjointSets* sets;

  bool accepts(const Sum&, std::uint32_t target, const NeighbourNode& node) const {
    if (node.count == 0) return false;
    if (node.first < own_size && node.first + node.count <= target + 1) return true;
    return is_clump(node) && (sets->root(target) == sets->root(node.first) || is_within(target, node));
  }
  void node(Sum&, std::uint32_t target, const NeighbourNode& node) const {
    if (is_clump(node) && is_within(target, node)) sets->unite(target, node.first);
  }
  void particle(Sum&, const NeighbourPair& pair) const { sets->unite(pair.target, pair.source); }
  void finish(std::uint32_t, const Sum&) const {}

  /// All of its particles are friends of each other.
  bool is_clump(const NeighbourNode& node) const {
    return node.count > 0 && is_surely_below(2.0 * node.half);
  }
  /// The target is a friend of all of them.
  bool is_within(std::uint32_t target, const NeighbourNode& node) const {
    const Vec3d d = tree.nearest(tree.position[target] - node.centre);
    const double rounding = 0x1p-50 * tree.nearest.edge;  // of separations across faces of a periodic box
    return is_surely_below(
        Vec3d{std::abs(d.x) + rounding, std::abs(d.y) + rounding, std::abs(d.z) + rounding} + node.half);
  }

 private:
  /// Then so are all separations in such a box, however they are rounded.
  bool is_surely_below(const Vec3d& sides) const { return norm2(sides) < length2 * (1 - 0x1p-40); }
};

/// Unites the particles of each node that is small enough.
void unite_clumps(const LinkFriends& friends) {
  const NeighbourTree& tree = friends.tree;
  for (std::uint32_t n = 0; n < tree.node_count;) {
    const NeighbourNode& node = tree.nodes[n];
    const bool is_clump = friends.is_clump(node);
    for (std::uint32_t i = 1; is_clump && i < node.count; ++i)
      friends.sets->unite(node.first, node.first + i);
    n = is_clump ? node.next : n + 1;
  }
}

}  // namespace

Array<std::uint32_t> HostFriends::find(const Neighbours& neighbours, double length) const {
  DisjointSets sets(neighbours.size());
  const LinkFriends friends{neighbours.tree(), neighbours.own_size(), length * length, &sets};
  unite_clumps(friends);
  neighbours.walk(friends);
  Array<std::uint32_t> least(neighbours.size());
  for (std::uint32_t i = 0; i < least.size(); ++i) least[i] = sets.root(i);
  return least;
}

}  // namespace grove
