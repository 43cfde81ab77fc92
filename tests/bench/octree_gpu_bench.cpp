// Octrees on one GPU: time by phase.
//
//   bench_octree_gpu PARTICLES[,...] MODEL [LEAF] [hilbert|morton] [REPEATS] [THETA[,...]]
//
// PARTICLES: a number, or 2^K. MODEL: as `grove ic`, with its defaults. LEAF: particles in a leaf of the ORB
// (rule `middle`), 0 (default): one leaf for all. THETA: opening angles to walk with, too (criterion
// opening_radius: b/theta; quadrupoles, softening 1e-3), by groups and along ropes in the order of the tree.
// A line for each number of particles and each THETA: medians of REPEATS (9) after one more, milliseconds,
// from records in leaf order on; of walks also cells, particles and opening tests of groups per particle, and
// the errors of 1024 accelerations against direct summation.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/gpu_bench.hpp"
#include "kernels/cuda/cuts/bisection.hpp"
#include "kernels/cuda/let/leaf_lists.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/trees/leaf_groups.hpp"
#include "kernels/cuda/trees/octree.hpp"
#include "kernels/cuda/trees/tree_refit.hpp"
#include "kernels/cuda/walk/rope_walk.hpp"
#include "kernels/cuda/walk/walk.hpp"
#include "particles/models/model.hpp"

namespace grove {
namespace {

using cuda::DeviceArray;

template <class T, class Allocator>
DeviceArray<T> upload(const std::vector<T, Allocator>& host) {
  return DeviceArray<T>{std::span<const T>(host)};
}

constexpr const char* phases[] = {"sort", "build", "reorder", "moments", "walk", "rope"};

/// Milliseconds by phase.
class Watch {
 public:
  void start() {
    cuda::device_synchronise();
    last_ = std::chrono::steady_clock::now();
  }
  void lap(const std::string& phase) {
    const auto begin = last_;
    start();
    times_[phase].push_back(std::chrono::duration<double, std::milli>(last_ - begin).count());
  }
  /// The median, without the first one; 0 of none.
  double median(const std::string& phase) {
    auto& times = times_[phase];
    if (times.size() < 2) return 0;
    std::sort(times.begin() + 1, times.end());
    return times[1 + (times.size() - 1) / 2];
  }

 private:
  std::map<std::string, std::vector<double>> times_;
  std::chrono::steady_clock::time_point last_;
};

/// The results of an update of trees.
struct TreeArrays {
  TreeArrays(std::size_t leaves, std::size_t all_groups, std::size_t particles, std::size_t nodes)
      : origin(leaves),
        bounds(leaves),
        boxes(leaves),
        groups(all_groups),
        sources(particles),
        softening(particles),
        core(nodes),
        moments(nodes),
        children(nodes) {}

  DeviceArray<Vec3d> origin;
  DeviceArray<TargetBounds> bounds;
  DeviceArray<TightBox> boxes;
  DeviceArray<Group> groups;
  DeviceArray<SourceParticle> sources;
  DeviceArray<float> softening;
  DeviceArray<NodeCore> core;
  DeviceArray<NodeMoments> moments;
  DeviceArray<std::uint8_t> children;
};

/// The result of a walk.
struct Walked {
  WalkCounts counts;
  bench::Errors errors;
};

/// Particles on the GPU, and their records in the order of leaves.
class Bench {
 public:
  Bench(const std::string& model, std::size_t count, Count leaf, Curve curve)
      : count_(count), records_(count), builder_(curve) {
    ModelParameters parameters;
    parameters.model = model;
    parameters.particles = static_cast<Count>(count);
    const Particles particles = make_particles(parameters);
    if (particles.size() != count) throw std::runtime_error("the model makes another number of particles");
    position_ = upload(particles.position);
    mass_ = upload(particles.mass);
    type_ = upload(particles.type);
    id_ = upload(particles.id);
    old_ = upload(std::vector<float>(count, 1));
    const cuda::Extent extent = cuda::find_extent(position_.data(), count).get();
    box_ = Box::around(extent.low, extent.high);
    gravity_.softening.fill(softening);
    units_ = WalkUnits::of(box_.edge, softening, particles.mass[0], static_cast<Count>(count));
    cut(leaf > 0 ? leaf : static_cast<Count>(count));
  }

  std::size_t leaves() const { return leaf_begin_.size() - 1; }
  Count nodes() const { return node_begin_.back(); }

  /// All of a pass; walks with an opening angle, if there is one.
  void run(std::optional<double> theta, Watch& watch) {
    if (theta) gravity_.criterion = Criterion::opening_radius, gravity_.theta = *theta;
    trees_.reset();
    DeviceArray<std::uint32_t> order(count_);
    watch.start();
    builder_.sort(leaf_begin_, records_, id_.data());
    watch.lap("sort");
    node_begin_ = builder_.build(order.data(), links_);
    watch.lap("build");
    ordered_position_.reserve(count_), ordered_mass_.reserve(count_);
    watch.start();
    cuda::gather_elements(ordered_position_.data(), {position_.data(), count_, nullptr}, order.data(), count_,
                          sizeof(Vec3d));
    cuda::gather_elements(ordered_mass_.data(), {mass_.data(), count_, nullptr}, order.data(), count_,
                          sizeof(double));
    watch.lap("reorder");
    lay_out();
    watch.start();
    update_.run({ordered_position_.data(), ordered_mass_.data(), type_.data(), old_.data()}, gravity_, units_,
                1, view_, groups(), static_cast<std::uint32_t>(nodes()));
    watch.lap("moments");
    if (theta) walk(watch);
  }

  const std::optional<Walked>& walked() const { return walked_; }

 private:
  static constexpr double softening = 1e-3;

  void cut(Count leaf) {
    cuda::DeviceRecords spare(count_);
    cuda::make_records(box_, {position_.data()}, count_, 0, records_);
    const CutScheme scheme{CutRule::middle, leaf};
    Cell root;
    root.count = root.weight = static_cast<Count>(count_);
    root.leaves = scheme.leaves_of(root.count);
    const cuda::SubtreeRoot whole{root, 0};
    cells_ = cuda::cut_to_leaves(scheme, std::span(&whole, 1), records_, spare, id_.data())[0];
    leaf_begin_.assign(static_cast<std::size_t>(root.leaves) + 1, root.count);
    for (const Cell& cell : cells_)
      if (cell.is_leaf()) leaf_begin_[static_cast<std::size_t>(cell.first_leaf)] = cell.first;
  }

  void lay_out() {
    places_.clear();
    for (std::size_t i = 0; i < leaves(); ++i) {
      const Count count = leaf_begin_[i + 1] - leaf_begin_[i];
      places_.push_back({static_cast<std::uint64_t>(leaf_begin_[i]),
                         static_cast<std::uint64_t>(node_begin_[i]), 0, static_cast<std::int32_t>(count),
                         static_cast<std::int32_t>(node_begin_[i + 1] - node_begin_[i]), 0});
    }
    leaf_groups_ = cuda::full_groups_of(places_);
    trees_.emplace(leaves(), leaf_groups_.runs.size(), count_, static_cast<std::size_t>(nodes()));
    view_ = {.leaves = leaf_groups_.places.data(),
             .count = static_cast<std::uint32_t>(leaves()),
             .links = links_.data(),
             .runs = leaf_groups_.runs.data(),
             .origin = trees_->origin.data(),
             .bounds = trees_->bounds.data(),
             .boxes = trees_->boxes.data(),
             .groups = trees_->groups.data(),
             .sources = trees_->sources.data(),
             .softening = trees_->softening.data(),
             .core = trees_->core.data(),
             .moments = trees_->moments.data(),
             .children = trees_->children.data(),
             .kind = LocalTreeKind::octree};
  }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(trees_->groups.size()); }

  /// The cells above the leaves, and the frames of these.
  cuda::DeviceTop make_top(const DeviceArray<SourceFrame>& frames) const {
    std::int32_t largest = 0;
    std::vector<cuda::LeafPlace> at;
    for (const cuda::LeafPlaces& leaf : places_) {
      largest = std::max(largest, leaf.nodes);
      at.push_back({static_cast<std::uint32_t>(leaf.node), static_cast<std::uint32_t>(leaf.first)});
    }
    const DeviceArray<LeafNotice> notices(leaves());
    cuda::collect_notices(view_, nullptr, 1, notices.data());
    cuda::DeviceTop top(cells_, cuda::NodeCodes::for_trees(largest));
    const Vec3d middle = box_.low + Vec3d{1, 1, 1} * (box_.edge / 2);
    top.combine(notices.data(), units_, AcceptanceRule::of(gravity_, units_, 1), middle);
    cuda::make_frames(cuda::KnownRoots::own_ones(notices.data(), at.size()), upload(at).data(), middle,
                      units_, frames.data());
    return top;
  }

  void walk(Watch& watch) {
    const DeviceArray<SourceFrame> frames(leaves());
    const cuda::DeviceTop top = make_top(frames);
    const cuda::TopSources above = top.sources();
    const cuda::WalkSources from = cuda::WalkSources::of(view_, above.codes).below(above, frames.data());
    const DeviceArray<Vec3f> acceleration(count_);
    const DeviceArray<float> potential(count_);
    const DeviceArray<std::uint32_t> work(count_);
    const ForceOutput out{acceleration.data(), potential.data(), work.data()};
    const cuda::TopCells cells = top.cells();
    const auto ropes = cuda::top_ropes(above, cells);
    watch.start();
    cuda::rope_walk(gravity_, units_, 0, from, {cells, ropes.data()},
                    {view_, old_.data(), nullptr, static_cast<std::uint32_t>(count_)}, out);
    watch.lap("rope");
    const cuda::WalkTargets to{view_, leaf_groups_.leaf_of_group.data(), groups(), nullptr,
                               cuda::walk_parts(groups())};
    WalkCounts counts = cuda::walk_own(gravity_, units_, from, to, out);
    counts += cuda::walk_others(gravity_, units_, from, to, out);
    watch.lap("walk");
    if (walked_) return;
    std::vector<Vec3f> found(count_);
    acceleration.download(found);
    walked_ = {counts, bench::errors_of(
                           gravity_, {ordered_position_.data(), ordered_mass_.data(), type_.data(), count_},
                           0, found)};
  }

  std::size_t count_;
  GravityParameters gravity_;
  Box box_;
  WalkUnits units_;
  cuda::DeviceRecords records_;
  cuda::OctreeBuilder builder_;
  cuda::TreeRefit update_{cuda::TreeGroups::full};
  std::vector<Cell> cells_;
  std::vector<Count> leaf_begin_, node_begin_;
  DeviceArray<Vec3d> position_, ordered_position_;
  DeviceArray<double> mass_, ordered_mass_;
  DeviceArray<std::uint8_t> type_;
  DeviceArray<float> old_;
  DeviceArray<ParticleId> id_;
  DeviceArray<NodeLinks> links_;
  std::vector<cuda::LeafPlaces> places_;
  cuda::LeafGroups leaf_groups_;
  std::optional<TreeArrays> trees_;
  cuda::LeafTrees view_{};
  std::optional<Walked> walked_;
};

struct Setting {
  std::string model;
  Count leaf = 0;
  Curve curve = Curve::hilbert;
  int repeats = 9;
};

/// One line of the table.
void measure(const Setting& setting, std::size_t count, std::optional<double> theta) {
  cuda::reset_peak_device_memory();
  Bench bench(setting.model, count, setting.leaf, setting.curve);
  Watch watch;
  for (int i = 0; i <= setting.repeats; ++i) bench.run(theta, watch);
  const auto n = static_cast<double>(count);
  std::printf("%9zu %7zu", count, bench.leaves());
  for (const char* phase : phases) std::printf(" %9.3f", watch.median(phase));
  std::printf(" %6.3f %6.1f", static_cast<double>(bench.nodes()) / n,
              static_cast<double>(cuda::device_memory_use().peak) / n);
  if (bench.walked()) {
    const auto& [counts, errors] = *bench.walked();
    std::printf("  %5.2f %7.1f %7.1f %6.1f  %.2e %.2e %.2e", *theta, static_cast<double>(counts.cell) / n,
                static_cast<double>(counts.particle) / n, static_cast<double>(counts.tests) / n,
                errors.median, errors.p99, errors.largest);
  }
  std::puts("");
}

void run(const Setting& setting, const std::string& counts, const std::string& thetas) {
  std::printf("%s\n        N  leaves", setting.model.c_str());
  for (const char* phase : phases) std::printf(" %9s", phase);
  std::puts("  nodes  bytes  theta   cells particles tests, errors");
  for (const std::string& count : bench::items_of(counts)) {
    if (thetas.empty()) measure(setting, bench::number_of(count), {});
    for (const std::string& theta : bench::items_of(thetas))
      measure(setting, bench::number_of(count), std::stod(theta));
  }
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  if (argc < 3) {
    std::puts(
        "usage: bench_octree_gpu PARTICLES[,...] MODEL [LEAF] [hilbert|morton] [REPEATS] [THETA[,...]]");
    return 2;
  }
  try {
    grove::cuda::select_device(0, false);
    grove::Setting setting{argv[2]};
    if (argc > 3) setting.leaf = std::atoll(argv[3]);
    if (argc > 4 && std::string(argv[4]) == "morton") setting.curve = grove::Curve::morton;
    if (argc > 5) setting.repeats = std::atoi(argv[5]);
    grove::run(setting, argv[1], argc > 6 ? argv[6] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
