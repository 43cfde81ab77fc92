#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "decomposition/domain.hpp"
#include "decomposition/known_cells.hpp"
#include "decomposition/segments.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/top_sum.hpp"
#include "kernels/math/wanted.hpp"
#include "support/halved_domain.hpp"

namespace grove::bench {

/// The tables of one of many ranks, without the others: a cube of edge and mass 1, all alike, of 2^27
/// particles a rank. Domain cells of at most 131072 stand for leaves, 1024 or so a rank. A rank has one run
/// of them, whose ends lie anywhere within a quarter of a rank's mean number, as work shares them out.
class ManyRanks {
 public:
  static constexpr Count of_a_rank = Count{1} << 27, domain_cell = Count{1} << 17;

  explicit ManyRanks(int ranks) : rank(ranks / 2) {
    const Count particles = of_a_rank * ranks;
    int depth = 0;
    while (particles >> depth > domain_cell) ++depth;
    const LeafNumber leaves = LeafNumber{1} << depth;
    gravity.delta = 0.0091;
    units = WalkUnits::of(1, 0, 1 / static_cast<double>(particles), particles);
    rule = AcceptanceRule::of(gravity, units, 1);
    std::vector<LeafOwners::Run> runs;
    for (int r = 0; r < ranks; ++r) {
      const double off = r == 0 ? 0 : std::sin(1.0 * r) / 4;
      runs.push_back({static_cast<LeafNumber>(static_cast<double>(leaves) * ((r + off) / ranks)), r});
    }
    domain = testing::halved_domain(particles, {runs, leaves, ranks}, rank);
    domain.box = Box::periodic(1);
    domain.domain_cell = domain_cell;
    domain.leaf_size = scheme.quantum;
    find_segments(0);
    known = known_cells(domain, rank);
    for (std::int32_t c = 0; c < known.first_cover.back(); ++c) {
      const Cell& cell = known.cover_cell(c);
      sums.push_back(sum_of(cell));
      wanted.push_back(
          {low_of(cell), high_of(cell), rule.inverse_tolerance(to_walk_acceleration(1, 1, units))});
    }
    for (std::int32_t i = 0; i < domain.own.size(); ++i)
      roots.push_back(root_of(domain.leaf(domain.own.leaf(i))));
  }

  int rank;
  GravityParameters gravity;
  WalkUnits units;
  AcceptanceRule rule;
  CutScheme scheme{CutRule::domains, 4096, 0, domain_cell};
  Domain domain;
  KnownCells known;
  std::vector<Segment> segments;  ///< of all ranks
  std::vector<TopSum> sums;       ///< by cover, and the next likewise
  std::vector<Wanted> wanted;
  std::vector<LeafRoot> roots;  ///< of own leaves

 private:
  void find_segments(std::int32_t index) {
    const Cell& cell = domain.cells[static_cast<std::size_t>(index)];
    if (!domain.owners.have_one(cell.first_leaf, cell.leaves)) {
      find_segments(cell.child);
      find_segments(cell.child + 1);
      return;
    }
    segments.push_back(
        {cell.low, cell.high, cell.count, cell.weight, {0, 0, 0}, domain.owners.owner(cell.first_leaf)});
  }

  static Vec3d low_of(const Cell& cell) { return cell.low.as<double>() * 0x1p-32; }
  static Vec3d high_of(const Cell& cell) { return (cell.high.as<double>() + Vec3d{1, 1, 1}) * 0x1p-32; }
  /// For matter that fills the cell.
  TopSum sum_of(const Cell& cell) const {
    TopSum top;
    top.low = low_of(cell) * (1 / units.length);
    top.high = high_of(cell) * (1 / units.length);
    const Vec3d side = top.high - top.low;
    top.sum.centre = (top.low + top.high) * 0.5;
    top.sum.mass = side.x * side.y * side.z * std::pow(units.length, 3) / units.mass;
    top.sum.xx = top.sum.mass * side.x * side.x / 12;
    top.sum.yy = top.sum.mass * side.y * side.y / 12;
    top.sum.zz = top.sum.mass * side.z * side.z / 12;
    top.sum.count = 1;
    top.radius = norm(side) / 2;
    return top;
  }
  LeafRoot root_of(const Cell& cell) const {
    const TopSum top = sum_of(cell);
    LeafRoot root;
    root.core = top_core(top, rule);
    root.core.centre = {0, 0, 0};
    root.moments = top_moments(top, rule.order);
    root.origin = top.sum.centre * units.length;
    root.low = (top.low - top.sum.centre).as<float>();
    root.high = (top.high - top.sum.centre).as<float>();
    return root;
  }
};

}  // namespace grove::bench
