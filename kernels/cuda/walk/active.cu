#include "kernels/cuda/walk/active.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_select.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/math/cut_rule.hpp"

namespace grove::cuda {
namespace {

template <class Predicate>
ActiveList select(std::uint32_t count, const Predicate& is_active) {
  ActiveList list{DeviceArray<std::uint32_t>(count), 0};
  if (count == 0) return list;
  const DeviceArray<std::uint32_t> found(1);
  const thrust::counting_iterator<std::uint32_t> numbers(0);
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceSelect::If(nullptr, bytes, numbers, list.numbers.data(), found.data(),
                                   static_cast<int>(count), is_active, stream()));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceSelect::If(scratch.data(), bytes, numbers, list.numbers.data(), found.data(),
                                   static_cast<int>(count), is_active, stream()));
  launched("Grove::cuda::select_active", 0, kernels_of_pass);
  found.download(std::span(&list.count, 1));
  return list;
}

struct HasActive {
  const Group* groups;
  __device__ bool operator()(std::uint32_t g) const { return groups[g].active != 0; }
};

struct PairHasActive {
  const Group* groups;
  std::uint32_t count;
  __device__ bool operator()(std::uint32_t g) const {
    const std::int32_t first = groups[g].first, second = first + group_size;
    if (first % (2 * group_size) != 0) return false;
    if (groups[g].active != 0) return true;
    // In another leaf the next group would be its first.
    return g + 1 < count && groups[g + 1].first == second && groups[g + 1].active != 0;
  }
};

struct IsActive {
  const std::uint8_t* rung;
  int first_active;
  __device__ bool operator()(std::uint32_t i) const { return rung[i] >= first_active; }
};

}  // namespace

ActiveList active_groups(const Group* groups, std::uint32_t count, int targets_per_warp) {
  return targets_per_warp == group_size ? select(count, HasActive{groups})
                                        : select(count, PairHasActive{groups, count});
}

ActiveList active_particles(const std::uint8_t* rung, std::size_t count, int first_active) {
  return select(static_cast<std::uint32_t>(count), IsActive{rung, first_active});
}

}  // namespace grove::cuda
