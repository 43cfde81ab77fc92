// Octrees on one GPU: time by phase.
//
//   bench_octree_gpu LOG2_PARTICLES MODEL [LEAF] [hilbert|morton] [REPEATS]
//
// MODEL: as `grove ic`, with its defaults. LEAF: particles in a leaf of the ORB (rule `middle`), 0 (default):
// one leaf for all. Prints the median of REPEATS (9) after one more, milliseconds, from records in leaf order
// on.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/bisection.hpp"
#include "kernels/cuda/fields.hpp"
#include "kernels/cuda/octree.hpp"
#include "kernels/cuda/tree_update.hpp"
#include "particles/models/model.hpp"

namespace grove {
namespace {

using cuda::DeviceArray;

template <class T>
DeviceArray<T> upload(const std::vector<T>& host) {
  return DeviceArray<T>{std::span<const T>(host)};
}

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
  void print() {
    for (auto& [phase, times] : times_) {
      std::sort(times.begin() + 1, times.end());
      std::printf("  %-12s %8.3f ms\n", phase.c_str(), times[1 + (times.size() - 1) / 2]);
    }
  }

 private:
  std::map<std::string, std::vector<double>> times_;
  std::chrono::steady_clock::time_point last_;
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
    position_ = DeviceArray<Vec3d>{std::span<const Vec3d>(particles.position)};
    mass_ = DeviceArray<double>{std::span<const double>(particles.mass)};
    type_ = DeviceArray<std::uint8_t>{std::span<const std::uint8_t>(particles.type)};
    id_ = DeviceArray<ParticleId>{std::span<const ParticleId>(particles.id)};
    old_ = upload(std::vector<float>(count, 1));
    const cuda::Extent extent = cuda::find_extent(position_.data(), count);
    box_ = Box::around(extent.low, extent.high);
    gravity_.softening.fill(1e-3);
    units_ = WalkUnits::of(box_.edge, 1e-3, particles.mass[0], static_cast<Count>(count));
    cut(leaf > 0 ? leaf : static_cast<Count>(count));
  }

  std::size_t leaves() const { return leaf_begin_.size() - 1; }
  Count nodes() const { return node_begin_.back(); }

  void run(Watch& watch) {
    DeviceArray<std::uint32_t> order(count_);
    watch.start();
    builder_.sort(leaf_begin_, records_, id_.data());
    watch.lap("1 sort");
    node_begin_ = builder_.build(order.data(), links_);
    watch.lap("2 build");
    DeviceArray<Vec3d> position(count_);
    DeviceArray<double> mass(count_);
    cuda::gather_elements(position.data(), {position_.data(), count_, nullptr}, order.data(), count_,
                          sizeof(Vec3d));
    cuda::gather_elements(mass.data(), {mass_.data(), count_, nullptr}, order.data(), count_, sizeof(double));
    watch.lap("3 reorder");
    update({position.data(), mass.data(), type_.data(), old_.data()}, watch);
  }

 private:
  void cut(Count leaf) {
    cuda::DeviceRecords spare(count_);
    cuda::make_records(box_, position_.data(), count_, 0, records_);
    const CutScheme scheme{CutRule::middle, leaf};
    Cell root;
    root.count = root.weight = static_cast<Count>(count_);
    root.leaves = scheme.leaves_of(root.count);
    const cuda::SubtreeRoot whole{root, 0};
    const auto cells = cuda::cut_to_leaves(scheme, std::span(&whole, 1), records_, spare, id_.data())[0];
    leaf_begin_.assign(static_cast<std::size_t>(root.leaves) + 1, root.count);
    for (const Cell& cell : cells)
      if (cell.is_leaf()) leaf_begin_[static_cast<std::size_t>(cell.first_leaf)] = cell.first;
  }

  void update(const cuda::LeafParticleFields& fields, Watch& watch) {
    std::vector<cuda::LeafPlaces> places;
    Count group = 0;
    for (std::size_t i = 0; i < leaves(); ++i) {
      const Count count = leaf_begin_[i + 1] - leaf_begin_[i];
      places.push_back({static_cast<std::uint64_t>(leaf_begin_[i]),
                        static_cast<std::uint64_t>(node_begin_[i]), static_cast<std::uint64_t>(group),
                        static_cast<std::int32_t>(count),
                        static_cast<std::int32_t>(node_begin_[i + 1] - node_begin_[i])});
      group += (count + group_size - 1) / group_size;
    }
    const auto all = static_cast<std::size_t>(nodes());
    const auto device_places = upload(places);
    const DeviceArray<Vec3d> origin(leaves());
    const DeviceArray<TargetBounds> bounds(leaves());
    const DeviceArray<Group> groups(static_cast<std::size_t>(group));
    const DeviceArray<SourceParticle> sources(count_);
    const DeviceArray<float> softening(count_);
    const DeviceArray<NodeCore> core(all);
    const DeviceArray<NodeMoments> moments(all);
    const DeviceArray<std::uint8_t> children(all);
    const cuda::LeafTrees trees{device_places.data(), static_cast<std::uint32_t>(leaves()),
                                links_.data(),        origin.data(),
                                bounds.data(),        groups.data(),
                                sources.data(),       softening.data(),
                                core.data(),          moments.data(),
                                children.data()};
    watch.start();
    update_.run(fields, gravity_, units_, 1, trees, static_cast<std::uint32_t>(group),
                static_cast<std::uint32_t>(all));
    watch.lap("4 moments");
  }

  std::size_t count_;
  GravityParameters gravity_;
  Box box_;
  WalkUnits units_;
  cuda::DeviceRecords records_;
  cuda::OctreeBuilder builder_;
  cuda::TreeUpdate update_;
  std::vector<Count> leaf_begin_, node_begin_;
  DeviceArray<Vec3d> position_;
  DeviceArray<double> mass_;
  DeviceArray<std::uint8_t> type_;
  DeviceArray<float> old_;
  DeviceArray<ParticleId> id_;
  DeviceArray<NodeLinks> links_;
};

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  if (argc < 3) {
    std::puts("usage: bench_octree_gpu LOG2_PARTICLES MODEL [LEAF] [hilbert|morton] [REPEATS]");
    return 2;
  }
  try {
    grove::cuda::select_device(0, false);
    const std::size_t count = std::size_t{1} << std::atoi(argv[1]);
    const auto curve =
        argc > 4 && std::string(argv[4]) == "morton" ? grove::Curve::morton : grove::Curve::hilbert;
    grove::Bench bench(argv[2], count, argc > 3 ? std::atoll(argv[3]) : 0, curve);
    grove::Watch watch;
    for (int i = 0; i <= (argc > 5 ? std::atoi(argv[5]) : 9); ++i) bench.run(watch);
    std::printf("%s 2^%s, %zu leaves, %.3f nodes a particle, %.1f bytes a particle\n", argv[2], argv[1],
                bench.leaves(), static_cast<double>(bench.nodes()) / static_cast<double>(count),
                static_cast<double>(grove::cuda::device_memory_use().peak) / static_cast<double>(count));
    watch.print();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
