#include "gravity/gpu/device_tree_builder.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/errors.hpp"
#include "kernels/cuda/trees/kd_tree.hpp"
#include "kernels/cuda/trees/leaf_bisection.hpp"
#include "kernels/cuda/trees/octree.hpp"
#include "kernels/cuda/trees/tree_refit.hpp"
#include "kernels/math/group_cuts.hpp"

namespace grove {
namespace {

class DeviceBisections : public DeviceTreeBuilder {
 public:
  std::vector<Count> build(std::span<const Count> leaf_begin, const TreeParticles& particles,
                           std::int32_t targets_per_warp, cuda::DeviceArray<std::uint32_t>& order,
                           cuda::DeviceArray<NodeLinks>& links) override {
    const GroupCuts rule{targets_per_warp};
    std::vector<Count> node_begin{0};
    for (std::size_t i = 0; i + 1 < leaf_begin.size(); ++i) {
      const Count count = leaf_begin[i + 1] - leaf_begin[i];
      if (count > cuda::most_in_leaf)
        throw InputError(
            fmt::format("a leaf has {} particles; on a GPU leaves have at most {}: give a smaller leaf size "
                        "(decomposition.leaf_size, --leaf), or more leaves, or octrees (gravity.tree, "
                        "--tree), or --backend kokkos",
                        count, cuda::most_in_leaf));
      node_begin.push_back(node_begin.back() + rule.cells(static_cast<std::int32_t>(count)));
    }
    links = cuda::DeviceArray<NodeLinks>(static_cast<std::size_t>(node_begin.back()));
    order = cuda::DeviceArray<std::uint32_t>(static_cast<std::size_t>(leaf_begin.back()));
    cuda::cut_leaves(leaf_begin, node_begin, particles.records, particles.id, order.data(), links.data(),
                     rule);
    return node_begin;
  }

  void refit(const cuda::LeafParticleFields& particles, const GravityParameters& gravity,
             const WalkUnits& units, double median_acceleration, const cuda::LeafTrees& trees, std::uint32_t,
             std::uint32_t) const override {
    cuda::update_leaves(particles, gravity, units, median_acceleration, trees);
  }
};

/// Trees whose nodes do not follow from counts.
class DeviceTreesOfNodes : public DeviceTreeBuilder {
 public:
  explicit DeviceTreesOfNodes(cuda::TreeGroups groups) : groups_(groups) {}

  cuda::LeafGroups group(std::span<cuda::LeafPlaces> places, const NodeLinks* links) const override {
    return groups_ == cuda::TreeGroups::nodes ? cuda::nodes_as_groups(places, links)
                                              : DeviceTreeBuilder::group(places, links);
  }
  void refit(const cuda::LeafParticleFields& particles, const GravityParameters& gravity,
             const WalkUnits& units, double median_acceleration, const cuda::LeafTrees& trees,
             std::uint32_t groups, std::uint32_t nodes) const override {
    cuda::TreeRefit(groups_).run(particles, gravity, units, median_acceleration, trees, groups, nodes);
  }

 private:
  cuda::TreeGroups groups_;
};

class DeviceOctrees : public DeviceTreesOfNodes {
 public:
  DeviceOctrees(Curve curve, Count bucket)
      : DeviceTreesOfNodes(cuda::TreeGroups::full), octrees_(curve, static_cast<std::int32_t>(bucket)) {}

  std::vector<Count> build(std::span<const Count> leaf_begin, const TreeParticles& particles, std::int32_t,
                           cuda::DeviceArray<std::uint32_t>& order,
                           cuda::DeviceArray<NodeLinks>& links) override {
    octrees_.sort(leaf_begin, particles.records, particles.id);
    order = cuda::DeviceArray<std::uint32_t>(static_cast<std::size_t>(leaf_begin.back()));
    std::vector<Count> node_begin = octrees_.build(order.data(), links);
    octrees_.release();
    return node_begin;
  }

 private:
  cuda::OctreeBuilder octrees_;
};

class DeviceKdTrees : public DeviceTreesOfNodes {
 public:
  DeviceKdTrees(KdSplit split, std::int32_t bucket)
      : DeviceTreesOfNodes(cuda::TreeGroups::nodes), trees_(split, bucket) {}

  std::vector<Count> build(std::span<const Count> leaf_begin, const TreeParticles& particles, std::int32_t,
                           cuda::DeviceArray<std::uint32_t>& order,
                           cuda::DeviceArray<NodeLinks>& links) override {
    order = cuda::DeviceArray<std::uint32_t>(static_cast<std::size_t>(leaf_begin.back()));
    std::vector<Count> node_begin =
        trees_.build(leaf_begin, {particles.records, particles.id, particles.mass}, order.data(), links);
    trees_.release();
    return node_begin;
  }

 private:
  cuda::KdTreeBuilder trees_;
};

}  // namespace

cuda::LeafGroups DeviceTreeBuilder::group(std::span<cuda::LeafPlaces> places, const NodeLinks*) const {
  return cuda::full_groups_of(places);
}

std::unique_ptr<DeviceTreeBuilder> device_tree_builder(const GravityParameters& gravity) {
  switch (gravity.tree) {
    case LocalTreeKind::bisection:
      return std::make_unique<DeviceBisections>();
    case LocalTreeKind::octree:
      return std::make_unique<DeviceOctrees>(gravity.curve, gravity.bucket);
    case LocalTreeKind::kd:
      return std::make_unique<DeviceKdTrees>(gravity.split, static_cast<std::int32_t>(gravity.bucket));
  }
  throw std::logic_error("no builder on GPUs for this kind of tree");
}

}  // namespace grove
