#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/host/bisection.hpp"
#include "kernels/math/cut_rule.hpp"

/// The naive bisection: sorts every cell, and states the rules once more in other words.
namespace grove::testing {

using Records = std::vector<Record>;
using Weights = std::vector<std::uint32_t>;

inline int naive_axis(const Records& cell) {
  Coordinate best = 0;
  int axis = 0;
  for (int a = 0; a < 3; ++a) {
    const auto [low, high] =
        std::minmax_element(cell.begin(), cell.end(), [a](auto& p, auto& q) { return p[a] < q[a]; });
    if ((*high)[a] - (*low)[a] > best) {
      best = (*high)[a] - (*low)[a];
      axis = a;
    }
  }
  return axis;
}

inline void naive_sort(Records& cell, int axis, const std::vector<ParticleId>& id) {
  std::sort(cell.begin(), cell.end(), [&](const Record& a, const Record& b) {
    return a[axis] != b[axis] ? a[axis] < b[axis] : id[a.index] < id[b.index];
  });
}

/// Particles that go left, of a sorted cell, under `middle`; leaves are larger than a group here.
inline Count naive_middle(const Records& sorted, int axis, const CutScheme& scheme) {
  const auto n = static_cast<Count>(sorted.size());
  const Count q = scheme.quantum;
  const Coordinate low = sorted.front()[axis], high = sorted.back()[axis];
  const Coordinate middle =
      q > group_size ? middle_of_epoch(low, high, scheme.epoch) : middle_in_leaf(low, high);
  Count left = std::count_if(sorted.begin(), sorted.end(), [&](auto& r) { return r[axis] < middle; });
  if (low == high) left = n / 2;
  Count best = q;  // the multiple of q that is nearest to it, the larger of two, if it leaves q on the right
  for (Count k = q; n - k >= q; k += q)
    if (std::abs(k - left) <= std::abs(best - left)) best = k;
  return best;
}

/// The first halving of the cube, on z, y and x in turn, that leaves particles on either side: the axis, and
/// how many go left. One point is halved, as under `middle`.
struct NaiveHalving {
  int axis;
  Count left;
};
inline NaiveHalving naive_centre(const Records& cell, const CutScheme& scheme) {
  const auto n = static_cast<Count>(cell.size());
  for (int bit = 31; bit >= 0; --bit)
    for (const int axis : {2, 1, 0}) {
      const Count left =
          std::count_if(cell.begin(), cell.end(), [&](auto& r) { return !(r[axis] >> bit & 1); });
      if (left > 0 && left < n) return {axis, left};
    }
  return {2, naive_middle(cell, 2, scheme)};
}

/// Leaves that go left: min(d - 2^(l-2), 2^(l-1)) with l = ceil(log2 d).
inline Count naive_left_leaves(Count leaves) {
  const double l = std::ceil(std::log2(static_cast<double>(leaves)));
  return leaves == 2
             ? 1
             : static_cast<Count>(std::min(static_cast<double>(leaves) - std::exp2(l - 2), std::exp2(l - 1)));
}

/// Particles that go left, of a sorted cell, under `halves`: the longest prefix that fits.
inline Count naive_halves(const Records& sorted, const Weights& weight, Count leaves) {
  const Count d_left = naive_left_leaves(leaves);
  const auto n = static_cast<Count>(sorted.size());
  __int128 total = 0, sum = 0;
  for (const Record& r : sorted) total += weight[r.index];
  Count best = d_left;
  for (Count k = 1; k <= n - (leaves - d_left); ++k) {
    sum += weight[sorted[static_cast<std::size_t>(k) - 1].index];
    if (k >= d_left && sum * leaves <= d_left * total) best = k;
  }
  return best;
}

/// Calls visit(part) for the leaves of a cell, left to right.
inline void naive_leaves(Records cell, const CutScheme& scheme, Count leaves, const Weights& weight,
                         const std::vector<ParticleId>& id, const std::function<void(Records)>& visit) {
  const bool halves = scheme.rule == CutRule::halves;
  if (halves ? leaves == 1 : static_cast<Count>(cell.size()) <= scheme.quantum) return visit(cell);
  const bool centre =
      scheme.rule == CutRule::centre ||
      (scheme.rule == CutRule::domains && static_cast<Count>(cell.size()) > scheme.domain_cell);
  const NaiveHalving halving = centre ? naive_centre(cell, scheme) : NaiveHalving{naive_axis(cell), 0};
  naive_sort(cell, halving.axis, id);
  const Count left = centre   ? halving.left
                     : halves ? naive_halves(cell, weight, leaves)
                              : naive_middle(cell, halving.axis, scheme);
  const Count d_left = halves ? naive_left_leaves(leaves) : 0;
  naive_leaves({cell.begin(), cell.begin() + left}, scheme, d_left, weight, id, visit);
  naive_leaves({cell.begin() + left, cell.end()}, scheme, leaves - d_left, weight, id, visit);
}

/// The final order of a leaf: groups, in them buckets, in them ids.
inline Records naive_leaf_order(const Records& leaf, const std::vector<ParticleId>& id) {
  Records order;
  const auto bucket = [&](Records b) {
    std::sort(b.begin(), b.end(), [&](auto& p, auto& q) { return id[p.index] < id[q.index]; });
    order.insert(order.end(), b.begin(), b.end());
  };
  naive_leaves(leaf, {CutRule::middle, group_size}, 0, {}, id, [&](const Records& group) {
    naive_leaves(group, {CutRule::middle, bucket_size}, 0, {}, id, bucket);
  });
  return order;
}

}  // namespace grove::testing
