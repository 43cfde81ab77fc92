#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/led_positions.hpp"
#include "kernels/math/record.hpp"

/// Exact bisection of cells whose particles are all on this rank. All memory is the host's.
namespace grove {

/// A cell inside a leaf of the ORB, down to the buckets.
struct LocalCell {
  IntegerPosition low, high;  ///< tight bounds of its particles, both inclusive
  std::int32_t first;         ///< its first particle, counted from the first of its leaf
  std::int32_t count;         ///< its particles
  std::int32_t child;         ///< its left child, counted from the leaf's first cell; the right one follows;
                              ///< -1: a bucket

  bool is_bucket() const { return child < 0; }
  friend bool operator==(const LocalCell&, const LocalCell&) = default;
};

/// Records of particles: their coordinates in the box, and their indices from `first` on.
/// position (in): count; what is outside of the box gets the coordinates of the nearest place in it. records
/// (out): count. Cost: one pass.
void make_records(const Box& box, const LedPositions& position, std::size_t count, Record* records,
                  std::size_t first = 0);

/// Cuts a cell down to the leaves of the ORB.
///
/// root: count, weight, first, first_leaf and leaves are given; its bounds are computed here. Under `middle`
/// and `centre` leaves must be scheme.leaves_of(count); under `centre` the returned root has the true number,
/// and leaves are numbered by it. records (in/out): root.count, all particles of the cell, in any
/// order; returned so that the particles of every cell are contiguous, in tree order; inside a leaf their
/// order is arbitrary. id (in): ids by record index. weight (in): weights by record index, or nullptr: every
/// particle weighs 1. Returns the cells of the subtree, root first, siblings adjacent, in the order of
/// LocalCells; `child` counts from the root of this subtree, `first` and `first_leaf` go on from the root's.
///
/// root.count >= 1. Cost: O(count) per level, much less if the records come in the order of an earlier tree;
/// 24 bytes per record, under `halves` with weights 16 more.
std::vector<Cell> cut_to_leaves(const CutScheme& scheme, const Cell& root, std::span<Record> records,
                                const ParticleId* id, const std::uint32_t* weight);

/// Cuts a leaf down to groups and buckets, by rule `middle`: group g holds particles
/// [group_size * g, min(group_size * (g + 1), count)) of the leaf and bucket k likewise with bucket_size.
/// Inside a bucket particles are sorted by id, so the order does not depend on the order given.
///
/// records (in/out): count, returned in the final order. id (in): ids by record index.
/// cells (out): local_cells(count); the leaf's own cell first, then pairs of siblings depth first: the pair
/// of children of a cell, then all below the left one, then all below the right one. A child has a greater
/// index than its parent. Cost: O(count log count), in cache.
void cut_leaf(Record* records, std::int32_t count, const ParticleId* id, LocalCell* cells);

/// cut_leaf() for many leaves, in parallel.
/// leaf_begin (in): first record of each leaf, length leaves + 1. cell_begin (in): first cell of each leaf,
/// length leaves + 1, running sums of local_cells().
void cut_leaves(std::span<const Count> leaf_begin, Record* records, const ParticleId* id,
                std::span<const Count> cell_begin, LocalCell* cells);

}  // namespace grove
