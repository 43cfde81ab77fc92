#include "neighbours/neighbours.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/errors.hpp"
#include "kernels/math/neighbour_box.hpp"
#include "neighbours/imported_pieces.hpp"

namespace grove {
Neighbours::Neighbours(const Communicator& comm, const Domain& domain, const TreeShapes& shapes,
                       const Images& images)
    : comm_(comm),
      domain_(domain),
      shapes_(shapes),
      nearest_(NearestImage::of(images)),
      import_search_(comm, domain, nearest_) {
  if (shapes.group_begin.size() != domain.leaf_begin.size())
    throw std::logic_error("Neighbours: trees of other leaves");
  for (std::size_t leaf = 0; leaf + 1 < domain.leaf_begin.size(); ++leaf) {
    const auto begin = static_cast<std::size_t>(shapes.group_begin[leaf]),
               end = static_cast<std::size_t>(shapes.group_begin[leaf + 1]);
    leaves_.push_back({static_cast<std::uint32_t>(domain.leaf_begin[leaf]),
                       std::span<const GroupRun>(shapes.groups).subspan(begin, end - begin)});
  }
}

NeighbourTree Neighbours::tree() const {
  const auto nodes = nodes_->nodes();
  return {nodes.data(), static_cast<std::uint32_t>(nodes.size()), position_.data(), reach_.data(),
          nearest_,     kind_ == NeighbourSearch::symmetric};
}

void Neighbours::search(std::span<const Vec3d> position, std::span<const double> reach, NeighbourSearch kind,
                        double room) {
  if (position.size() != own_size() || reach.size() != own_size())
    throw std::logic_error("Neighbours::search: arrays of other particles");
  require_unique_images(reach);
  kind_ = kind;
  room_ = room;
  search_for(targets_of_leaves(position, reach), position, reach);
}

void Neighbours::search_around(std::span<const Vec3d> position, std::span<const NeighbourTarget> places) {
  std::vector<double> reach;
  for (const NeighbourTarget& place : places) reach.push_back(place.reach);
  require_unique_images(reach);
  kind_ = NeighbourSearch::gather;
  room_ = 1;
  search_for(places, position, Array<double>(own_size(), 0));
}

/// Imports what these targets need, and makes the tree over all that is here.
void Neighbours::search_for(std::span<const NeighbourTarget> targets, std::span<const Vec3d> position,
                            std::span<const double> reach) {
  const bool is_symmetric = kind_ == NeighbourSearch::symmetric;
  const std::vector<NeighbourPiece> own = own_pieces();
  {
    NeighbourNodes own_nodes(own);
    own_nodes.fit(position.data(), reach.data(), is_symmetric, room_);
    grant(own_nodes, reach);
    imports_.emplace(import_search_.find(own_nodes.view(), targets));
  }
  position_ = share(position);
  reach_ = share(reach);
  const ImportedPieces others(imports_->buckets, own_size(), domain_.own);
  std::vector<NeighbourPiece> all;
  for (const ImportedPieces::Place& place : others.order())
    all.push_back(place.is_own ? own[static_cast<std::size_t>(place.number)] : others.piece(place.number));
  nodes_ = std::make_unique<NeighbourNodes>(all);
  nodes_->fit(position_.data(), reach_.data(), is_symmetric, room_);
}

bool Neighbours::update(std::span<const double> reach) {
  require_unique_images(reach);
  bool holds = true;
  for (std::size_t i = 0; i < reach.size(); ++i)
    holds = holds && reach[i] <= granted_[i] && (reach[i] < 0) == (reach_[i] < 0);
  if (comm_.min(holds ? 1 : 0) == 0) return false;
  reach_ = share(reach);
  nodes_->fit(position_.data(), reach_.data(), kind_ == NeighbourSearch::symmetric, room_);
  return true;
}

/// Targets have what is in reach of the box of their leaf; as sources they have been sent to where their
/// bucket reaches.
void Neighbours::grant(const NeighbourNodes& own, std::span<const double> reach) {
  granted_.resize(own_size());
  const bool by_bucket = kind_ == NeighbourSearch::symmetric;
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    const auto begin = reach.begin() + domain_.leaf_begin[leaf],
               end = reach.begin() + domain_.leaf_begin[leaf + 1];
    if (begin != end)
      std::fill(granted_.begin() + domain_.leaf_begin[leaf], granted_.begin() + domain_.leaf_begin[leaf + 1],
                *std::max_element(begin, end) * room_);
    for (std::uint32_t n = own.begin(leaf); by_bucket && n < own.end(leaf); ++n) {
      const NeighbourNode& node = own.nodes()[n];
      if (node.is_bucket(n)) std::fill_n(granted_.begin() + node.first, node.count, node.reach);
    }
  }
}

std::vector<NeighbourPiece> Neighbours::own_pieces() const {
  std::vector<NeighbourPiece> pieces(leaves_.size());
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    const auto begin = static_cast<std::size_t>(shapes_.node_begin[leaf]),
               end = static_cast<std::size_t>(shapes_.node_begin[leaf + 1]);
    pieces[leaf].first = leaves_[leaf].first;
    pieces[leaf].links = std::span<const NodeLinks>(shapes_.links).subspan(begin, end - begin);
  }
  return pieces;
}

/// The box of each leaf's targets, with the H that its sources have to be here for.
std::vector<NeighbourTarget> Neighbours::targets_of_leaves(std::span<const Vec3d> position,
                                                           std::span<const double> reach) const {
  std::vector<NeighbourTarget> targets;
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    NeighbourBounds bounds;
    for (Count i = domain_.leaf_begin[leaf]; i < domain_.leaf_begin[leaf + 1]; ++i)
      bounds.add(position[static_cast<std::size_t>(i)], reach[static_cast<std::size_t>(i)]);
    bounds.reach *= room_;
    targets.push_back(bounds.target());
  }
  return targets;
}

void Neighbours::require_unique_images(std::span<const double> reach) const {
  comm_.together([&] {
    for (const double h : reach)
      if (!nearest_.is_open() && !(h < 0.5 * nearest_.edge))
        throw InputError(fmt::format(
            "a radius of {:g} within which neighbours are wanted is not less than half the edge of the "
            "periodic box, {:g}",
            h, nearest_.edge));
  });
}

}  // namespace grove
