#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "forest/tree_builder.hpp"
#include "kernels/host/neighbour_walk.hpp"
#include "kernels/math/neighbour_tree.hpp"
#include "neighbours/import_search.hpp"
#include "neighbours/neighbour_nodes.hpp"

namespace grove {

/// Which pairs are neighbours.
enum class NeighbourSearch : std::uint8_t {
  gather,     ///< sources closer than the target's H
  symmetric,  ///< closer than the larger H of both
};

/// Finds the neighbours of this rank's particles among those of all ranks, and applies an interaction to them
/// (docs/walks.md).
///
///   Neighbours neighbours(comm, domain, forest.shapes());
///   neighbours.search(particles.position, radius, NeighbourSearch::symmetric);
///   const Array<double> mass = neighbours.share(std::span(particles.mass));   // whatever the visitor reads
///   neighbours.walk(Visitor{mass.data(), out.data()});
///
/// Particles of other ranks that may be neighbours are imported: they have numbers behind the own ones. A
/// target's neighbours come in the order of the particles in the tree over all ranks, so that sums have the
/// same bits on any number of ranks. Separations are those of double precision, so that j is a neighbour of i
/// exactly if the computed r is below the radius.
class Neighbours {
 public:
  /// domain, shapes (in): the decomposition and the local trees in the own leaves, kept by the caller;
  /// particles are in tree order (Domain::leaf_begin). images: of the periodic box, if it is one.
  Neighbours(const Communicator& comm, const Domain& domain, const TreeShapes& shapes,
             const Images& images = {});

  /// Imports what own targets may need. position (in): of the own particles, length units of the run.
  /// reach (in): H of each, below 0 if it takes no part, as target or source. room: leaves ask for what is
  /// within so many times their largest H, so that H may grow by that.
  ///
  /// Collective. InputError on all ranks if an H is half the edge of the periodic box or more: then an image
  /// may be a neighbour that is not the nearest. Cost: boxes of each rank's covers (KnownCells) go to all;
  /// those of leaves near others, and the particles of buckets in reach of them, to the ranks that need them.
  void search(std::span<const Vec3d> position, std::span<const double> reach, NeighbourSearch kind,
              double room = 1);

  /// Imports what is within the reach of places that need not be those of particles; walk_around() finds it.
  /// Collective. Cost: the same.
  void search_around(std::span<const Vec3d> position, std::span<const NeighbourTarget> places);

  /// Takes other H for the same places. False, on all ranks, if one has outgrown the room: then nothing is
  /// changed, and search() has to be called. Collective.
  bool update(std::span<const double> reach);

  /// Values of own particles, followed by those of the imported ones. Collective. Cost: one message to each
  /// rank that has imported own particles.
  template <Wire T>
  Array<T> share(std::span<const T> own) const {
    Array<T> all(own.size() + static_cast<std::size_t>(imports_->particles->receive_total()));
    std::copy(own.begin(), own.end(), all.begin());
    imports_->particles->apply(
        [&](std::size_t begin, std::span<T> piece) {
          for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = own[imports_->sent[begin + i]];
        },
        std::span<T>(all).subspan(own.size()));
    return all;
  }

  /// The way back: what walks have left at imported particles goes to their owners. all (in/out): of own and
  /// imported particles; own ones become combine(own, imported) with that of each rank that has imported
  /// them, in any order. Collective. Cost: as share().
  template <Wire T, class Combine>
  void give_back(std::span<T> all, const Combine& combine) const {
    const ExchangePlan& plan = *imports_->particles;
    const auto counts = [](std::span<const Count> offsets) {
      std::vector<Count> numbers;
      for (std::size_t rank = 0; rank + 1 < offsets.size(); ++rank)
        numbers.push_back(offsets[rank + 1] - offsets[rank]);
      return numbers;
    };
    const ExchangePlan back(comm_, counts(plan.receive_offsets()), counts(plan.send_offsets()));
    Array<T> returned(imports_->sent.size());
    back.apply(std::span<const T>(all.subspan(own_size())), std::span<T>(returned));
    for (std::size_t i = 0; i < returned.size(); ++i) {
      T& own = all[imports_->sent[i]];
      own = combine(own, returned[i]);
    }
  }

  /// Applies a visitor (kernels/math/neighbour_tree.hpp) to all own targets, by groups or one by one: the
  /// same bits. One that takes nodes goes one by one.
  template <class Visitor>
  void walk(const Visitor& visitor) const {
    if constexpr (takes_nodes<Visitor>)
      walk_singly(visitor);
    else
      walk_neighbour_groups(tree(), leaves_, visitor);
  }
  template <class Visitor>
  void walk_singly(const Visitor& visitor) const {
    walk_neighbours_singly(tree(), leaves_, visitor);
  }

  /// The sum of a visitor over all particles within the reach of each place of search_around(), in order.
  template <class Visitor>
  std::vector<typename Visitor::Sum> walk_around(std::span<const NeighbourTarget> places,
                                                 const Visitor& visitor) const {
    std::vector<typename Visitor::Sum> sums(places.size());
    host_loop("Grove::neighbours::around", places.size(),
              [&](std::size_t i) { sums[i] = neighbour_sum(tree(), places[i], no_particle, visitor); });
    return sums;
  }

  /// Particles here, own and imported; the own ones.
  std::uint32_t size() const { return static_cast<std::uint32_t>(position_.size()); }
  std::uint32_t own_size() const { return static_cast<std::uint32_t>(domain_.leaf_begin.back()); }
  NeighbourTree tree() const;

 private:
  std::vector<NeighbourPiece> own_pieces() const;
  void grant(const NeighbourNodes& own, std::span<const double> reach);
  std::vector<NeighbourTarget> targets_of_leaves(std::span<const Vec3d> position,
                                                 std::span<const double> reach) const;
  void search_for(std::span<const NeighbourTarget> targets, std::span<const Vec3d> position,
                  std::span<const double> reach);
  void require_unique_images(std::span<const double> reach) const;

  const Communicator& comm_;
  const Domain& domain_;
  const TreeShapes& shapes_;
  NearestImage nearest_;
  ImportSearch import_search_;
  std::vector<NeighbourLeaf> leaves_;  ///< own ones, as targets

  NeighbourSearch kind_ = NeighbourSearch::gather;
  double room_ = 1;
  Array<double> granted_;  ///< [own particles] H up to which all sources are where they are wanted
  std::optional<Imports> imports_;
  Array<Vec3d> position_;  ///< [size()]
  Array<double> reach_;    ///< [size()]
  std::unique_ptr<NeighbourNodes> nodes_;
};

}  // namespace grove
