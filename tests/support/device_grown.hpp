#pragma once

#include <vector>

#include "kernels/cuda/let/leaf_lists.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/kd_tree.hpp"
#include "kernels/cuda/trees/leaf_bisection.hpp"
#include "kernels/cuda/trees/leaf_groups.hpp"
#include "kernels/cuda/trees/leaf_octupoles.hpp"
#include "kernels/cuda/trees/octree.hpp"
#include "kernels/cuda/trees/tree_refit.hpp"
#include "kernels/cuda/walk/walk.hpp"
#include "kernels/math/group_cuts.hpp"
#include "support/device_records.hpp"
#include "support/grown.hpp"

namespace grove::testing {

template <class T>
cuda::DeviceArray<T> upload(const std::vector<T>& host) {
  return cuda::DeviceArray<T>{std::span<const T>(host)};
}
template <class T>
std::vector<T> download(const cuda::DeviceArray<T>& array) {
  std::vector<T> host(array.size());
  array.download(host);
  return host;
}

struct DeviceGrown;

/// Arrays that walks read besides those of a DeviceGrown.
struct DeviceSources {
  cuda::NodeCodes codes;
  cuda::DeviceTop top;
  cuda::DeviceArray<SourceFrame> frames;  ///< of the leaves

  DeviceSources(const DeviceGrown& grown, const GravityParameters& gravity, double median_acceleration);
  /// Others than those of the trees, with no fewer bits for nodes.
  DeviceSources(const DeviceGrown& grown, const GravityParameters& gravity, double median_acceleration,
                const cuda::NodeCodes& codes);
  /// Valid as long as both live.
  cuda::WalkSources view(const DeviceGrown& grown) const;
};

/// Grown, with the leaves cut, prepared and walked on the GPU; the ORB above them is the host's.
struct DeviceGrown {
  Grown host;
  std::vector<Count> node_begin{0};
  std::vector<cuda::LeafPlaces> places;
  std::vector<std::uint32_t> leaf_of_group;

  cuda::DeviceArray<NodeLinks> links;
  cuda::DeviceArray<Vec3d> position, origin;
  cuda::DeviceArray<double> mass;
  cuda::DeviceArray<std::uint8_t> type;
  cuda::DeviceArray<float> old_acceleration, softening;
  cuda::LeafGroups leaf_groups;
  cuda::DeviceArray<TargetBounds> bounds;
  cuda::DeviceArray<TightBox> boxes;
  cuda::DeviceArray<Group> groups;
  cuda::DeviceArray<SourceParticle> sources;
  cuda::DeviceArray<NodeCore> core;
  cuda::DeviceArray<NodeMoments> moments;
  cuda::DeviceArray<std::uint8_t> children;
  cuda::DeviceArray<NodeBox> node_boxes;
  cuda::DeviceArray<std::uint8_t> levels;
  cuda::LeafTrees trees{};
  cuda::TreeRefit tree_refit{cuda::TreeGroups::full};
  LocalTreeKind kind = LocalTreeKind::bisection;

  /// Brings the particles into tree order. targets_per_warp: of cut_leaves().
  void build(Particles& particles, Count quantum, std::int32_t targets_per_warp = group_size) {
    host.sort(particles, quantum);
    for (std::size_t i = 0; i + 1 < host.leaf_begin.size(); ++i)
      node_begin.push_back(node_begin.back() + local_cells(static_cast<std::int32_t>(host.leaf_begin[i + 1] -
                                                                                     host.leaf_begin[i])));
    const cuda::DeviceRecords records = upload_records();
    const cuda::DeviceArray<ParticleId> ids{std::span<const ParticleId>(particles.id)};
    cuda::DeviceArray<std::uint32_t> order(particles.size());
    links = cuda::DeviceArray<NodeLinks>(static_cast<std::size_t>(node_begin.back()));
    cuda::cut_leaves(host.leaf_begin, node_begin, records, ids.data(), order.data(), links.data(),
                     GroupCuts{targets_per_warp});
    particles.reorder(download(order));
    lay_out();
  }

  /// The same with octrees; update() then uses what serves all trees.
  void build_octrees(Particles& particles, Count quantum, Curve curve, std::int32_t bucket = bucket_size) {
    host.sort(particles, quantum);
    const cuda::DeviceRecords records = upload_records();
    const cuda::DeviceArray<ParticleId> ids{std::span<const ParticleId>(particles.id)};
    cuda::DeviceArray<std::uint32_t> order(particles.size());
    cuda::OctreeBuilder builder(curve, bucket);
    builder.sort(host.leaf_begin, records, ids.data());
    node_begin = builder.build(order.data(), links);
    particles.reorder(download(order));
    kind = LocalTreeKind::octree;
    lay_out();
  }

  /// The same with kd-trees.
  void build_kd_trees(Particles& particles, Count quantum, KdSplit split, std::int32_t bucket) {
    host.sort(particles, quantum);
    const cuda::DeviceRecords records = upload_records();
    const cuda::DeviceArray<ParticleId> ids{std::span<const ParticleId>(particles.id)};
    const cuda::DeviceArray<double> masses{std::span<const double>(particles.mass)};
    cuda::DeviceArray<std::uint32_t> order(particles.size());
    node_begin = cuda::KdTreeBuilder(split, bucket)
                     .build(host.leaf_begin, {records, ids.data(), {masses.data(), masses.size()}},
                            order.data(), links);
    particles.reorder(download(order));
    kind = LocalTreeKind::kd;
    tree_refit = cuda::TreeRefit(cuda::TreeGroups::nodes);
    lay_out();
  }

  cuda::DeviceRecords upload_records() const {
    return on_device(std::vector<Record>(host.records.begin(), host.records.end()));
  }

  void lay_out() {
    for (std::size_t i = 0; i + 1 < host.leaf_begin.size(); ++i) {
      const Count first = host.leaf_begin[i], count = host.leaf_begin[i + 1] - first;
      places.push_back({static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(node_begin[i]), 0,
                        static_cast<std::int32_t>(count),
                        static_cast<std::int32_t>(node_begin[i + 1] - node_begin[i]), 0});
    }
    leaf_groups = kind == LocalTreeKind::kd ? cuda::nodes_as_groups(places, links.data())
                                            : cuda::full_groups_of(places);
    leaf_of_group = download(leaf_groups.leaf_of_group);
  }

  cuda::NodeCodes codes() const {
    if (follows_from_counts(kind)) return cuda::bisection_codes;
    std::int32_t most = 0;
    for (const cuda::LeafPlaces& leaf : places) most = std::max(most, leaf.nodes);
    return cuda::NodeCodes::for_trees(most);
  }

  void update(const Particles& particles, const GravityParameters& gravity, double median_acceleration) {
    position = cuda::DeviceArray<Vec3d>{std::span<const Vec3d>(particles.position)};
    mass = cuda::DeviceArray<double>{std::span<const double>(particles.mass)};
    type = cuda::DeviceArray<std::uint8_t>{std::span<const std::uint8_t>(particles.type)};
    old_acceleration = cuda::DeviceArray<float>{std::span<const float>(particles.old_acceleration)};
    origin = cuda::DeviceArray<Vec3d>(places.size());
    bounds = cuda::DeviceArray<TargetBounds>(places.size());
    boxes = cuda::DeviceArray<TightBox>(places.size());
    groups = cuda::DeviceArray<Group>(leaf_of_group.size());
    sources = cuda::DeviceArray<SourceParticle>(particles.size());
    softening = cuda::DeviceArray<float>(particles.size());
    core = cuda::DeviceArray<NodeCore>(links.size());
    moments = cuda::DeviceArray<NodeMoments>(links.size());
    if (needs_boxes(gravity.criterion)) node_boxes = cuda::DeviceArray<NodeBox>(links.size());
    if (!follows_from_counts(kind)) children = cuda::DeviceArray<std::uint8_t>(links.size());
    const bool finds_levels = gravity.criterion == Criterion::opening_cell && levels.size() == 0;
    if (finds_levels) levels = cuda::DeviceArray<std::uint8_t>(links.size());
    trees = {.leaves = leaf_groups.places.data(),
             .count = static_cast<std::uint32_t>(places.size()),
             .links = links.data(),
             .runs = leaf_groups.runs.data(),
             .origin = origin.data(),
             .bounds = bounds.data(),
             .boxes = boxes.data(),
             .groups = groups.data(),
             .sources = sources.data(),
             .softening = softening.data(),
             .core = core.data(),
             .moments = moments.data(),
             .children = children.data(),
             .node_boxes = node_boxes.data(),
             .levels = levels.data(),
             .finds_levels = finds_levels,
             .kind = kind};
    const cuda::LeafParticleFields fields{.position = position.data(),
                                          .mass = mass.data(),
                                          .type = type.data(),
                                          .old_acceleration = old_acceleration.data(),
                                          .box = host.box};
    if (!follows_from_counts(kind))
      tree_refit.run(fields, gravity, host.units, median_acceleration, trees,
                     static_cast<std::uint32_t>(leaf_of_group.size()),
                     static_cast<std::uint32_t>(node_begin.back()));
    else
      cuda::update_leaves(fields, gravity, host.units, median_acceleration, trees);
    if (gravity.order == Order::octupole)
      cuda::find_octupoles(trees, static_cast<std::uint32_t>(node_begin.back()));
    const auto all_core = download(core);
    const auto all_moments = download(moments);
    const auto all_bounds = download(bounds);
    const auto all_origins = download(origin);
    std::vector<LeafRoot> roots;
    for (std::size_t i = 0; i < places.size(); ++i)
      roots.push_back({all_core[places[i].node], all_moments[places[i].node], all_bounds[i].low,
                       all_bounds[i].high, all_origins[i]});
    host.top.combine(host.cells, roots, host.units,
                     AcceptanceRule::of(gravity, host.units, median_acceleration));
  }

  /// Sets acceleration, potential and work of the particles; active: of those in these groups. share_limit:
  /// as in WalkTargets.
  WalkCounts walk(Particles& particles, const GravityParameters& gravity, double median_acceleration,
                  int parts = 1, const std::vector<std::uint32_t>& active = {},
                  int targets_per_warp = group_size, std::uint32_t share_limit = cuda::no_share_limit) const {
    return walk_through(DeviceSources(*this, gravity, median_acceleration), particles, gravity, parts, active,
                        targets_per_warp, share_limit);
  }
  WalkCounts walk_through(const DeviceSources& sources_of_all, Particles& particles,
                          const GravityParameters& gravity, int parts = 1,
                          const std::vector<std::uint32_t>& active = {}, int targets_per_warp = group_size,
                          std::uint32_t share_limit = cuda::no_share_limit) const {
    const cuda::WalkSources from = sources_of_all.view(*this);
    const auto group_leaves = upload(leaf_of_group);
    const auto some = upload(active);
    const auto walked = static_cast<std::uint32_t>(active.empty() ? leaf_of_group.size() : active.size());
    cuda::WalkTargets to{trees, group_leaves.data(), walked, some.data(), parts, targets_per_warp};
    to.share_limit = share_limit;
    const cuda::DeviceArray<Vec3f> acceleration{std::span<const Vec3f>(particles.acceleration)};
    const cuda::DeviceArray<float> potential{std::span<const float>(particles.potential)};
    const cuda::DeviceArray<std::uint32_t> work{std::span<const std::uint32_t>(particles.work)};
    const ForceOutput out{acceleration.data(), potential.data(), work.data()};
    WalkCounts counts = cuda::walk_own(gravity, host.units, from, to, out);
    counts += cuda::walk_others(gravity, host.units, from, to, out);
    acceleration.download(particles.acceleration);
    potential.download(particles.potential);
    work.download(particles.work);
    return counts;
  }
};

inline DeviceSources::DeviceSources(const DeviceGrown& grown, const GravityParameters& gravity,
                                    double median_acceleration)
    : DeviceSources(grown, gravity, median_acceleration, grown.codes()) {}

inline DeviceSources::DeviceSources(const DeviceGrown& grown, const GravityParameters& gravity,
                                    double median_acceleration, const cuda::NodeCodes& node_codes)
    : codes(node_codes), top(grown.host.cells, codes, gravity.images), frames(top.leaf_room()) {
  const WalkUnits& units = grown.host.units;
  const Vec3d middle = grown.host.box.low + Vec3d{1, 1, 1} * (grown.host.box.edge / 2);
  const cuda::DeviceArray<LeafNotice> notices(grown.places.size());
  cuda::collect_notices(grown.trees, nullptr, 1, notices.data());
  top.combine(notices.data(), units, AcceptanceRule::of(gravity, units, median_acceleration), middle);
  std::vector<cuda::LeafPlace> leaf_places;
  for (const cuda::LeafPlaces& leaf : grown.places)
    leaf_places.push_back({static_cast<std::uint32_t>(leaf.node), static_cast<std::uint32_t>(leaf.first)});
  const auto on_gpu = upload(leaf_places);
  cuda::make_frames(cuda::KnownRoots::own_ones(notices.data(), leaf_places.size()), on_gpu.data(), middle,
                    units, frames.data(), gravity.images, nullptr,
                    gravity.images.are_open() ? cuda::ImageNumbers{} : top.leaf_numbers());
}

inline cuda::WalkSources DeviceSources::view(const DeviceGrown& grown) const {
  return cuda::WalkSources::of(grown.trees, codes).below(top.sources(), frames.data());
}

/// Particles are brought into tree order.
inline DeviceGrown grow_on_device(Particles& particles, const GravityParameters& gravity, Count quantum,
                                  double median_acceleration = 0) {
  DeviceGrown grown;
  grown.host.prepare(particles, *std::max_element(gravity.softening.begin(), gravity.softening.end()));
  if (gravity.tree == LocalTreeKind::octree)
    grown.build_octrees(particles, quantum, gravity.curve, static_cast<std::int32_t>(gravity.bucket));
  else if (gravity.tree == LocalTreeKind::kd)
    grown.build_kd_trees(particles, quantum, gravity.split, static_cast<std::int32_t>(gravity.bucket));
  else
    grown.build(particles, quantum);
  grown.update(particles, gravity, median_acceleration);
  return grown;
}

/// evaluate() on the GPU.
inline WalkCounts evaluate_on_device(Particles& particles, const GravityParameters& gravity, Count quantum,
                                     double median_acceleration = 0) {
  return grow_on_device(particles, gravity, quantum, median_acceleration)
      .walk(particles, gravity, median_acceleration);
}

}  // namespace grove::testing
