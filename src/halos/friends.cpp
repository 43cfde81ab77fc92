#include "halos/friends.hpp"

#include <algorithm>
#include <span>

#include "neighbours/neighbours.hpp"

namespace grove {
namespace {

/// Gives all members of a group that are here the least of their labels. first (in): the first member of
/// each one's group. True if an own one got another.
bool spread_least(std::span<const std::uint32_t> first, Array<GroupLabel>& labels, std::size_t own_size) {
  for (std::size_t i = 0; i < labels.size(); ++i) labels[first[i]] = std::min(labels[first[i]], labels[i]);
  bool changes = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const GroupLabel& least = labels[first[i]];
    changes = changes || (i < own_size && !(labels[i] == least));
    labels[i] = least;
  }
  return changes;
}

}  // namespace

Array<GroupLabel> link_friends(const Communicator& comm, const Domain& domain, const TreeShapes& shapes,
                               const Particles& particles, double length, const Images& images,
                               const FriendFinder& finder) {
  Neighbours neighbours(comm, domain, shapes, images);
  neighbours.search(particles.position, Array<double>(particles.size(), length), NeighbourSearch::gather);
  const Array<std::uint32_t> first = finder.find(neighbours, length);

  Array<GroupLabel> own(particles.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = {particles.id[i], comm.rank()};
  while (true) {
    Array<GroupLabel> labels = neighbours.share(std::span<const GroupLabel>(own));
    // The first member of a group is an own one if there is any.
    const bool changes = spread_least(first, labels, own.size());
    std::copy_n(labels.begin(), own.size(), own.begin());
    if (comm.max(changes ? 1 : 0) == 0) return own;
  }
}

}  // namespace grove
