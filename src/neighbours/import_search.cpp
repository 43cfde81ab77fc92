#include "neighbours/import_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "decomposition/known_cells.hpp"
#include "kernels/math/neighbour_box.hpp"

namespace grove {
namespace {

/// Calls found(n) for the nodes without children that may have candidates of a target.
template <class Found>
void find_ends(std::span<const NeighbourNode> nodes, const NeighbourTarget& target,
               const NearestImage& nearest, const Found& found) {
  for (std::uint32_t n = 0; n < nodes.size();) {
    const bool is_near = may_have_candidates(nodes[n], target, nearest);
    if (is_near && nodes[n].is_bucket(n)) found(n);
    n = is_near ? n + 1 : nodes[n].next;
  }
}

template <class T>
std::vector<Count> sizes_of(const std::vector<std::vector<T>>& lists) {
  std::vector<Count> sizes;
  for (const auto& list : lists) sizes.push_back(static_cast<Count>(list.size()));
  return sizes;
}

template <class T>
Array<T> exchanged(const ExchangePlan& plan, const std::vector<std::vector<T>>& lists) {
  Array<T> sent, received(static_cast<std::size_t>(plan.receive_total()));
  for (const auto& list : lists) sent.insert(sent.end(), list.begin(), list.end());
  plan.apply(std::span<const T>(sent), std::span<T>(received));
  return received;
}

}  // namespace

bool may_have_candidates(const NeighbourNode& node, NeighbourTarget target, const NearestImage& nearest) {
  const double half = std::max({0.0, target.half.x, target.half.y, target.half.z}),
               margin = 0x1p-17 * (half + std::max(target.reach, node.reach)) + 0x1p-47 * nearest.edge;
  for (int axis = 0; axis < 3; ++axis) target.half[axis] += margin;
  return is_in_reach(node, target, nearest);
}

ImportSearch::ImportSearch(const Communicator& comm, const Domain& domain, const NearestImage& nearest)
    : comm_(comm), nearest_(nearest), own_(domain.own) {
  const KnownCells known = known_cells(domain, comm.rank());
  const auto rank = static_cast<std::size_t>(comm.rank());
  first_cover_ = known.first_cover;
  for (std::int32_t c = first_cover_[rank]; c < first_cover_[rank + 1]; ++c)
    cover_begin_.push_back(own_.before(known.cover_cell(c).first_leaf));
  cover_begin_.push_back(own_.size());
}

Imports ImportSearch::find(const NeighbourNodesView& own, std::span<const NeighbourTarget> leaf_boxes) const {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  const auto requested = requests(leaf_boxes, source_boxes(own));
  const ExchangePlan ask(comm_, sizes_of(requested));
  const Array<NeighbourTarget> asked = exchanged(ask, requested);

  Imports imports;
  std::vector<std::vector<ImportedBucket>> buckets(ranks);
  std::vector<Count> particles(ranks, 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto begin = static_cast<std::size_t>(ask.receive_offsets()[rank]),
               end = static_cast<std::size_t>(ask.receive_offsets()[rank + 1]);
    const std::size_t before = imports.sent.size();
    select(own, std::span<const NeighbourTarget>(asked).subspan(begin, end - begin), buckets[rank],
           imports.sent);
    particles[rank] = static_cast<Count>(imports.sent.size() - before);
  }
  auto plans = ExchangePlan::several(comm_, std::array{sizes_of(buckets), particles});
  imports.buckets = exchanged(plans[0], buckets);
  imports.particles.emplace(std::move(plans[1]));
  return imports;
}

/// The boxes of all covers.
std::vector<NeighbourTarget> ImportSearch::source_boxes(const NeighbourNodesView& own) const {
  std::vector<NeighbourTarget> boxes;
  for (std::size_t c = 0; c + 1 < cover_begin_.size(); ++c) {
    NeighbourBounds bounds;
    for (auto leaf = static_cast<std::size_t>(cover_begin_[c]);
         leaf < static_cast<std::size_t>(cover_begin_[c + 1]); ++leaf)
      if (own.pieces[leaf].begin < own.pieces[leaf].end)
        bounds.add(bounds_of(own.nodes[own.pieces[leaf].begin]));
    boxes.push_back(bounds.target());
  }
  std::vector<Count> counts;
  for (std::size_t rank = 0; rank + 1 < first_cover_.size(); ++rank)
    counts.push_back(first_cover_[rank + 1] - first_cover_[rank]);
  return comm_.all_gather_arrays(std::span<const NeighbourTarget>(boxes), std::span<const Count>(counts));
}

/// For each rank the boxes of own leaves that may have neighbours there.
std::vector<std::vector<NeighbourTarget>> ImportSearch::requests(
    std::span<const NeighbourTarget> leaf_boxes, std::span<const NeighbourTarget> sources) const {
  std::vector<std::vector<NeighbourTarget>> requested(static_cast<std::size_t>(comm_.size()));
  const std::vector<NeighbourNode> covers = nodes_over(sources);
  for (const NeighbourTarget& box : leaf_boxes) {
    int last = comm_.rank();
    find_ends(covers, box, nearest_, [&](std::uint32_t n) {
      const int owner = owner_of(static_cast<std::int32_t>(covers[n].first), first_cover_);
      if (owner == last || owner == comm_.rank()) return;  // covers come rank by rank
      requested[static_cast<std::size_t>(owner)].push_back(box);
      last = owner;
    });
  }
  return requested;
}

/// Appends the buckets that any of the boxes may have neighbours in, and their particles.
void ImportSearch::select(const NeighbourNodesView& own, std::span<const NeighbourTarget> asked,
                          std::vector<ImportedBucket>& buckets, Array<std::uint32_t>& particles) const {
  if (asked.empty()) return;
  const auto nodes = own.nodes;
  std::vector<bool> is_wanted(nodes.size(), false);
  for (const NeighbourTarget& box : asked)
    find_ends(nodes, box, nearest_, [&](std::uint32_t n) { is_wanted[n] = true; });
  for (std::size_t leaf = 0; leaf < own.pieces.size(); ++leaf)
    for (std::uint32_t n = own.pieces[leaf].begin; n < own.pieces[leaf].end; ++n) {
      if (!is_wanted[n]) continue;
      buckets.push_back(
          {own_.leaf(static_cast<std::int32_t>(leaf)), static_cast<std::int32_t>(nodes[n].count)});
      for (std::uint32_t i = 0; i < nodes[n].count; ++i) particles.push_back(nodes[n].first + i);
    }
}

}  // namespace grove
