#include "kernels/math/octree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "forest/leaf_by_leaf.hpp"

namespace grove {
namespace {

/// The steps of all curves, by state and octant.
using Steps = std::array<std::array<CurveStep, 8>, curve_states>;
constexpr Steps make_steps() {
  Steps all{};
  for (std::size_t state = 0; state < curve_states; ++state)
    for (unsigned octant = 0; octant < 8; ++octant)
      all[state][octant] = curve_step(static_cast<CurveState>(state), octant);
  return all;
}
constexpr Steps steps = make_steps();

/// Working memory, kept from leaf to leaf.
struct Scratch {
  Array<Record> records;
  Array<std::uint8_t> octants;
};

/// Grows the tree of one leaf. Cells are divided depth first, their particles sorted by octant on the way.
class LeafOctree {
 public:
  LeafOctree(Record* records, std::int32_t count, const ParticleId* id, std::int32_t bucket, Scratch& scratch,
             std::vector<NodeLinks>& links)
      : records_(records), id_(id), bucket_(bucket), scratch_(scratch), links_(links) {
    scratch.records.resize(static_cast<std::size_t>(count));
    scratch.octants.resize(static_cast<std::size_t>(count));
  }

  void grow(std::int32_t count, CurveState state) {
    links_.push_back({NodeLinks::bucket, -1, 0, count});
    if (count <= bucket_)
      sort_by_id(0, count);
    else
      divide(0, 31, state);
  }

 private:
  using Octants = std::array<std::int32_t, 8>;

  /// Divides a cell whose particles agree in all bits of their coordinates above `bit`.
  void divide(std::int32_t node, int bit, CurveState state) {
    const std::int32_t first = link(node).first, count = link(node).count;
    const Record& any = records_[first];
    const int differing = 31 - std::countl_zero(differing_bits(first, count));
    if (differing < 0) {
      sort_by_id(first, count);
      divide_by_number(node);
      return;
    }
    for (; bit > differing; --bit) state = step(state, any.x, any.y, any.z, bit).state();
    const Octants counts = sort_by_octant(first, count, bit, state);

    const std::int32_t child = nodes();
    Octants node_of{};
    std::int32_t begin = first;
    for (std::size_t digit = 0; digit < 8; begin += counts[digit++]) {
      node_of[digit] = nodes();
      add_cell(begin, counts[digit]);
    }
    close(node, child);
    std::array<CurveState, 8> state_of{};
    for (unsigned octant = 0; octant < 8; ++octant)
      state_of[steps[state][octant].digit()] = steps[state][octant].state();
    for (std::size_t digit = 0; digit < 8; ++digit)
      if (counts[digit] > bucket_) divide(node_of[digit], bit - 1, state_of[digit]);
  }

  /// Divides a node whose particles coincide and are ordered by id.
  void divide_by_number(std::int32_t node) {
    const std::int32_t first = link(node).first, last = first + link(node).count - 1;
    const std::int32_t size = piece_size(first, last, bucket_), child = nodes();
    for (std::int32_t begin = first; begin <= last;) {
      const std::int32_t end = std::min(last + 1, (begin / size + 1) * size);
      links_.push_back({NodeLinks::bucket, 0, begin, end - begin});
      begin = end;
    }
    const std::int32_t end = nodes();
    close(node, child);
    for (std::int32_t c = child; c < end; ++c)
      if (link(c).count > bucket_) divide_by_number(c);
  }

  /// Appends the node of a cell, if there are particles in it: two buckets where a group ends in it.
  void add_cell(std::int32_t first, std::int32_t count) {
    if (count == 0) return;
    if (count > bucket_) {
      links_.push_back({NodeLinks::bucket, 0, first, count});
      return;
    }
    sort_by_id(first, count);
    const std::int32_t end = group_end(first, first + count - 1);
    links_.push_back({NodeLinks::bucket, 0, first, end - first});
    if (end < first + count) links_.push_back({NodeLinks::bucket, 0, end, first + count - end});
  }

  /// The last nodes, from `child` on, are the children of this one.
  void close(std::int32_t node, std::int32_t child) {
    link(node).child = child;
    for (std::int32_t c = child; c < nodes(); ++c) link(c).next = c + 1;
    links_.back().next = link(node).next;
  }

  Coordinate differing_bits(std::int32_t first, std::int32_t count) const {
    const Record any = records_[first];
    Coordinate bits = 0;
    for (const Record* r = records_ + first; r < records_ + first + count; ++r)
      bits |= (r->x ^ any.x) | (r->y ^ any.y) | (r->z ^ any.z);
    return bits;
  }

  /// Sorts by the octants that a bit tells, along the curve; returns how many are in each.
  Octants sort_by_octant(std::int32_t first, std::int32_t count, int bit, CurveState state) {
    Octants counts{}, ends{};
    std::uint8_t* digits = scratch_.octants.data();
    Record* from = records_ + first;
    for (std::int32_t i = 0; i < count; ++i)
      ++counts[digits[i] =
                   static_cast<std::uint8_t>(step(state, from[i].x, from[i].y, from[i].z, bit).digit())];
    for (std::size_t d = 1; d < 8; ++d) ends[d] = ends[d - 1] + counts[d - 1];
    Record* to = scratch_.records.data();
    for (std::int32_t i = 0; i < count; ++i) to[ends[digits[i]]++] = from[i];
    std::copy_n(to, count, from);
    return counts;
  }

  void sort_by_id(std::int32_t first, std::int32_t count) {
    std::sort(records_ + first, records_ + first + count,
              [&](const Record& a, const Record& b) { return id_[a.index] < id_[b.index]; });
  }

  static CurveStep step(CurveState state, Coordinate x, Coordinate y, Coordinate z, int bit) {
    return steps[state][octant_of(x, y, z, bit)];
  }
  std::int32_t nodes() const { return static_cast<std::int32_t>(links_.size()); }
  NodeLinks& link(std::int32_t node) { return links_[static_cast<std::size_t>(node)]; }

  Record* records_;
  const ParticleId* id_;
  std::int32_t bucket_;  ///< particles of a node that is not divided, at most
  Scratch& scratch_;
  std::vector<NodeLinks>& links_;
};

class OctreeBuilder : public TreeBuilder {
 public:
  OctreeBuilder(Curve curve, std::int32_t bucket) : state_(first_state(curve)), bucket_(bucket) {}

  void build(std::span<const Count> leaf_begin, std::span<Record> records, const ParticleId* id,
             const double*, TreeShapes& shapes) const override {
    build_leaf_by_leaf(
        "Grove::forest::octree", leaf_begin, shapes, [&](std::size_t leaf, std::vector<NodeLinks>& links) {
          thread_local Scratch scratch;
          const auto count = static_cast<std::int32_t>(leaf_begin[leaf + 1] - leaf_begin[leaf]);
          LeafOctree(records.data() + leaf_begin[leaf], count, id, bucket_, scratch, links)
              .grow(count, state_);
        });
  }
  void group(std::span<const Count> leaf_begin, TreeShapes& shapes) const override {
    make_full_groups(leaf_begin, shapes);
  }

 private:
  CurveState state_;
  std::int32_t bucket_;
};

}  // namespace

std::unique_ptr<TreeBuilder> octree_builder(Curve curve, std::int32_t bucket) {
  return std::make_unique<OctreeBuilder>(curve, bucket);
}

}  // namespace grove
