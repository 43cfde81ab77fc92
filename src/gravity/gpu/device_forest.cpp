#include "gravity/gpu/device_forest.hpp"

#include <algorithm>
#include <utility>

#include "kernels/cuda/device/urgent_work.hpp"
#include "kernels/cuda/let/leaf_lists.hpp"
#include "kernels/cuda/trees/group_runs.hpp"
#include "kernels/cuda/trees/leaf_octupoles.hpp"

namespace grove {
namespace {

/// Moves the first elements of an array into a longer one.
template <class T>
void lengthen(cuda::DeviceArray<T>& array, std::size_t kept, std::size_t size) {
  cuda::DeviceArray<T> longer(size);
  cuda::device_copy(longer.data(), array.data(), kept * sizeof(T));
  array = std::move(longer);
}

}  // namespace

DeviceForest::DeviceForest(const GravityParameters& gravity)
    : kind_(gravity.tree),
      splits_groups_(gravity.splits_groups()),
      has_boxes_(needs_boxes(gravity.criterion)),
      builder_(device_tree_builder(gravity)) {}

/// Places of groups and tables for nodes that are there.
void DeviceForest::lay_out(std::span<const Count> leaf_begin) {
  places_.clear();
  for (std::size_t i = 0; i + 1 < leaf_begin.size(); ++i) {
    const Count count = leaf_begin[i + 1] - leaf_begin[i];
    places_.push_back({static_cast<std::uint64_t>(leaf_begin[i]), static_cast<std::uint64_t>(node_begin_[i]),
                       0, static_cast<std::int32_t>(count),
                       static_cast<std::int32_t>(node_begin_[i + 1] - node_begin_[i]), 0});
  }
  leaf_groups_ = builder_->group(places_, links_.data());
  if (!splits_groups_) return;
  buckets_ = cuda::DeviceArray<std::uint32_t>(groups());
  cuda::mark_buckets(trees(), groups(), buckets_.data());
}

std::int32_t DeviceForest::largest_tree() const {
  std::int32_t most = 0;
  for (const cuda::LeafPlaces& leaf : places_) most = std::max(most, leaf.nodes);
  return most;
}

std::uint32_t DeviceForest::pairs() const {
  std::uint32_t sum = 0;
  for (const cuda::LeafPlaces& leaf : places_) sum += static_cast<std::uint32_t>((leaf.groups + 1) / 2);
  return sum;
}

void DeviceForest::release() {
  const auto free = [](auto&... arrays) { ((arrays = {}), ...); };
  free(links_, children_, levels_, buckets_, origin_, bounds_, boxes_, balls_, groups_, sources_, softening_,
       core_, moments_, node_boxes_);
  leaf_groups_ = {};
}

void DeviceForest::cut(const DeviceParticles& particles, std::span<const Count> leaf_begin,
                       const cuda::DeviceRecords& records, std::int32_t targets_per_warp) {
  release();
  room_ = more_than(std::exchange(needed_, {}));
  node_begin_ =
      builder_->build(leaf_begin, {records, particles.values(fields::id), particles.in_parts(fields::mass)},
                      targets_per_warp, order_, links_);
  lay_out(leaf_begin);
}

void DeviceForest::arrange(DeviceParticles& particles) {
  particles.reorder(order_.data());
  order_ = {};
}

void DeviceForest::renew(DeviceParticles& particles, const cuda::DeviceDomainCells& cells, const Box& box,
                         int first_active, std::int32_t targets_per_warp) {
  std::int32_t largest = 0;
  for (const cuda::LeafPlaces& leaf : places_) largest = std::max(largest, leaf.count);
  std::vector<cuda::FieldBytes> fields;  // at most as many as renew_trees() takes
  for (DeviceParticles::Column& column : particles.columns())
    fields.push_back({column.values.data(), column.element_size});
  cuda::renew_trees(
      leaf_groups_.places, largest, cells,
      {box, particles.size(), particles.values(grove::fields::position), particles.values(grove::fields::id),
       particles.values(grove::fields::rung), first_active},
      fields, links_.data(), {targets_per_warp});
}

TreeShapes DeviceForest::shapes() const {
  TreeShapes shapes;
  shapes.links.resize(nodes());
  shapes.node_begin = node_begin_;
  cuda::device_download(shapes.links.data(), links_.data(), nodes() * sizeof(NodeLinks));
  shapes.levels.resize(levels_.size());
  levels_.download(shapes.levels);
  return shapes;
}

void DeviceForest::adopt(cuda::DeviceArray<NodeLinks> links, cuda::DeviceArray<std::uint8_t> levels,
                         std::vector<Count> node_begin, std::span<const Count> leaf_begin) {
  links_ = std::move(links);
  levels_ = std::move(levels);
  node_begin_ = std::move(node_begin);
  lay_out(leaf_begin);
}

template <class Visit>
void DeviceForest::for_each_joint(const Visit& visit) {
  visit(core_, nodes(), &Room::nodes);
  visit(moments_, nodes(), &Room::nodes);
  if (!follows_from_counts(kind_)) visit(children_, nodes(), &Room::nodes);
  if (has_boxes_) visit(node_boxes_, nodes(), &Room::nodes);
  visit(sources_, particles(), &Room::particles);
  visit(softening_, particles(), &Room::particles);
}

/// The next walk needs as much, or so; the more there is, the less that varies.
DeviceForest::Room DeviceForest::more_than(const Room& room) {
  if (room.nodes == 0 && room.particles == 0) return {};  // there are no other ranks
  return {room.nodes + room.nodes / 8 + 1024, room.particles + room.particles / 8 + 1024};
}

void DeviceForest::make_room(std::size_t nodes, std::size_t particles) {
  needed_ = {std::max(needed_.nodes, nodes), std::max(needed_.particles, particles)};
  room_ = more_than(needed_);
  const Room behind{nodes, particles};
  bool has_moved = false;
  const auto make = [&](auto& array, std::size_t own, std::size_t needed, std::size_t room) {
    if (array.size() >= own + needed) return;
    if (!std::exchange(has_moved, true)) cuda::follow_background();  // walks read what is moved, and freed
    lengthen(array, own, own + room);
  };
  make(links_, this->nodes(), nodes, room_.nodes);
  for_each_joint([&](auto& array, std::size_t own, std::size_t Room::*kind) {
    make(array, own, behind.*kind, room_.*kind);
  });
}

void DeviceForest::update(const DeviceParticles& particles, const Box& box, const GravityParameters& gravity,
                          const WalkUnits& units, double median_acceleration, int first_active) {
  const auto renew = [](auto& array, std::size_t size, std::size_t room = 0) {
    const std::size_t least = size + room, spare = room + size / 16;
    if (array.size() >= least && array.size() <= least + spare) return;
    array = {};
    array = std::remove_reference_t<decltype(array)>(size + room);
  };
  renew(origin_, places_.size());
  renew(bounds_, places_.size());
  renew(boxes_, places_.size());
  renew(groups_, leaf_groups_.leaf_of_group.size());
  if (links_.size() < nodes() + room_.nodes) lengthen(links_, nodes(), nodes() + room_.nodes);
  for_each_joint(
      [&](auto& array, std::size_t own, std::size_t Room::*kind) { renew(array, own, room_.*kind); });
  const cuda::LeafParticleFields fields{particles.values(grove::fields::position),
                                        particles.values(grove::fields::mass),
                                        particles.values(grove::fields::type),
                                        particles.values(grove::fields::old_acceleration),
                                        particles.values(grove::fields::rung),
                                        first_active,
                                        box};
  const bool finds_levels = gravity.criterion == Criterion::opening_cell && levels_.size() == 0;
  if (finds_levels) renew(levels_, nodes());
  cuda::LeafTrees updated = trees();
  updated.finds_levels = finds_levels;
  builder_->refit(fields, gravity, units, median_acceleration, updated, groups(),
                  static_cast<std::uint32_t>(nodes()));
  if (gravity.order == Order::octupole) cuda::find_octupoles(trees(), static_cast<std::uint32_t>(nodes()));
  if (!gravity.images.expands_far()) {
    balls_ = {};
    return;
  }
  renew(balls_, places_.size());
  cuda::find_balls(trees(), units.length, gravity.images.least_ball, balls_.data());
}

cuda::LeafTrees DeviceForest::trees() const {
  return {.leaves = leaf_groups_.places.data(),
          .count = leaves(),
          .links = links_.data(),
          .runs = leaf_groups_.runs.data(),
          .origin = origin_.data(),
          .bounds = bounds_.data(),
          .boxes = boxes_.data(),
          .groups = groups_.data(),
          .sources = sources_.data(),
          .softening = softening_.data(),
          .core = core_.data(),
          .moments = moments_.data(),
          .children = follows_from_counts(kind_) ? nullptr : children_.data(),
          .node_boxes = has_boxes_ ? node_boxes_.data() : nullptr,
          .levels = levels_.data(),
          .kind = kind_,
          .balls = balls_.data()};
}

cuda::DeviceArray<LeafNotice> DeviceForest::notices(const LeafTargets* told, double unit_length) const {
  cuda::DeviceArray<LeafNotice> collected(places_.size());
  cuda::collect_notices(trees(), told, unit_length, collected.data());
  return collected;
}

}  // namespace grove
