#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/kd_lanes.cuh"
#include "kernels/cuda/trees/kd_small_memory.cuh"
#include "kernels/cuda/trees/kd_view.cuh"

/// Small nodes of kd-trees and all below them, by one warp.
namespace grove::cuda {

/// The tree below a small node. Called by all lanes of a warp.
class KdSmallTree {
 public:
  __device__ KdSmallTree(const KdView& view, const KdNode& root, KdSmallMemory& memory)
      : v_(view), root_(root), m_(memory) {
    const Columns& from = v_.columns[root_.columns];
    for (std::int32_t i = lane_; i < count(root_); i += 32) {
      const std::uint32_t place = root_.first + static_cast<std::uint32_t>(i);
      for (int axis = 0; axis < 3; ++axis) m_.at[axis][i] = from.at[axis][place];
      m_.index[i] = from.at[3][place];
      m_.slot[i] = static_cast<std::uint8_t>(i);
    }
    if (needs_mass()) load_masses();
    __syncwarp();
  }

  __device__ void grow() {
    int waiting = 0;
    KdSmallNode node{0, count(root_), root_.before, root_.cut_low, root_.cut_high};
    while (true) {
      if (node.count <= bucket() || fits_lanes(node)) {
        grow_rest(node);
        if (waiting == 0) return;
        node = m_.waiting[--waiting];
        __syncwarp();
        continue;
      }
      const Parting parting = part(node);
      KdSmallNode left{node.first, parting.left, node.before + 1, node.cut_low, node.cut_high},
          right{node.first + parting.left, node.count - parting.left, 0, node.cut_low, node.cut_high};
      left.cut_high[parting.axis] = right.cut_low[parting.axis] = parting.plane;
      const bool left_first = left.count <= right.count;
      if (lane_ == 0) {
        v_.cut[place_of(right.first)] = {place_of(node.first), place_of(node.first + node.count), root_.leaf,
                                         node.before};
        m_.waiting[waiting] = left_first ? right : left;
      }
      __syncwarp();
      ++waiting;
      node = left_first ? left : right;
    }
  }

 private:
  struct Parting {
    int axis;
    std::int32_t left;
    Coordinate plane;
  };
  struct Side {
    int axis;
    Coordinate low, high;  ///< of the tight box
  };

  __device__ static std::int32_t count(const KdNode& node) { return static_cast<std::int32_t>(node.count); }
  __device__ std::int32_t bucket() const { return static_cast<std::int32_t>(v_.bucket); }
  __device__ std::uint32_t place_of(std::int32_t i) const {
    return root_.first + static_cast<std::uint32_t>(i);
  }
  __device__ bool needs_mass() const { return v_.split == KdSplit::vmh || v_.split == KdSplit::vmh_tight; }
  __device__ bool fits_lanes(const KdSmallNode& node) const { return node.count <= 32 && !masses_differ_; }
  __device__ Coordinate at(int axis, std::int32_t i) const { return m_.at[axis][m_.slot[i]]; }
  __device__ ParticleId id(std::int32_t i) const {
    const std::uint32_t index = m_.index[m_.slot[i]];
    return v_.from.ids ? v_.from.ids[index] : index;
  }

  /// Equal masses, the usual case, are looked at once: no node asks for them again.
  __device__ void load_masses() {
    bool differ = false;
    const double any = v_.mass[m_.index[0]];
    for (std::int32_t i = lane_; i < count(root_); i += 32) {
      m_.mass[i] = v_.mass[m_.index[i]];
      differ |= m_.mass[i] != any;
    }
    masses_differ_ = __any_sync(~0U, differ);
  }

  __device__ Side longest_side(const KdSmallNode& node) const {
    IntegerPosition low{~0U, ~0U, ~0U}, high{0, 0, 0};
    for (std::int32_t i = node.first + lane_; i < node.first + node.count; i += 32)
      for (int axis = 0; axis < 3; ++axis) {
        const Coordinate x = at(axis, i);
        low[axis] = min(low[axis], x);
        high[axis] = max(high[axis], x);
      }
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = __reduce_min_sync(~0U, low[axis]);
      high[axis] = __reduce_max_sync(~0U, high[axis]);
    }
    const int axis = longest_axis(low, high);
    return {axis, low[axis], high[axis]};
  }

  /// Brings the particles of a node into an order in which those on the left of its cut come first.
  __device__ Parting part(const KdSmallNode& node) const {
    const Side side = longest_side(node);
    if (v_.split == KdSplit::middle && side.low != side.high) {
      const Coordinate middle = kd_middle(side.low, side.high);
      return {side.axis, part_at(node, side.axis, middle), middle};
    }
    sort(node, side.axis);
    const std::int32_t left =
        side.low == side.high || !needs_mass() ? node.count / 2 : least_cost(node, side);
    return {side.axis, left, at(side.axis, node.first + left - 1)};
  }

  __device__ std::int32_t part_at(const KdSmallNode& node, int axis, Coordinate middle) const {
    std::int32_t left = 0, right = 0;
    for (std::int32_t begin = 0; begin < node.count; begin += 32) {
      const bool exists = begin + lane_ < node.count;
      const std::int32_t i = node.first + min(begin + lane_, node.count - 1);
      const bool is_left = at(axis, i) < middle;
      const unsigned lefts = __ballot_sync(~0U, exists && is_left),
                     rights = __ballot_sync(~0U, exists && !is_left);
      const std::int32_t to = is_left ? left + __popc(lefts & lanes_before())
                                      : node.count - 1 - right - __popc(rights & lanes_before());
      if (exists) m_.next_slot[to] = m_.slot[i];
      left += __popc(lefts);
      right += __popc(rights);
    }
    put_slots(node);
    return left;
  }

  /// By (coordinate, id). Every particle's rank is the number of those before it: for so few that costs no
  /// more than a sort. Where no coordinates are equal, and no place is left over then, ids are not looked at.
  __device__ void sort(const KdSmallNode& node, int axis) const {
    const std::int32_t quads = (node.count + 3) / 4;
    for (std::int32_t i = lane_; i < 4 * quads; i += 32) {
      m_.key[i] = i < node.count ? at(axis, node.first + i) : ~Coordinate{0};
      m_.next_slot[i] = KdSmallMemory::no_slot;
    }
    __syncwarp();
    for (std::int32_t i = lane_; i < node.count; i += 32) {
      const Coordinate key = m_.key[i];
      std::int32_t rank = 0;
      for (std::int32_t q = 0; q < quads; ++q) {
        const uint4 others = reinterpret_cast<const uint4*>(m_.key)[q];
        rank += (others.x < key) + (others.y < key) + (others.z < key) + (others.w < key);
      }
      m_.next_slot[rank] = m_.slot[node.first + i];
    }
    __syncwarp();
    bool is_missing = false;
    for (std::int32_t i = lane_; i < node.count; i += 32)
      is_missing |= m_.next_slot[i] == KdSmallMemory::no_slot;
    if (__any_sync(~0U, is_missing))
      sort_by_ids(node, [&](std::int32_t i) { return m_.key[i]; });
    else
      put_slots(node);
  }

  /// By (key, id).
  template <class KeyOf>
  __device__ void sort_by_ids(const KdSmallNode& node, const KeyOf& key_of) const {
    for (std::int32_t i = lane_; i < node.count; i += 32) {
      const Coordinate key = key_of(i);
      const ParticleId own = id(node.first + i);
      std::int32_t rank = 0;
      for (std::int32_t j = 0; j < node.count; ++j) {
        const Coordinate other = key_of(j);
        rank += other < key;
        if (other != key) continue;
        const ParticleId other_id = id(node.first + j);
        rank += other_id < own || (other_id == own && j < i);
      }
      m_.next_slot[rank] = m_.slot[node.first + i];
    }
    put_slots(node);
  }

  __device__ void put_slots(const KdSmallNode& node) const {
    __syncwarp();
    for (std::int32_t i = lane_; i < node.count; i += 32) m_.slot[node.first + i] = m_.next_slot[i];
    __syncwarp();
  }

  /// volume_mass_cut(), the particles of the node being sorted on this side.
  __device__ std::int32_t least_cost(const KdSmallNode& node, const Side& side) const {
    const bool is_tight = v_.split == KdSplit::vmh_tight;
    const Coordinate low = is_tight ? side.low : node.cut_low[side.axis],
                     high = is_tight ? side.high : node.cut_high[side.axis];
    const double largest = masses_differ_ ? largest_mass(node) : 0;
    std::uint32_t all = 0;  // small nodes have less than 2^28 units of mass
    for (std::int32_t begin = 0; begin < node.count; begin += 32)
      all += __reduce_add_sync(~0U, units_of(node, begin + lane_, largest));
    std::uint64_t least = ~std::uint64_t{0};
    std::int32_t best = node.count;
    std::uint32_t before = 0;
    for (std::int32_t begin = 0; begin + 1 < node.count; begin += 32) {
      const std::int32_t i = begin + lane_;
      const std::uint32_t left =
          before + static_cast<std::uint32_t>(inclusive_sum(static_cast<int>(units_of(node, i, largest))));
      before = __shfl_sync(~0U, left, 31);
      if (i + 1 >= node.count) continue;
      const Coordinate plane = at(side.axis, node.first + i);
      if (plane == at(side.axis, node.first + i + 1)) continue;
      const std::uint64_t cost = volume_mass_cost(low, high, plane, left, all);
      if (cost < least) least = cost, best = i + 1;
    }
    __syncwarp();
    for (int step = 1; step < 32; step *= 2) {
      const std::uint64_t cost = __shfl_xor_sync(~0U, least, step);
      const std::int32_t other = __shfl_xor_sync(~0U, best, step);
      if (cost < least || (cost == least && other < best)) least = cost, best = other;
    }
    return best;
  }

  /// kd_mass() of particle i of a node; 0 behind the last.
  __device__ std::uint32_t units_of(const KdSmallNode& node, std::int32_t i, double largest) const {
    if (i >= node.count) return 0;
    const double mass = masses_differ_ ? m_.mass[m_.slot[node.first + i]] : 0;
    return static_cast<std::uint32_t>(kd_mass(mass, largest));
  }
  __device__ double largest_mass(const KdSmallNode& node) const {
    double largest = 0;
    for (std::int32_t i = node.first + lane_; i < node.first + node.count; i += 32)
      largest = max(largest, m_.mass[m_.slot[i]]);
    for (int step = 1; step < 32; step *= 2) largest = max(largest, __shfl_xor_sync(~0U, largest, step));
    return largest;
  }

  __device__ void grow_rest(const KdSmallNode& node) const {
    if (node.count <= bucket())
      finish(node);
    else
      KdLaneTree(v_, root_, m_, node).grow();
  }

  /// A bucket: its particles by id.
  __device__ void finish(const KdSmallNode& node) const {
    if (node.count > 1) sort_by_ids(node, [](std::int32_t) { return Coordinate{0}; });
    for (std::int32_t i = lane_; i < node.count; i += 32) {
      const std::uint32_t place = place_of(node.first + i);
      v_.order[place] = m_.index[m_.slot[node.first + i]];
      v_.divided[place] = i == 0 ? node.before : 0;
      if (i > 0) v_.cut[place].end = 0;
    }
  }

  const KdView& v_;
  const KdNode& root_;
  KdSmallMemory& m_;
  const int lane_ = lane_index();
  bool masses_differ_ = false;
};

}  // namespace grove::cuda
