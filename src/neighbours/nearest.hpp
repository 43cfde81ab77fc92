#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "forest/tree_builder.hpp"
#include "neighbours/neighbours.hpp"

namespace grove {

/// One of the nearest particles of a place.
struct NearestNeighbour {
  std::uint32_t number;  ///< counts in arrays that share() returns
  double r2;             ///< square of the distance to its nearest image, (length unit of the run)^2
};

/// Finds the k particles of all ranks that are nearest to this rank's particles, or to any places
/// (docs/walks.md).
///
///   NearestNeighbours nearest(comm, domain, forest.shapes());
///   nearest.search(particles.position, 32);
///   const Array<double> mass = nearest.share(std::span<const double>(particles.mass));
///   for (const NearestNeighbour& neighbour : nearest.of(i)) sum += mass[neighbour.number];
///
/// They are in order of their distance, and at equal distances in that of the tree over all ranks, so that
/// they are the same on any number of ranks. For hosts.
///
/// A rank first finds the k nearest among its own particles: none of the k nearest of all is farther away
/// than the last of these. Then it imports what is within that radius. Where it has not as many by itself,
/// radii grow until all are found.
class NearestNeighbours {
 public:
  /// As Neighbours: what is passed is kept by the caller.
  NearestNeighbours(const Communicator& comm, const Domain& domain, const TreeShapes& shapes,
                    const Images& images = {});

  /// The k nearest of each own particle, itself excepted. position (in): of the own particles in tree order,
  /// length units of the run.
  ///
  /// Collective. InputError on all ranks if k is below 1, if there are not as many other particles, or if one
  /// of the k is not nearer than half the edge of the periodic box. Cost: two walks of the nodes near each
  /// target, log k for each particle that is among the nearest found so far, and a search of Neighbours with
  /// those radii; 16 k bytes for each target.
  void search(std::span<const Vec3d> position, std::uint32_t k);

  /// The k nearest particles of each place; one that lies there is among them. Collective. Errors as above.
  /// Cost: the same, and a message for each place to each rank that may have one of them; places that lie
  /// far from the own particles take several searches, with radii twice as large each time.
  void search_around(std::span<const Vec3d> position, std::span<const Vec3d> places, std::uint32_t k);

  /// The k nearest of own particle i, or of place i, until the next search.
  std::span<const NearestNeighbour> of(std::size_t i) const {
    return std::span<const NearestNeighbour>(found_).subspan(i * k_, k_);
  }

  /// Values of own particles, followed by those of imported ones. Collective (Neighbours::share).
  template <Wire T>
  Array<T> share(std::span<const T> own) const {
    return neighbours_.share(own);
  }

 private:
  struct Targets {
    std::span<const Vec3d> place;
    bool are_particles;      ///< the own ones, which are no neighbours of themselves
    Array<double> radius{};  ///< within which the nearest are searched
  };
  void find(std::span<const Vec3d> position, Targets targets, std::uint32_t k);
  void bound_by_tree(Targets& targets) const;
  std::vector<std::size_t> walk(Targets& targets);
  void widen(Targets& targets, std::span<const std::size_t> missing, double most) const;

  const Communicator& comm_;
  const Domain& domain_;
  Images images_;
  Neighbours neighbours_;
  std::size_t k_ = 0;
  Array<NearestNeighbour> found_;  ///< [targets * k]
};

}  // namespace grove
