#include "neighbours/gpu/device_neighbours.hpp"

#include <algorithm>

#include "kernels/cuda/neighbours/raise.hpp"
#include "neighbours/gpu/node_layout.hpp"
#include "neighbours/imported_pieces.hpp"

namespace grove {
namespace {

cuda::LocalTrees local_trees(const DeviceForest& forest, std::size_t particles) {
  const cuda::LeafTrees trees = forest.trees();
  std::int32_t largest = 0;
  for (const cuda::LeafPlaces& leaf : forest.places()) largest = std::max(largest, leaf.count);
  return {trees.leaves,
          trees.links,
          forest.leaves(),
          static_cast<std::uint32_t>(forest.nodes()),
          static_cast<std::uint32_t>(particles),
          largest};
}

std::vector<Count> counts_of(std::span<const Count> offsets) {
  std::vector<Count> counts;
  for (std::size_t rank = 0; rank + 1 < offsets.size(); ++rank)
    counts.push_back(offsets[rank + 1] - offsets[rank]);
  return counts;
}

}  // namespace

DeviceNeighbours::DeviceNeighbours(const Communicator& comm, const DeviceExchange& exchange,
                                   const Domain& domain, const DeviceForest& forest, const Images& images)
    : comm_(comm),
      exchange_(exchange),
      domain_(domain),
      forest_(forest),
      nearest_(NearestImage::of(images)),
      nodes_(local_trees(forest, static_cast<std::size_t>(domain.leaf_begin.back()))) {
  for (const cuda::LeafPlaces& leaf : forest.places())
    own_nodes_.push_back(static_cast<std::uint32_t>(leaf.nodes));
  if (comm.size() > 1)
    import_search_.emplace(comm, domain, nearest_);
  else {
    const NodeLayout layout = lay_out(ImportedPieces({}, 0, domain.own), own_nodes_);
    nodes_.lay_out(layout.leaf_begin, layout.others, layout.size);
  }
}

void DeviceNeighbours::search(const Vec3d* position, const double* reach, NeighbourSearch kind) {
  kind_ = kind;
  if (import_search_) import(position, reach);
  position_ = share(position, all_positions_);
  reach_ = share(reach, all_reach_);
  nodes_.fit(position_, reach_, kind == NeighbourSearch::symmetric);
}

/// Imports what the own leaves need, and lays the tree over all that is here out.
void DeviceNeighbours::import(const Vec3d* position, const double* reach) {
  const NodeLayout own = lay_out(ImportedPieces({}, 0, domain_.own), own_nodes_);
  nodes_.lay_out(own.leaf_begin, own.others, own.size);
  nodes_.fit(position, reach, true);
  std::vector<NeighbourNode> nodes(own.size);
  cuda::device_download(nodes.data(), nodes_.nodes(), nodes.size() * sizeof(NeighbourNode));
  std::vector<PieceNodes> pieces;
  std::vector<NeighbourTarget> targets;
  for (std::size_t leaf = 0; leaf < own_nodes_.size(); ++leaf) {
    pieces.push_back({own.leaf_begin[leaf], own.leaf_begin[leaf] + own_nodes_[leaf]});
    NeighbourBounds bounds;
    if (own_nodes_[leaf] > 0) bounds = bounds_of(nodes[pieces.back().begin]);
    targets.push_back(bounds.target());
  }
  if (kind_ == NeighbourSearch::gather)
    for (NeighbourNode& node : nodes) node.reach = 0;
  imports_.emplace(import_search_->find({nodes, pieces}, targets));
  sent_ = cuda::DeviceArray<std::uint32_t>{std::span<const std::uint32_t>(imports_->sent)};
  const ImportedPieces others(imports_->buckets, static_cast<std::uint32_t>(own_size()), domain_.own);
  const NodeLayout all = lay_out(others, own_nodes_);
  nodes_.lay_out(all.leaf_begin, all.others, all.size);
}

void DeviceNeighbours::give_back_largest(std::uint32_t* all) const {
  if (!imports_) return;
  const ExchangePlan& plan = *imports_->particles;
  const ExchangePlan back(comm_, counts_of(plan.receive_offsets()), counts_of(plan.send_offsets()));
  const cuda::DeviceArray<std::uint32_t> returned(sent_.size());
  exchange_.apply(back, all + own_size(), returned.data(), sizeof(std::uint32_t));
  cuda::raise_to(sent_.data(), returned.data(), sent_.size(), all);
}

NeighbourTree DeviceNeighbours::tree() const {
  return {nodes_.nodes(), nodes_.size(), position_, reach_, nearest_, kind_ == NeighbourSearch::symmetric};
}

cuda::NeighbourGroups DeviceNeighbours::groups() const {
  const cuda::LeafTrees trees = forest_.trees();
  return {trees.leaves, trees.runs, forest_.leaf_of_group(), forest_.groups()};
}

}  // namespace grove
