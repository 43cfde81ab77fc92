#include "kernels/host/list_sums.hpp"

#include <algorithm>
#include <span>

#include "kernels/host/lane_sums.hpp"
#include "kernels/math/softening_shape.hpp"

namespace grove {
namespace {

/// Registers of targets that are summed together: with 16 lanes a group is two, and their sums, positions and
/// temporaries fit the 32 registers.
constexpr int registers = group_size / lane_count < 2 ? 1 : 2;
constexpr int chunk = registers * lane_count;

/// Softening scale of a particle as a source, and as a target.
inline float particle_scale(Newton, const SofteningTable&, std::uint8_t) { return 0; }
template <class Shape>
float particle_scale(Shape shape, const SofteningTable& table, std::uint8_t type) {
  return table.scales(shape)[type];
}
inline const float* target_scale(Newton, const GroupLanes& lanes) { return lanes.x; }
inline const float* target_scale(Plummer, const GroupLanes& lanes) { return lanes.plummer; }
inline const float* target_scale(Spline, const GroupLanes& lanes) { return lanes.spline; }

/// A part of a group in registers.
template <class Shape>
struct Chunk {
  Vec3<Lanes> position[registers];
  Lanes scale[registers];
  Accumulator<Lanes> sum[registers];

  GROVE_INLINE Chunk(const GroupLanes& lanes, int from) {
    for (int r = 0; r < registers; ++r) {
      const int i = from + r * lane_count;
      position[r] = {Lanes::load(lanes.x + i), Lanes::load(lanes.y + i), Lanes::load(lanes.z + i)};
      scale[r] = Lanes::load(target_scale(Shape{}, lanes) + i);
      sum[r] = {{Lanes(0.F), Lanes(0.F), Lanes(0.F)}, Lanes(0.F)};
    }
  }

  GROVE_INLINE Vec3<Lanes> separation(int r, const Vec3f& source) const {
    return {Lanes(source.x) - position[r].x, Lanes(source.y) - position[r].y,
            Lanes(source.z) - position[r].z};
  }

  GROVE_INLINE void add(GroupLanes& lanes, int from) const {
    for (int r = 0; r < registers; ++r) add_to_targets(lanes, from + r * lane_count, sum[r]);
  }
};

/// Calls sum(first, last) for ranges of a list of `size`, of at most sum_block sources, `each` to an entry.
template <class Sum>
void in_blocks(std::size_t size, std::size_t each, const Sum& sum) {
  const std::size_t length = sum_block / each;
  for (std::size_t first = 0; first < size; first += length) sum(first, std::min(first + length, size));
}

template <class Shape, Order order>
void sum_cells(Shape shape, const LocalTree& tree, std::span<const std::int32_t> list, GroupLanes& lanes) {
  for (int from = 0; from < lanes.count; from += chunk) {
    Chunk<Shape> part(lanes, from);
    for (const std::int32_t index : list) {
      const CellSource& cell = tree.cells[static_cast<std::size_t>(index)];
      const Lanes source_scale(scale_of(shape, cell));
      const Octupole<Lanes> octupole = cell.octupole.unpacked<Lanes>();
      for (int r = 0; r < registers; ++r) {
        const Lanes scale = pair_scale(shape, part.scale[r], source_scale);
        const Vec3<Lanes> d = part.separation(r, cell.centre);
        if constexpr (order == Order::octupole)
          add_octupole(d, cell, octupole, Lanes(1.F), part.sum[r]);
        else if constexpr (order == Order::quadrupole)
          add_quadrupole(shape, d, cell, scale, part.sum[r]);
        else
          add_particle(shape, d, Lanes(cell.mass), scale, part.sum[r]);
      }
    }
    part.add(lanes, from);
  }
}

template <class Shape>
void sum_buckets(Shape shape, const SofteningTable& softening, const LocalTree& tree,
                 std::span<const std::int32_t> list, std::int32_t skip_first, std::int32_t skip_last,
                 GroupLanes& lanes) {
  for (int from = 0; from < lanes.count; from += chunk) {
    Chunk<Shape> part(lanes, from);
    for (const std::int32_t index : list) {
      const LocalNode& bucket = tree.node(index);
      const std::int32_t first = ~bucket.child;
      if (first >= skip_first && first < skip_last) continue;
      for (std::int32_t p = first; p < first + bucket.count; ++p) {
        const SourceParticle& source = tree.particles[p];
        const Lanes source_scale(particle_scale(shape, softening, tree.types[p]));
        for (int r = 0; r < registers; ++r)
          add_particle(shape, part.separation(r, source.position), Lanes(source.mass),
                       pair_scale(shape, part.scale[r], source_scale), part.sum[r]);
      }
    }
    part.add(lanes, from);
  }
}

template <class Shape>
void sum_own_group(Shape shape, const SofteningTable& softening, const TargetLeaf& target, const Group& group,
                   GroupLanes& lanes) {
  for (int from = 0; from < lanes.count; from += chunk) {
    Chunk<Shape> part(lanes, from);
    for (int k = 0; k < group.count; ++k) {
      const SourceParticle& source = target.particles[group.first + k];
      const Lanes source_scale(particle_scale(shape, softening, target.types[group.first + k]));
      const Lanes self(static_cast<float>(k));
      for (int r = 0; r < registers; ++r) {
        const Lanes lane = Lanes::load(lanes.number + from + r * lane_count);
        const LaneMask before = lane < self, after = self < lane;
        // The particle itself has no mass here, and a distance that is not in need of softening.
        const Lanes mass = select(before, Lanes(source.mass), select(after, Lanes(source.mass), Lanes(0.F)));
        Vec3<Lanes> d = part.separation(r, source.position);
        d.x = select(before, d.x, select(after, d.x, Lanes(1.F)));
        add_particle(shape, d, mass, pair_scale(shape, part.scale[r], source_scale), part.sum[r]);
      }
    }
    part.add(lanes, from);
  }
}

template <class Shape>
void sum_cells(Shape shape, Order order, const LocalTree& tree, const Array<std::int32_t>& list,
               GroupLanes& lanes) {
  if (list.empty()) return;
  with_order(order, [&](auto of) {
    in_blocks(list.size(), 1, [&](std::size_t first, std::size_t last) {
      sum_cells<Shape, decltype(of)::value>(shape, tree, std::span(list).subspan(first, last - first), lanes);
    });
  });
}

template <class Shape>
void sum_all_buckets(Shape shape, const SumSetup& setup, const LocalTree& tree,
                     const Array<std::int32_t>& list, std::int32_t skip_first, std::int32_t skip_last,
                     GroupLanes& lanes) {
  constexpr std::size_t in_bucket = 8;  // by default; at most 32
  in_blocks(list.size(), in_bucket, [&](std::size_t first, std::size_t last) {
    sum_buckets(shape, setup.softening, tree, std::span(list).subspan(first, last - first), skip_first,
                skip_last, lanes);
  });
}

std::int64_t count_particles(const LocalTree& tree, const Array<std::int32_t>& list, std::int32_t skip_first,
                             std::int32_t skip_last) {
  std::int64_t particles = 0;
  for (const std::int32_t index : list) {
    const LocalNode& bucket = tree.node(index);
    if (~bucket.child < skip_first || ~bucket.child >= skip_last) particles += bucket.count;
  }
  return particles;
}

}  // namespace

void GroupLanes::load(const TargetLeaf& target, const Group& group, const SofteningTable& softening) {
  count = 0;
  for (int i = 0; i < group.count; ++i)
    if (group.active >> i & 1U) number[count++] = static_cast<float>(i);
  std::fill(number + count, number + group_size, number[0]);
  for (int i = 0; i < group_size; ++i) {
    const std::int32_t p = group.first + static_cast<std::int32_t>(number[i]);
    x[i] = target.particles[p].position.x;
    y[i] = target.particles[p].position.y;
    z[i] = target.particles[p].position.z;
    plummer[i] = softening.length2[target.types[p]];
    spline[i] = softening.radius2[target.types[p]];
    for (int k = 0; k < 4; ++k) sum[k][i] = rest[k][i] = 0;
  }
}

std::int64_t sum_lists(const SumSetup& setup, const LocalTree& tree, const InteractionLists& lists,
                       std::int32_t skip_first, std::int32_t skip_last, GroupLanes& lanes) {
  sum_cells(Newton{}, setup.order, tree, lists.far_cells, lanes);
  if (setup.order == Order::octupole)  // accepted beyond softening only
    sum_cells(Newton{}, setup.order, tree, lists.near_cells, lanes);
  else
    with_shape(setup.kernel,
               [&](auto shape) { sum_cells(shape, setup.order, tree, lists.near_cells, lanes); });
  sum_all_buckets(Newton{}, setup, tree, lists.far_buckets, skip_first, skip_last, lanes);
  with_shape(setup.kernel, [&](auto shape) {
    sum_all_buckets(shape, setup, tree, lists.near_buckets, skip_first, skip_last, lanes);
  });
  return count_particles(tree, lists.far_buckets, skip_first, skip_last) +
         count_particles(tree, lists.near_buckets, skip_first, skip_last);
}

void sum_within(const SumSetup& setup, const TargetLeaf& target, const Group& group, GroupLanes& lanes) {
  with_shape(setup.kernel, [&](auto shape) { sum_own_group(shape, setup.softening, target, group, lanes); });
}

}  // namespace grove
