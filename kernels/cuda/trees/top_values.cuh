#pragma once

#include <cstddef>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/top_sum.hpp"

/// The values of cells of the ORB, as walks and selections see them (DeviceTop).
namespace grove::cuda {

inline constexpr unsigned top_threads = 128;

/// Makes it an array of this size, if it is none.
template <class T>
void renew(DeviceArray<T>& array, std::size_t size) {
  if (array.size() == size) return;
  array = {};
  array = DeviceArray<T>(size);
}

/// The core of a cell, prepared for the criterion; `centre` there is not used.
__device__ inline NodeCore shown_core(const TopLinks& cell, const TopSum& sum, const KnownRoots& roots,
                                      const AcceptanceRule& rule) {
  NodeCore core = cell.is_leaf() ? roots.root(cell.first_leaf).core : top_core(sum, rule);
  core.centre = {0, 0, 0};
  return core;
}

__device__ inline Ball shown_ball(const TopLinks& cell, const TopSum& sum, const KnownRoots& roots,
                                  const WalkUnits& units, const Images& images) {
  if (!images.expands_far()) return {};
  return cell.is_leaf() ? roots.root(cell.first_leaf).ball : top_ball(sum, units.length, images.least_ball);
}

}  // namespace grove::cuda
