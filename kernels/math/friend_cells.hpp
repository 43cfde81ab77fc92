#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/disjoint_sets.hpp"
#include "kernels/math/friend_grid.hpp"
#include "kernels/math/nearest_image.hpp"
#include "kernels/math/neighbour_box.hpp"
#include "kernels/math/neighbour_tree.hpp"

/// Friends of friends in the cells of a FriendGrid. A cell is one member of the sets, as all of its particles
/// are friends, so only cells near each other remain to be united: each pair of them ends with the first two
/// friends that are found, or before, where both are in one set already.
namespace grove {

/// The first of `count` ascending values that is not below this one; count: there is none.
template <class T>
GROVE_HOST_DEVICE std::uint32_t first_not_below(const T* values, std::uint32_t count, T wanted) {
  std::uint32_t low = 0, high = count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (values[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Particles in the order of their cells. A key may have several cells, one behind the other, and a cell may
/// come in several parts, which are united like others.
struct FriendCells {
  /// Pairs of cells with fewer particles each are searched by one thread.
  static constexpr std::uint32_t crowd = 16;

  const std::uint64_t* key;    ///< [count] ascending
  const std::uint32_t* begin;  ///< [count + 1] first particle of each
  std::uint32_t count;
  const Vec3d* position;  ///< [particles] length units of the run
  FriendGrid grid;
  NearestImage nearest;
  double length;          ///< the linking length
  DisjointSetsView sets;  ///< of cells

  GROVE_HOST_DEVICE bool is_crowded(std::uint32_t cell) const {
    return begin[cell + 1] - begin[cell] >= crowd;
  }

  /// As visit_bucket() finds neighbours, to the bit.
  GROVE_HOST_DEVICE bool are_friends(const Vec3d& a, const Vec3d& b) const {
    return squared_length(nearest(a - b)) < length * length;
  }

  /// Calls visit(other) for the cells in reach of a cell, it itself included. only_ahead: not in rows from
  /// which this one is ahead, so that each pair of rows comes once.
  template <class Visit>
  GROVE_HOST_DEVICE void visit_near(std::uint32_t cell, bool only_ahead, const Visit& visit) const {
    const FriendGrid::Cell place = grid.place(key[cell]);
    const int reach = grid.reach();
    for (int dz = only_ahead ? 0 : -reach; dz <= reach; ++dz)
      for (int dy = only_ahead && dz == 0 ? 0 : -reach; dy <= reach; ++dy)
        for (int part = 0; part < 2; ++part) visit_run(grid.near(place, dy, dz, part), visit);
  }

  GROVE_HOST_DEVICE bool have_friends(std::uint32_t a, std::uint32_t b) const {
    for (std::uint32_t i = begin[a]; i < begin[a + 1]; ++i)
      for (std::uint32_t j = begin[b]; j < begin[b + 1]; ++j)
        if (are_friends(position[i], position[j])) return true;
    return false;
  }

 private:
  template <class Visit>
  GROVE_HOST_DEVICE void visit_run(const CellRun& run, const Visit& visit) const {
    if (run.first > run.last) return;
    for (std::uint32_t other = first_not_below(key, count, run.first);
         other < count && key[other] <= run.last; ++other)
      visit(other);
  }
};

/// Unites a cell with those near it in which it has friends, where neither is crowded.
GROVE_HOST_DEVICE inline void link_sparse_cell(const FriendCells& cells, std::uint32_t cell) {
  if (cells.is_crowded(cell)) return;
  std::uint32_t own = cells.sets.root(cell);
  cells.visit_near(cell, true, [&](std::uint32_t other) {
    const std::uint32_t there = cells.sets.root(other);
    if (there == own || cells.is_crowded(other)) return;
    own = cells.sets.root(own);  // others may have united both meanwhile
    if (there != own && cells.have_friends(cell, other)) own = cells.sets.unite(own, there);
  });
}

/// The crowded cells, and the tight boxes of their particles.
struct CrowdedCells {
  const std::uint32_t* cell;   ///< [count] ascending
  const NeighbourTarget* box;  ///< [count] their reach is the linking length
  std::uint32_t count;

  /// The box of a crowded cell.
  GROVE_HOST_DEVICE const NeighbourTarget& box_of(std::uint32_t wanted) const {
    return box[first_not_below(cell, count, wanted)];
  }
};

/// A Warp is 32 lanes that go together:
///   unsigned ballot(predicate) const     bit l: predicate(l) holds
///   NeighbourBounds united(bounds) const the union of bounds(l) over all lanes l
///   auto once(action) const              action() in one lane; its result for all
inline constexpr unsigned warp_lanes = 32;

/// The tight box of a cell, by a warp.
template <class Warp>
GROVE_HOST_DEVICE NeighbourTarget box_of_cell(const FriendCells& cells, std::uint32_t cell,
                                              const Warp& warp) {
  return warp
      .united([&](unsigned lane) {
        NeighbourBounds bounds;
        for (std::uint32_t i = cells.begin[cell] + lane; i < cells.begin[cell + 1]; i += warp_lanes)
          bounds.add(cells.position[i], cells.length);
        return bounds;
      })
      .target();
}

/// True if the place is that of a friend of one in the cell; by a warp.
template <class Warp>
GROVE_HOST_DEVICE bool has_friend_in(const FriendCells& cells, const Vec3d& place, std::uint32_t cell,
                                     const Warp& warp) {
  const std::uint32_t end = cells.begin[cell + 1];
  for (std::uint32_t first = cells.begin[cell]; first < end; first += warp_lanes)
    if (warp.ballot([&](unsigned lane) {
          return lane < end - first && cells.are_friends(cells.position[first + lane], place);
        }))
      return true;
  return false;
}

/// True if two cells have friends; only particles of `other` in reach of the box of `cell` are compared. By
/// a warp.
template <class Warp>
GROVE_HOST_DEVICE bool have_friends(const FriendCells& cells, std::uint32_t cell, const NeighbourTarget& box,
                                    std::uint32_t other, const Warp& warp) {
  const std::uint32_t end = cells.begin[other + 1];
  for (std::uint32_t first = cells.begin[other]; first < end; first += warp_lanes) {
    unsigned near = warp.ballot([&](unsigned lane) {
      if (lane >= end - first) return false;
      const NeighbourNode particle{cells.position[first + lane], {0, 0, 0}, 0, 0, 0, 0};
      return is_in_reach(particle, box, cells.nearest);
    });
    for (unsigned lane = 0; near != 0; ++lane, near >>= 1)
      if (near % 2 != 0 && has_friend_in(cells, cells.position[first + lane], cell, warp)) return true;
  }
  return false;
}

/// Unites crowded cell number k with all near it in which it has friends; of two crowded ones the first does
/// it. By a warp.
template <class Warp>
GROVE_HOST_DEVICE void link_crowded_cell(const FriendCells& cells, const CrowdedCells& crowds,
                                         std::uint32_t k, const Warp& warp) {
  const std::uint32_t cell = crowds.cell[k];
  const NeighbourTarget& box = crowds.box[k];
  const auto root = [&](std::uint32_t i) { return warp.once([&] { return cells.sets.root(i); }); };
  std::uint32_t own = root(cell);
  cells.visit_near(cell, false, [&](std::uint32_t other) {
    const bool both = cells.is_crowded(other);
    if (both && other <= cell) return;
    const std::uint32_t there = root(other);
    if (there == own) return;
    own = root(own);  // others may have united both meanwhile
    if (there == own) return;
    if (both) {
      const NeighbourTarget& far = crowds.box_of(other);
      if (!is_in_reach({far.centre, far.half, 0, 0, 0, 0}, box, cells.nearest)) return;
    }
    if (have_friends(cells, cell, box, other, warp))
      own = warp.once([&] { return cells.sets.unite(own, there); });
  });
}

}  // namespace grove
