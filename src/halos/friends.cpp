#include "halos/friends.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/host/disjoint_sets.hpp"
#include "neighbours/neighbours.hpp"

namespace grove {
namespace {

/// The longest distance within the box of a node, squared.
double diagonal2(const NeighbourNode& node) { return 4 * norm2(node.half); }

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
  bool is_clump(const NeighbourNode& node) const { return node.count > 0 && diagonal2(node) < length2; }
  /// The target is a friend of all of them.
  bool is_within(std::uint32_t target, const NeighbourNode& node) const {
    const Vec3d d = tree.nearest(tree.position[target] - node.centre);
    return norm2(Vec3d{std::abs(d.x), std::abs(d.y), std::abs(d.z)} + node.half) < length2;
  }
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

/// Gives all members of a set that are here the least of their labels. True if an own one got another.
bool spread_least(DisjointSets& sets, Array<GroupLabel>& labels, std::size_t own_size) {
  for (std::uint32_t i = 0; i < labels.size(); ++i) {
    GroupLabel& least = labels[sets.root(i)];
    least = std::min(least, labels[i]);
  }
  bool changes = false;
  for (std::uint32_t i = 0; i < labels.size(); ++i) {
    const GroupLabel& least = labels[sets.root(i)];
    changes = changes || (i < own_size && !(labels[i] == least));
    labels[i] = least;
  }
  return changes;
}

}  // namespace

Array<GroupLabel> link_friends(const Communicator& comm, const Domain& domain, const TreeShapes& shapes,
                               const Particles& particles, double length, const Images& images) {
  Neighbours neighbours(comm, domain, shapes, images);
  neighbours.search(particles.position, Array<double>(particles.size(), length), NeighbourSearch::gather);
  DisjointSets sets(neighbours.size());
  const LinkFriends friends{neighbours.tree(), neighbours.own_size(), length * length, &sets};
  unite_clumps(friends);
  neighbours.walk(friends);

  Array<GroupLabel> own(particles.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = {particles.id[i], comm.rank()};
  while (true) {
    Array<GroupLabel> labels = neighbours.share(std::span<const GroupLabel>(own));
    // A root has the least number of its set, so an own one if there is any.
    const bool changes = spread_least(sets, labels, own.size());
    std::copy_n(labels.begin(), own.size(), own.begin());
    if (comm.max(changes ? 1 : 0) == 0) return own;
  }
}

}  // namespace grove
