#pragma once

#include <cstddef>
#include <cstdint>

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/types.hpp"

/// The places of cuts, as functions of integers; the searches for a cut, on one rank or on many, know
/// nothing else about the rule. A cut divides the particles of a cell, ordered by (coordinate on the cut
/// axis, id), into a prefix, the left child, and the rest.
namespace grove {

/// The rule that decides where cells are cut.
enum class CutRule : std::uint8_t {
  domains,  ///< `centre` down to domain cells, `middle` in them
  middle,   ///< near the spatial middle, counts rounded to a multiple of a quantum
  halves,   ///< the published ORB: equal weight per leaf
  centre,   ///< geometric cells of the root cube, halved: leaves are cells of the octree, or parts of one
};

/// Particles in a group: what is walked together. A leaf is cut into groups, all full but the last.
inline constexpr int group_size = 32;
/// Particles in a bucket, the smallest cell. A group is cut into buckets, all full but the last.
inline constexpr int bucket_size = 8;

/// The number of cells that a leaf of so many particles is cut into: its buckets and all above them.
GROVE_HOST_DEVICE constexpr std::int32_t local_cells(std::int32_t count) {
  return count > 0 ? 2 * ((count + bucket_size - 1) / bucket_size) - 1 : 0;
}

/// Which prefix goes left: the longest one that `accepts`, a monotone predicate.
struct CutTarget {
  Count least;   ///< at least this many particles,
  Count most;    ///< at most this many,
  Count weight;  ///< and beyond `least` only as many as weigh together at most this

  /// True if the prefix of this many particles and this weight may go left.
  GROVE_HOST_DEVICE constexpr bool accepts(Count prefix_count, Count prefix_weight) const {
    return prefix_count <= least || (prefix_count <= most && prefix_weight <= weight);
  }
  /// The longest prefix if every particle weighs 1.
  GROVE_HOST_DEVICE constexpr Count longest() const {
    const Count bound = weight < most ? weight : most;
    return bound > least ? bound : least;
  }
  /// True if the prefix is known by its count alone.
  GROVE_HOST_DEVICE constexpr bool is_exact() const { return least == most; }
  friend bool operator==(const CutTarget&, const CutTarget&) = default;
};

/// The axis that a cell is cut on: the longest side of its tight bounds, of equal ones the lowest.
GROVE_HOST_DEVICE constexpr int longest_axis(const IntegerPosition& low, const IntegerPosition& high) {
  const Coordinate x = high.x - low.x, y = high.y - low.y, z = high.z - low.z;
  return x >= y ? (x >= z ? 0 : 2) : (y >= z ? 1 : 2);
}

/// Sets all bits below the highest one that is set.
GROVE_HOST_DEVICE constexpr Coordinate all_bits_below(Coordinate value) {
  for (int distance = 1; distance < 32; distance *= 2) value |= value >> distance;
  return value;
}

/// A hash of a number: the last mixing of Murmur3 (Appleby 2011). The sum before it keeps 0 from being its
/// own hash.
GROVE_HOST_DEVICE constexpr std::uint32_t scrambled(std::uint32_t bits) {
  bits += 0x9E3779B9U;
  bits = (bits ^ bits >> 16) * 0x85EBCA6BU;
  bits = (bits ^ bits >> 13) * 0xC2B2AE35U;
  return bits ^ bits >> 16;
}

/// Rule `middle` cuts a cell of these bounds here: between 3/8 and 5/8 of its extent, as a hash says;
/// coordinates less than this are left of the cut. Never overflows; bounds of one coordinate have nothing on
/// the left.
///
/// Cuts at 1/2 would leave nodes where they are, and with them the errors of their forces. All particles far
/// away share these errors, which add up to a torque (docs/measurements/accuracy.md, "Torques"; GADGET-4
/// shifts its root cube for the same reason: Springel et al. 2021, MNRAS 506, 2871).
GROVE_HOST_DEVICE constexpr Coordinate scattered_middle(Coordinate low, Coordinate high, std::uint32_t hash) {
  const Coordinate extent = high - low;
  const auto span = static_cast<Coordinate>((std::uint64_t{extent} * (hash >> 16)) >> 18);  // of a quarter
  return low + extent / 2 + (extent & 1) - extent / 8 + span;
}

/// The cut of a cell inside of a leaf: it lies elsewhere whenever the bounds have moved.
GROVE_HOST_DEVICE constexpr Coordinate middle_in_leaf(Coordinate low, Coordinate high) {
  return scattered_middle(low, high, scrambled(scrambled(low) ^ high));
}

/// The cut of a cell between the root and the leaves. For an epoch all cells of about one extent are cut at
/// the same share of it, because these cuts move particles between leaves and ranks.
GROVE_HOST_DEVICE constexpr Coordinate middle_of_epoch(Coordinate low, Coordinate high, std::uint32_t epoch) {
  return scattered_middle(low, high, scrambled(scrambled(epoch) ^ all_bits_below(high - low)));
}

/// True if the highest bit of a is lower than that of b, without looking for either.
GROVE_HOST_DEVICE constexpr bool has_lower_highest_bit(Coordinate a, Coordinate b) {
  return a < b && a < (a ^ b);
}

/// Rule `centre`: the axis of the next cut that divides the particles of a cell, if the root cube is halved
/// again and again, on z, y and x in turn. That is the axis where coordinates differ in the highest bit; z
/// comes first, as in Morton's order, so that leaves from left to right follow it. One point: any axis.
GROVE_HOST_DEVICE constexpr int geometric_axis(const IntegerPosition& low, const IntegerPosition& high) {
  const Coordinate x = low.x ^ high.x, y = low.y ^ high.y, z = low.z ^ high.z;
  const bool y_before_z = has_lower_highest_bit(z, y);
  return has_lower_highest_bit(y_before_z ? y : z, x) ? 0 : y_before_z ? 1 : 2;
}

/// Rule `centre`: where that cut is; coordinates less than this are left of it. Bounds of one coordinate have
/// nothing on the left.
GROVE_HOST_DEVICE constexpr Coordinate geometric_middle(Coordinate low, Coordinate high) {
  return high & ~(all_bits_below(low ^ high) >> 1);
}

/// The low corner of the right half of the smallest geometric cell around bounds of more than one point.
GROVE_HOST_DEVICE constexpr IntegerPosition right_half(const IntegerPosition& low,
                                                       const IntegerPosition& high) {
  const int axis = geometric_axis(low, high);
  const Coordinate differing = all_bits_below(low[axis] ^ high[axis]);
  IntegerPosition corner = high;
  // The cell has one bit less on axes that are cut after this one, which are the lower ones.
  for (int k = 0; k < 3; ++k) corner[k] &= ~(k < axis ? differing : differing >> 1);
  return corner;
}

/// True if a point comes before another one in Morton's order, which the cells of rule `centre` follow.
GROVE_HOST_DEVICE constexpr bool comes_before(const IntegerPosition& a, const IntegerPosition& b) {
  const int axis = geometric_axis(a, b);
  return a[axis] < b[axis];
}

/// The number of the part of the root cube that holds a place. begin: of the parts, which follow each other
/// in Morton's order, the first one at 0; parts: at least 1. Cost: log(parts) comparisons.
GROVE_HOST_DEVICE constexpr std::size_t part_of(const IntegerPosition* begin, std::size_t parts,
                                                const IntegerPosition& place) {
  std::size_t first = 0;
  while (parts > 1) {
    const std::size_t half = parts / 2;
    if (!comes_before(place, begin[first + half])) first += half;
    parts -= half;
  }
  return first;
}

/// The number of leaves that full cells of at most `quantum` particles make of `count`.
GROVE_HOST_DEVICE constexpr Count quanta(Count count, Count quantum) {
  return (count + quantum - 1) / quantum;
}

/// Rule `middle`: how many particles go left of a cell of `count` > `quantum`, of which `left_of_middle` lie
/// left of CutScheme::middle() on the cut axis.
///
/// The nearest multiple of the quantum (halfway: the larger), at least one quantum, and at most so many that
/// the right child keeps a whole quantum. Between one and two quanta that is impossible: the left child gets
/// one quantum and the right one is short. A cell of one point has nothing left of its middle (and only such
/// a cell): it is halved by number, or else many coincident particles would make a deep comb. So left
/// children are always multiples of the quantum, and what is cut down to the quantum is full, except for the
/// very last piece.
GROVE_HOST_DEVICE constexpr Count middle_left_count(Count count, Count left_of_middle, Count quantum) {
  const Count wanted = left_of_middle > 0 ? left_of_middle : count / 2;
  const Count nearest = (wanted + quantum / 2) / quantum;
  const Count most = count / quantum - 1;
  const Count left = nearest < most ? nearest : most;
  return (left > 1 ? left : 1) * quantum;
}

/// Rule `halves`: how many of `leaves` >= 2 go left, so that the tree is nearly complete and its cells in
/// breadth-first order are an array heap: with l = ceil(log2 d), min(d - 2^(l-2), 2^(l-1)); 1 of 2.
GROVE_HOST_DEVICE constexpr LeafNumber halves_left_leaves(LeafNumber leaves) {
  if (leaves == 2) return 1;
  LeafNumber half = 1;  // 2^(l-1)
  while (2 * half < leaves) half *= 2;
  const LeafNumber rest = leaves - half / 2;
  return rest < half ? rest : half;
}

/// Rule `halves`: the longest prefix of weight w with w * leaves <= left leaves * weight, at least one
/// particle per leaf on either side. The cell has at least as many particles as leaves.
GROVE_HOST_DEVICE constexpr CutTarget halves_target(Count count, Count weight, LeafNumber leaves) {
  const Count left = halves_left_leaves(leaves);
  // floor(left * weight / leaves) without a product that could overflow: weight = q * leaves + r.
  const Count bound = left * (weight / leaves) + left * (weight % leaves) / leaves;
  return {left, count - (leaves - left), bound};
}

/// A rule with its parameter.
struct CutScheme {
  CutRule rule = CutRule::middle;
  Count quantum = 4096;     ///< the most particles in a leaf; `halves`: not used
  std::uint32_t epoch = 0;  ///< `middle`, `domains`: see middle_of_epoch()
  Count domain_cell = 0;    ///< `domains`: the most particles in a domain cell, at least the quantum

  /// True if a cell of so many particles is halved geometrically.
  GROVE_HOST_DEVICE constexpr bool is_geometric(Count count) const {
    return rule == CutRule::centre || (rule == CutRule::domains && count > domain_cell);
  }

  /// Leaves of a tree over `count` particles, if it is not geometric; else the least that there can be. Under
  /// `halves` their number is given.
  GROVE_HOST_DEVICE constexpr LeafNumber leaves_of(Count count) const { return quanta(count, quantum); }

  /// True if a cell of so many particles and leaves (`halves`) is a leaf.
  GROVE_HOST_DEVICE constexpr bool is_leaf(Count count, LeafNumber leaves) const {
    return rule == CutRule::halves ? leaves <= 1 : count <= quantum;
  }
  /// True if the number of leaves below all cells is known before they are cut. If not, the `leaves` of a
  /// cell are the least that there can be until the leaves are numbered (number_leaves()); more than 1 if it
  /// is to be cut.
  GROVE_HOST_DEVICE constexpr bool knows_leaves() const {
    return rule == CutRule::middle || rule == CutRule::halves;
  }

  /// The axis that a cell of these tight bounds and so many particles is cut on.
  GROVE_HOST_DEVICE constexpr int axis(const IntegerPosition& low, const IntegerPosition& high,
                                       Count count) const {
    return is_geometric(count) ? geometric_axis(low, high) : longest_axis(low, high);
  }
  /// The coordinate near which it is cut. That lies near their middle or in the middle of the smallest
  /// geometric cell around them.
  GROVE_HOST_DEVICE constexpr Coordinate middle(Coordinate low, Coordinate high, Count count) const {
    return is_geometric(count) ? geometric_middle(low, high) : middle_of_epoch(low, high, epoch);
  }
  /// True if the target depends on the number of particles left of middle().
  GROVE_HOST_DEVICE constexpr bool needs_middle() const { return rule != CutRule::halves; }
  /// That number is rounded to multiples of this; 0: it is not rounded.
  GROVE_HOST_DEVICE constexpr Count rounding(Count count) const {
    return rule == CutRule::halves || is_geometric(count) ? 0 : quantum;
  }

  /// The target of a cell that is no leaf. left_of_middle is only read if needs_middle().
  GROVE_HOST_DEVICE constexpr CutTarget target(Count count, Count weight, LeafNumber leaves,
                                               Count left_of_middle) const {
    if (rule == CutRule::halves) return halves_target(count, weight, leaves);
    const bool is_rounded = !is_geometric(count) || left_of_middle == 0;
    const Count left = is_rounded ? middle_left_count(count, left_of_middle, quantum) : left_of_middle;
    return {left, left, weight};
  }

  /// The leaves of the two children of a cell.
  struct ChildLeaves {
    LeafNumber left, right;
  };
  /// leaves, count: of the cell; left_count: its particles that go left.
  GROVE_HOST_DEVICE constexpr ChildLeaves child_leaves(LeafNumber leaves, Count count,
                                                       Count left_count) const {
    if (rule != CutRule::halves) return {leaves_of(left_count), leaves_of(count - left_count)};
    const LeafNumber left = halves_left_leaves(leaves);
    return {left, leaves - left};
  }
};

}  // namespace grove
