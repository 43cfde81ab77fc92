#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/neighbours/device_nodes.hpp"
#include "kernels/cuda/neighbours/neighbour_groups.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/math/neighbour_tree.hpp"
#include "neighbours/import_search.hpp"
#include "neighbours/neighbours.hpp"

namespace grove {

/// `Neighbours` in the memory of GPUs: the same neighbours in the same order. Visitors are walked by
/// cuda::walk_neighbour_groups(tree(), groups(), visitor).
class DeviceNeighbours {
 public:
  /// All are kept by the caller, and the trees of the forest stay as they are while this lives.
  DeviceNeighbours(const Communicator& comm, const DeviceExchange& exchange, const Domain& domain,
                   const DeviceForest& forest, const Images& images);

  /// As Neighbours::search(). position, reach (device): of the own particles; kept by the caller until the
  /// next search. Radii are below half the edge of a periodic box.
  ///
  /// Collective. Cost: a pass over particles and nodes. If there are other ranks, the nodes also go to the
  /// host, which searches for imports as Neighbours does, and particles of buckets to the ranks that need
  /// them.
  void search(const Vec3d* position, const double* reach, NeighbourSearch kind);

  /// Values of own and imported particles; own (device): of the own ones. memory: holds them, unless nothing
  /// is imported: then these are the own ones. Collective.
  template <Wire T>
  const T* share(const T* own, cuda::DeviceArray<T>& memory) const {
    if (!imports_) return own;
    memory.reserve(size());
    cuda::device_copy(memory.data(), own, own_size() * sizeof(T));
    const cuda::DeviceArray<T> sent(sent_.size());
    cuda::gather_elements(sent.data(), {own, own_size(), nullptr}, sent_.data(), sent_.size(), sizeof(T));
    exchange_.apply(*imports_->particles, sent.data(), memory.data() + own_size(), sizeof(T));
    return memory.data();
  }

  /// The way back: numbers that walks have left at imported particles go to their owners. all (in/out,
  /// device): of own and imported particles; own ones become the largest of all. Collective.
  void give_back_largest(std::uint32_t* all) const;

  /// Particles here, own and imported; the own ones.
  std::size_t size() const { return own_size() + (imports_ ? imported_size() : 0); }
  std::size_t own_size() const { return static_cast<std::size_t>(domain_.leaf_begin.back()); }
  NeighbourTree tree() const;
  cuda::NeighbourGroups groups() const;

 private:
  std::size_t imported_size() const { return static_cast<std::size_t>(imports_->particles->receive_total()); }
  void import(const Vec3d* position, const double* reach);

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  const Domain& domain_;
  const DeviceForest& forest_;
  NearestImage nearest_;
  std::vector<std::uint32_t> own_nodes_;  ///< of each own leaf
  cuda::DeviceNodes nodes_;
  std::optional<ImportSearch> import_search_;  ///< where there are other ranks

  NeighbourSearch kind_ = NeighbourSearch::gather;
  std::optional<Imports> imports_;
  cuda::DeviceArray<std::uint32_t> sent_;  ///< Imports::sent
  cuda::DeviceArray<Vec3d> all_positions_;
  cuda::DeviceArray<double> all_reach_;
  const Vec3d* position_ = nullptr;  ///< [size()]
  const double* reach_ = nullptr;    ///< [size()]
};

}  // namespace grove
