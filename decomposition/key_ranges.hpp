#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/box.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/geometric_cell.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {

/// Which rank owns which part of the root cube, if ranks own runs of geometric cells: each place has an
/// owner, also those where no particle was.
class KeyRanges {
 public:
  /// A part of the cube, up to the begin of the next one in Morton's order.
  struct Part {
    IntegerPosition begin;
    int rank;
  };

  /// The parts of a domain under CutRule::domains, whose runs of leaves begin and end with whole cells. Cost:
  /// O(cells).
  explicit KeyRanges(const Domain& domain);

  /// These parts, in Morton's order, the first one at 0.
  explicit KeyRanges(std::vector<Part> parts) : parts_(std::move(parts)) {}

  /// In Morton's order, the first one at 0; neighbours have different owners.
  std::span<const Part> parts() const { return parts_; }

  /// The largest geometric cells that make up the parts of a rank, in Morton's order: less than 192 for each.
  std::vector<GeometricCell> cover(int rank) const;

 private:
  void add(const Domain& domain, std::int32_t index, const IntegerPosition& begin);

  std::vector<Part> parts_;
};

/// The root cube as geometric cells, one after the other in Morton's order, the first one at 0; returns where
/// each begins. Of a domain under CutRule::domains each whole cell (Cell::is_whole()), and each of other
/// ranks below which nothing is known, lies in one of them, two never in the same. The others hold nothing.
/// Cost: O(cells), and a step for each halving.
std::vector<IntegerPosition> geometric_parts(const Domain& domain);

/// Finds where particles belong: to one of the own cells of a cover, or to another rank.
class PlaceFinder {
 public:
  PlaceFinder(const KeyRanges& ranges, int own_rank);

  /// The number of the own cell of the cover, or, of a place of another rank, -1 - that rank. near (in/out):
  /// where the last place was found; 0 at first. Cost: a constant if it is the same cell, else the logarithm
  /// of the cells and parts.
  std::int32_t find(const IntegerPosition& place, std::size_t& near) const;
  std::size_t own_cells() const { return own_cells_; }

  /// The own cells and the parts of other ranks, in Morton's order: where each begins, and the answer there.
  std::span<const IntegerPosition> begins() const { return begin_; }
  std::span<const std::int32_t> answers() const { return answer_; }

 private:
  std::vector<IntegerPosition> begin_;
  std::vector<std::int32_t> answer_;
  std::vector<IntegerPosition>
      shared_bits_;  ///< of own cells; of other parts all, so that these are searched
  std::size_t own_cells_ = 0;
};

}  // namespace grove
