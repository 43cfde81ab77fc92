#include "let/gpu/device_forest.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "kernels/cuda/leaf_bisection.hpp"
#include "kernels/cuda/leaf_lists.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {

void DeviceForest::lay_out(std::span<const Count> leaf_begin) {
  places_.clear();
  node_begin_.assign(1, 0);
  Count group = 0;
  for (std::size_t i = 0; i + 1 < leaf_begin.size(); ++i) {
    const Count count = leaf_begin[i + 1] - leaf_begin[i];
    if (count > cuda::most_in_leaf)
      throw InputError(
          fmt::format("a leaf has {} particles; on a GPU leaves have at most {}: give a smaller leaf size "
                      "(decomposition.leaf_size, --leaf), or more leaves, or --backend kokkos",
                      count, cuda::most_in_leaf));
    const std::int32_t nodes = local_cells(static_cast<std::int32_t>(count));
    places_.push_back({static_cast<std::uint64_t>(leaf_begin[i]),
                       static_cast<std::uint64_t>(node_begin_.back()), static_cast<std::uint64_t>(group),
                       static_cast<std::int32_t>(count), nodes});
    node_begin_.push_back(node_begin_.back() + nodes);
    group += (count + group_size - 1) / group_size;
  }
  device_places_ = cuda::DeviceArray<cuda::LeafPlaces>{std::span<const cuda::LeafPlaces>(places_)};
  leaf_of_group_ = cuda::DeviceArray<std::uint32_t>(static_cast<std::size_t>(group));
  cuda::number_groups(device_places_.data(), leaves(), leaf_of_group_.data());
}

void DeviceForest::cut(const DeviceParticles& particles, std::span<const Count> leaf_begin,
                       const cuda::DeviceRecords& records) {
  lay_out(leaf_begin);
  links_ = {};
  links_ = cuda::DeviceArray<NodeLinks>(static_cast<std::size_t>(node_begin_.back()));
  order_ = cuda::DeviceArray<std::uint32_t>(particles.size());
  cuda::cut_leaves(leaf_begin, node_begin_, records, particles.values(fields::id), order_.data(),
                   links_.data());
}

void DeviceForest::arrange(DeviceParticles& particles) {
  particles.reorder(order_.data());
  order_ = {};
}

void DeviceForest::update(const DeviceParticles& particles, const GravityParameters& gravity,
                          const WalkUnits& units, double median_acceleration) {
  const auto renew = [](auto& array, std::size_t size) {
    if (array.size() == size) return;
    array = {};
    array = std::remove_reference_t<decltype(array)>(size);
  };
  renew(origin_, places_.size());
  renew(bounds_, places_.size());
  renew(groups_, leaf_of_group_.size());
  renew(sources_, particles.size());
  renew(softening_, particles.size());
  renew(core_, links_.size());
  renew(moments_, links_.size());
  cuda::update_leaves({particles.values(fields::position), particles.values(fields::mass),
                       particles.values(fields::type), particles.values(fields::old_acceleration)},
                      gravity, units, median_acceleration, trees());
}

cuda::LeafTrees DeviceForest::trees() const {
  return {device_places_.data(), leaves(),        links_.data(),     origin_.data(), bounds_.data(),
          groups_.data(),        sources_.data(), softening_.data(), core_.data(),   moments_.data()};
}

cuda::DeviceArray<LeafNotice> DeviceForest::notices() const {
  cuda::DeviceArray<LeafNotice> collected(places_.size());
  cuda::collect_notices(trees(), collected.data());
  return collected;
}

}  // namespace grove
