#include "forest/forest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "forest/leaf_moments.hpp"
#include "kernels/kokkos/host_loop.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/leaf_bodies.hpp"
#include "kernels/math/tree_renewal.hpp"

namespace grove {
void Forest::build(Particles& particles, const Box& box, std::span<const Count> leaf_begin,
                   std::span<Record> records, const TreeBuilder& builder, PhaseTimers* timers) {
  if (leaf_begin.empty() || leaf_begin.back() != static_cast<Count>(particles.size()))
    throw std::logic_error("Forest::build: leaves do not cover the particles");
  box_ = box;
  origins_.assign(leaf_begin.size() - 1, Vec3d{0, 0, 0});
  has_origins_ = false;
  shapes_.levels.clear();
  lay_out(leaf_begin);

  Array<Record> own_records;
  if (records.empty()) {
    own_records.resize(particles.size());
    make_records(box, {particles.position.data()}, particles.size(), own_records.data());
    records = own_records;
  }
  PhaseTimers unwanted;
  {
    const auto timer = (timers ? *timers : unwanted).time("build");
    builder.build(leaf_begin, records, particles.id.data(), particles.mass.data(), shapes_);
    builder.group(leaf_begin, shapes_);
  }
  const auto timer = (timers ? *timers : unwanted).time("sort");
  Array<std::uint32_t> order(particles.size());
  std::transform(records.begin(), records.end(), order.begin(), [](const Record& r) { return r.index; });
  particles.reorder(order);
}

void Forest::lay_out(std::span<const Count> leaf_begin) {
  leaf_begin_.assign(leaf_begin.begin(), leaf_begin.end());
  is_renewed_.clear();
  has_sources_ = false;
}

void Forest::renew(Particles& particles, int first_active, const DomainCellsView& cells) {
  is_renewed_.assign(origins_.size(), 0);
  const auto is_taken = [&](std::size_t begin, std::size_t count) {
    const auto rung = particles.rung.begin() + static_cast<std::ptrdiff_t>(begin);
    const Count active = std::count_if(rung, rung + static_cast<std::ptrdiff_t>(count),
                                       [&](std::uint8_t r) { return r >= first_active; });
    return TreeRenewal::takes(static_cast<Count>(count), active);
  };
  host_loop("Grove::forest::renew_cells", cells.count, [&](std::size_t c) {
    const DomainCell& cell = cells.cells[c];
    if (is_taken(cell.first, cell.count))
      renew_trees(static_cast<std::size_t>(cell.first_leaf), static_cast<std::size_t>(cell.leaves),
                  {cells.cuts + cell.first_cut, cell.cuts}, particles);
  });
  host_loop("Grove::forest::renew", origins_.size(), [&](std::size_t leaf) {
    const Count begin = leaf_begin_[leaf], count = leaf_begin_[leaf + 1] - begin;
    if (is_renewed_[leaf] == 0 && is_taken(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)))
      renew_trees(leaf, 1, {}, particles);
  });
}

namespace {

/// Divides records at the number that a cut gives, along the longest side of their bounds.
void cut_at_number(std::span<Record> records, const CountedCut& cut, const ParticleId* id) {
  const auto begin = records.begin() + cut.first, end = begin + cut.count;
  IntegerPosition low{begin->x, begin->y, begin->z}, high = low;
  for (auto r = begin; r != end; ++r)
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], (*r)[axis]);
      high[axis] = std::max(high[axis], (*r)[axis]);
    }
  const int axis = longest_axis(low, high);
  std::nth_element(begin, begin + cut.left, end, [=](const Record& a, const Record& b) {
    return a[axis] < b[axis] || (a[axis] == b[axis] && id[a.index] < id[b.index]);
  });
}

}  // namespace

/// The leaves follow each other. cuts: of the cell that holds them; one leaf alone has none.
void Forest::renew_trees(std::size_t first_leaf, std::size_t leaves, std::span<const CountedCut> cuts,
                         Particles& particles) {
  thread_local Array<Record> records;
  thread_local std::vector<std::uint32_t> order;
  const auto first = static_cast<std::size_t>(leaf_begin_[first_leaf]);
  records.resize(static_cast<std::size_t>(leaf_begin_[first_leaf + leaves]) - first);
  make_records(box_, {particles.position.data() + first}, records.size(), records.data(), first);
  for (const CountedCut& cut : cuts) cut_at_number(records, cut, particles.id.data());
  for (std::size_t leaf = first_leaf; leaf < first_leaf + leaves; ++leaf)
    bisect_leaf(
        std::span(records).subspan(static_cast<std::size_t>(leaf_begin_[leaf]) - first,
                                   static_cast<std::size_t>(leaf_begin_[leaf + 1] - leaf_begin_[leaf])),
        particles.id.data(), shapes_.links.data() + shapes_.node_begin[leaf]);
  order.resize(records.size());
  std::transform(records.begin(), records.end(), order.begin(), [](const Record& r) { return r.index; });
  particles.permute(first, order);
  for (std::size_t leaf = first_leaf; leaf < first_leaf + leaves; ++leaf) {
    if (has_origins_) origins_[leaf] = find_origin(leaf, particles);
    is_renewed_[leaf] = 1;
  }
}

Forest::Shape Forest::take_shape() { return {std::exchange(origins_, {}), std::exchange(shapes_, {})}; }

void Forest::adopt(Shape shape, const Box& box, std::span<const Count> leaf_begin,
                   const TreeBuilder& builder) {
  if (shape.origins.size() + 1 != leaf_begin.size())
    throw std::logic_error("Forest::adopt: trees of other leaves");
  box_ = box;
  origins_ = std::move(shape.origins);
  has_origins_ = true;
  shapes_ = std::move(shape.trees);
  builder.group(leaf_begin, shapes_);
  lay_out(leaf_begin);
}

void Forest::update(const Particles& particles, const GravityParameters& gravity, const WalkUnits& units,
                    double median_acceleration, int first_active) {
  first_active_ = first_active;
  const auto nodes = static_cast<std::size_t>(shapes_.links.size());
  core_.resize(nodes);
  moments_.resize(nodes);
  sources_.resize(particles.size());
  softening_.resize(particles.size());
  const bool moves = has_sources_ && units.length == units_.length && units.mass == units_.mass &&
                     gravity.softening == softening_of_type_;
  types_.resize(particles.size());
  units_ = units;
  softening_of_type_ = gravity.softening;
  groups_.resize(shapes_.groups.size());
  bounds_.assign(origins_.size(), no_bounds());
  boxes_.assign(origins_.size(), {no_bounds().low, no_bounds().high});
  balls_.assign(origins_.size(), {});
  const AcceptanceRule rule = AcceptanceRule::of(gravity, units, median_acceleration);
  node_boxes_.resize(rule.needs_boxes() ? nodes : 0);
  const bool finds_levels = rule.takes_cell() && shapes_.levels.empty();
  if (finds_levels) shapes_.levels.resize(nodes);

  host_loop("Grove::forest::update", origins_.size(), [&](std::size_t leaf) {
    thread_local LeafMoments combiner;
    if (!has_origins_) origins_[leaf] = find_origin(leaf, particles);
    const SourceBody copy = source_body(leaf, particles, gravity);
    const Count count = leaf_begin_[leaf + 1] - leaf_begin_[leaf];
    const bool moves_here = moves && (is_renewed_.empty() || is_renewed_[leaf] == 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) moves_here ? copy.move(i) : copy(i);
    if (!moves_here)
      std::copy_n(particles.type.begin() + leaf_begin_[leaf], count, types_.begin() + leaf_begin_[leaf]);
    make_groups(leaf, particles, gravity, rule);
    if (gravity.images.expands_far())
      balls_[leaf] = Ball::of_leaf(origins_[leaf], boxes_[leaf].low, boxes_[leaf].high, units.length,
                                   gravity.images.least_ball);
    const auto node = static_cast<std::size_t>(shapes_.node_begin[leaf]);
    const auto first = static_cast<std::size_t>(leaf_begin_[leaf]);
    combiner.combine(rule, tree(static_cast<std::int32_t>(leaf)).nodes, &shapes_.links[node],
                     static_cast<std::int32_t>(count), &sources_[first], &softening_[first],
                     {{box_, origins_[leaf], units_.length}, shapes_.levels.data() + node, finds_levels},
                     &core_[node], &moments_[node],
                     node_boxes_.empty() ? nullptr : node_boxes_.data() + node);
  });
  if (gravity.splits_groups() && !has_sources_) mark_buckets();
  is_renewed_.clear();
  has_origins_ = has_sources_ = true;
}

void Forest::mark_buckets() {
  buckets_.assign(groups_.size(), 0);
  for (std::size_t leaf = 0; leaf < origins_.size(); ++leaf) {
    const auto begin = shapes_.groups.begin() + shapes_.group_begin[leaf],
               end = shapes_.groups.begin() + shapes_.group_begin[leaf + 1];
    for (Count n = shapes_.node_begin[leaf]; n < shapes_.node_begin[leaf + 1]; ++n) {
      const NodeLinks& link = shapes_.links[static_cast<std::size_t>(n)];
      if (!link.is_bucket()) continue;
      const auto behind = std::upper_bound(
          begin, end, link.first, [](std::int32_t first, const GroupRun& run) { return first < run.first; });
      const auto group = behind - 1;
      buckets_[static_cast<std::size_t>(group - shapes_.groups.begin())] |= 1U << (link.first - group->first);
    }
  }
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

SourceBody Forest::source_body(std::size_t leaf, const Particles& particles,
                               const GravityParameters& gravity) {
  const auto first = static_cast<std::size_t>(leaf_begin_[leaf]);
  SourceBody copy{origins_[leaf],
                  1 / units_.length,
                  1 / units_.mass,
                  {},
                  particles.position.data() + first,
                  particles.mass.data() + first,
                  particles.type.data() + first,
                  sources_.data() + first,
                  softening_.data() + first};
  for (std::size_t type = 0; type < particle_types; ++type)
    copy.softening_of[type] = static_cast<float>(gravity.softening[type] * copy.per_length);
  return copy;
}

void Forest::make_groups(std::size_t leaf, const Particles& particles, const GravityParameters& gravity,
                         const AcceptanceRule& rule) {
  const Count first = leaf_begin_[leaf], group = shapes_.group_begin[leaf];
  const auto groups = static_cast<std::size_t>(shapes_.group_begin[leaf + 1] - group);
  const GroupBody make{rule,
                       to_walk_acceleration(1, gravity.gravitational_constant, units_),
                       shapes_.groups.data() + group,
                       sources_.data() + first,
                       softening_.data() + first,
                       particles.old_acceleration.data() + first,
                       particles.rung.data() + first,
                       first_active_,
                       groups_.data() + group};
  for (std::size_t g = 0; g < groups; ++g) {
    make(g);
    const TargetBounds& bounds = make.groups[g].bounds;
    widen(boxes_[leaf], bounds.low, bounds.high);
    if (make.groups[g].active != 0)
      widen(bounds_[leaf], bounds.low, bounds.high, bounds.inverse_tolerance, bounds.softening);
  }
}

SourceTree Forest::tree(std::int32_t i) const {
  const auto leaf = static_cast<std::size_t>(i);
  const Count node = shapes_.node_begin[leaf], first = leaf_begin_[leaf];
  return {origins_[leaf],
          core_.data() + node,
          moments_.data() + node,
          node_boxes_.empty() ? nullptr : node_boxes_.data() + node,
          shapes_.links.data() + node,
          sources_.data() + first,
          types_.data() + first,
          static_cast<std::int32_t>(shapes_.node_begin[leaf + 1] - node)};
}

TargetLeaf Forest::target(std::int32_t i, const float* old_acceleration) const {
  const auto leaf = static_cast<std::size_t>(i);
  const Count first = leaf_begin_[leaf], group = shapes_.group_begin[leaf];
  return {i,
          origins_[leaf],
          bounds_[leaf],
          groups_.data() + group,
          static_cast<std::int32_t>(shapes_.group_begin[leaf + 1] - group),
          sources_.data() + first,
          types_.data() + first,
          buckets_.empty() ? nullptr : buckets_.data() + group,
          old_acceleration ? old_acceleration + first : nullptr,
          balls_[leaf]};
}

ForceOutput Forest::output(std::int32_t i, Particles& particles) const {
  const Count first = leaf_begin_[static_cast<std::size_t>(i)];
  return {particles.acceleration.data() + first, particles.potential.data() + first,
          particles.work.data() + first};
}

Forest::OwnLeaves Forest::own_leaves(const Particles& particles, Particles& results) const {
  OwnLeaves own;
  for (std::int32_t i = 0; i < leaves(); ++i) {
    own.targets.push_back(target(i, particles.old_acceleration.data()));
    own.trees.push_back(tree(i));
    own.outputs.push_back(output(i, results));
  }
  return own;
}

LeafRoot Forest::root(std::int32_t i) const {
  const auto leaf = static_cast<std::size_t>(i);
  const auto node = static_cast<std::size_t>(shapes_.node_begin[leaf]);
  return {core_[node], moments_[node], boxes_[leaf].low, boxes_[leaf].high, origins_[leaf], balls_[leaf]};
}

}  // namespace grove
