#include "forest/forest.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "forest/leaf_moments.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {
namespace {

TargetBounds no_bounds() {
  constexpr float inf = std::numeric_limits<float>::infinity();
  return {{inf, inf, inf}, {-inf, -inf, -inf}, 0, 0};
}

void widen(TargetBounds& bounds, const Vec3f& low, const Vec3f& high, float strictness, float softening) {
  for (int axis = 0; axis < 3; ++axis) {
    bounds.low[axis] = std::min(bounds.low[axis], low[axis]);
    bounds.high[axis] = std::max(bounds.high[axis], high[axis]);
  }
  bounds.strictness = std::max(bounds.strictness, strictness);
  bounds.softening = std::max(bounds.softening, softening);
}

Count groups_of(Count particles) { return (particles + group_size - 1) / group_size; }

}  // namespace

void Forest::build(Particles& particles, const Box& box, std::span<const Count> leaf_begin,
                   std::span<Record> records, const TreeBuilder& builder, PhaseTimers* timers) {
  if (leaf_begin.empty() || leaf_begin.back() != static_cast<Count>(particles.size()))
    throw std::logic_error("Forest::build: leaves do not cover the particles");
  origins_.assign(leaf_begin.size() - 1, Vec3d{0, 0, 0});
  leaf_begin_.assign(leaf_begin.begin(), leaf_begin.end());
  group_begin_.assign(1, 0);
  for (std::size_t i = 0; i < origins_.size(); ++i)
    group_begin_.push_back(group_begin_.back() + groups_of(leaf_begin[i + 1] - leaf_begin[i]));

  Array<Record> own_records;
  if (records.empty()) {
    own_records.resize(particles.size());
    make_records(box, particles.position.data(), particles.size(), own_records.data());
    records = own_records;
  }
  PhaseTimers unwanted;
  {
    const auto timer = (timers ? *timers : unwanted).time("build");
    builder.build(leaf_begin, records, particles.id.data(), shapes_);
  }
  const auto timer = (timers ? *timers : unwanted).time("sort");
  Array<std::uint32_t> order(particles.size());
  std::transform(records.begin(), records.end(), order.begin(), [](const Record& r) { return r.index; });
  particles.reorder(order);
}

void Forest::update(const Particles& particles, const GravityParameters& gravity, const WalkUnits& units,
                    double median_acceleration, std::int32_t first_leaf) {
  first_leaf_ = first_leaf;
  const auto nodes = static_cast<std::size_t>(shapes_.links.size());
  core_.resize(nodes);
  moments_.resize(nodes);
  sources_.resize(particles.size());
  softening_.resize(particles.size());
  types_.assign(particles.type.begin(), particles.type.end());
  groups_.resize(static_cast<std::size_t>(group_begin_.back()));
  bounds_.assign(origins_.size(), no_bounds());
  const AcceptanceRule rule = AcceptanceRule::of(gravity, units, median_acceleration);

  using Space = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for(
      "Grove::forest::update", Kokkos::RangePolicy<Space>(0, origins_.size()), [&](const std::size_t leaf) {
        thread_local LeafMoments combiner;
        origins_[leaf] = find_origin(leaf, particles);
        copy_sources(leaf, particles, gravity, units);
        make_groups(leaf, particles, gravity, units, rule);
        const auto node = static_cast<std::size_t>(shapes_.node_begin[leaf]);
        const auto first = static_cast<std::size_t>(leaf_begin_[leaf]);
        combiner.combine(rule, tree(static_cast<std::int32_t>(leaf)).nodes, &shapes_.links[node],
                         static_cast<std::int32_t>(leaf_begin_[leaf + 1] - leaf_begin_[leaf]),
                         &sources_[first], &softening_[first], &core_[node], &moments_[node]);
      });
  Space().fence();
}

Vec3d Forest::find_origin(std::size_t leaf, const Particles& particles) const {
  constexpr Count sample = 64;
  const Count begin = leaf_begin_[leaf], end = leaf_begin_[leaf + 1];
  if (begin == end) return {0, 0, 0};
  const Count stride = std::max<Count>(1, (end - begin) / sample);
  Vec3d origin;
  std::vector<double> values;
  for (int axis = 0; axis < 3; ++axis) {
    values.clear();
    for (Count i = begin; i < end; i += stride)
      values.push_back(particles.position[static_cast<std::size_t>(i)][axis]);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    origin[axis] = *middle;
  }
  return origin;
}

void Forest::copy_sources(std::size_t leaf, const Particles& particles, const GravityParameters& gravity,
                          const WalkUnits& units) {
  const Vec3d origin = origins_[leaf];
  const double per_length = 1 / units.length, per_mass = 1 / units.mass;
  float softening[particle_types];
  for (std::size_t type = 0; type < particle_types; ++type)
    softening[type] = static_cast<float>(gravity.softening[type] * per_length);
  for (auto i = static_cast<std::size_t>(leaf_begin_[leaf]);
       i < static_cast<std::size_t>(leaf_begin_[leaf + 1]); ++i) {
    sources_[i] = {((particles.position[i] - origin) * per_length).as<float>(),
                   static_cast<float>(particles.mass[i] * per_mass)};
    softening_[i] = softening[particles.type[i]];
  }
}

void Forest::make_groups(std::size_t leaf, const Particles& particles, const GravityParameters& gravity,
                         const WalkUnits& units, const AcceptanceRule& rule) {
  const double per_acceleration = to_walk_acceleration(1, gravity.gravitational_constant, units);
  const Count begin = leaf_begin_[leaf], end = leaf_begin_[leaf + 1];
  for (Count first = begin, g = group_begin_[leaf]; first < end; first += group_size, ++g) {
    const Count last = std::min<Count>(first + group_size, end);
    TargetBounds bounds = no_bounds();
    float least = std::numeric_limits<float>::max();
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      widen(bounds, sources_[i].position, sources_[i].position, 0, softening_[i]);
      least = std::min(least, particles.old_acceleration[i]);
    }
    bounds.strictness = rule.strictness(static_cast<float>(least * per_acceleration));
    groups_[static_cast<std::size_t>(g)] = {bounds, static_cast<std::int32_t>(first - begin),
                                            static_cast<std::int32_t>(last - first)};
    widen(bounds_[leaf], bounds.low, bounds.high, bounds.strictness, bounds.softening);
  }
}

SourceTree Forest::tree(std::int32_t i) const {
  const auto leaf = static_cast<std::size_t>(i);
  const Count node = shapes_.node_begin[leaf], first = leaf_begin_[leaf];
  return {origins_[leaf],
          core_.data() + node,
          moments_.data() + node,
          shapes_.links.data() + node,
          sources_.data() + first,
          types_.data() + first,
          static_cast<std::int32_t>(shapes_.node_begin[leaf + 1] - node)};
}

TargetLeaf Forest::target(std::int32_t i) const {
  const auto leaf = static_cast<std::size_t>(i);
  const Count first = leaf_begin_[leaf], group = group_begin_[leaf];
  return {first_leaf_ + i,
          origins_[leaf],
          bounds_[leaf],
          groups_.data() + group,
          static_cast<std::int32_t>(group_begin_[leaf + 1] - group),
          sources_.data() + first,
          types_.data() + first};
}

ForceOutput Forest::output(std::int32_t i, Particles& particles) const {
  const Count first = leaf_begin_[static_cast<std::size_t>(i)];
  return {particles.acceleration.data() + first, particles.potential.data() + first,
          particles.work.data() + first};
}

LeafRoot Forest::root(std::int32_t i) const {
  const auto leaf = static_cast<std::size_t>(i);
  const auto node = static_cast<std::size_t>(shapes_.node_begin[leaf]);
  return {core_[node], moments_[node], bounds_[leaf].low, bounds_[leaf].high, origins_[leaf]};
}

}  // namespace grove
