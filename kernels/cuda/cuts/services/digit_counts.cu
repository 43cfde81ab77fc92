#include "kernels/cuda/cuts/services/digit_counts.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/hash.hpp"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

struct BitsOf {
  const float* values;
  __device__ bool has(std::size_t) const { return true; }
  __device__ std::uint64_t operator()(std::size_t i) const { return __float_as_uint(values[i]); }
};
struct HashOf {
  ActiveIds ids;
  __device__ bool has(std::size_t i) const { return ids.rung[i] >= ids.first_active; }
  __device__ std::uint64_t operator()(std::size_t i) const { return mixed(ids.id[i]); }
};

/// Elements without a key, and keys with other bits above, give the digit behind the last one, which is not
/// counted.
template <class Key>
struct DigitOf {
  Key key;
  Digit digit;
  __device__ int operator()(std::size_t i) const {
    const int digits = 1 << (digit.high - digit.low);
    if (!key.has(i)) return digits;
    const std::uint64_t k = key(i);
    if (digit.is_window) {
      const std::uint64_t above = k < digit.prefix ? 0 : (k - digit.prefix) >> digit.low;
      return above < static_cast<std::uint64_t>(digits) ? static_cast<int>(above) : digits - 1;
    }
    const bool is_wanted = digit.high >= 64 || k >> digit.high == digit.prefix >> digit.high;
    return is_wanted ? static_cast<int>(k >> digit.low) & (digits - 1) : digits;
  }
};

constexpr int digit_threads = 512, most_digit_blocks = 1024;
constexpr int most_digits = 1 << 11;

/// Neighbouring keys often share a digit: of the lanes of a warp that do, one adds for all.
template <class Key>
__global__ void __launch_bounds__(digit_threads)
    count_keys(const DigitOf<Key> digit_of, int digits, std::size_t count, unsigned long long* counts) {
  __shared__ unsigned own[most_digits];
  for (int d = static_cast<int>(threadIdx.x); d < digits; d += digit_threads) own[d] = 0;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::size_t base = std::size_t{blockIdx.x} * digit_threads; base < count;
       base += std::size_t{gridDim.x} * digit_threads) {
    const std::size_t i = base + threadIdx.x;
    const int digit = i < count ? digit_of(i) : digits;
    const unsigned peers = __match_any_sync(~0u, digit);
    if (digit < digits && lane == __ffs(static_cast<int>(peers)) - 1)
      atomicAdd(&own[digit], static_cast<unsigned>(__popc(peers)));
  }
  __syncthreads();
  for (int d = static_cast<int>(threadIdx.x); d < digits; d += digit_threads)
    if (own[d] > 0) atomicAdd(&counts[d], static_cast<unsigned long long>(own[d]));
}

template <class Key>
void count_digits_of(const Key& key, std::size_t count, const Digit& digit, std::span<Count> counts) {
  const int digits = 1 << (digit.high - digit.low);
  if (digits > most_digits) throw std::logic_error("count_digits: a digit has at most 11 bits");
  DeviceArray<unsigned long long> found(static_cast<std::size_t>(digits));
  found.clear();
  const std::size_t blocks = std::min<std::size_t>(blocks_for(count, digit_threads), most_digit_blocks);
  if (blocks > 0)
    count_keys<<<static_cast<unsigned>(blocks), digit_threads>>>(DigitOf<Key>{key, digit}, digits, count,
                                                                 found.data());
  launched("Grove::cuda::count_digits");
  std::vector<unsigned long long> host(static_cast<std::size_t>(digits));
  found.download(host);
  for (std::size_t d = 0; d < host.size(); ++d) counts[d] = static_cast<Count>(host[d]);
}

struct IsAtMost {
  HashOf hash;
  std::uint64_t last;
  __device__ bool operator()(std::uint32_t i) const { return hash.has(i) && hash(i) <= last; }
};

}  // namespace

void count_digits(const float* values, std::size_t count, const Digit& digit, std::span<Count> counts) {
  count_digits_of(BitsOf{values}, count, digit, counts);
}
void count_digits(const ActiveIds& ids, std::size_t count, const Digit& digit, std::span<Count> counts) {
  count_digits_of(HashOf{ids}, count, digit, counts);
}

std::vector<std::uint32_t> find_hashes(const ActiveIds& ids, std::size_t count, std::uint64_t last) {
  if (count == 0) return {};
  const DeviceArray<std::uint32_t> index(count);
  const thrust::counting_iterator<std::uint32_t> all(0);
  const DeviceArray<std::uint32_t> found(1);
  std::size_t bytes = 0;
  const auto select = [&](void* scratch) {
    GROVE_CUDA(
        cub::DeviceSelect::If(scratch, bytes, all, index.data(), found.data(), count, IsAtMost{{ids}, last}));
  };
  select(nullptr);
  const DeviceArray<std::byte> scratch(bytes);
  select(scratch.data());
  launched("Grove::cuda::find_hashes", 0, kernels_of_pass);
  std::uint32_t number = 0;
  found.download(std::span(&number, 1));
  std::vector<std::uint32_t> host(number);
  index.download(host);
  return host;
}

}  // namespace grove::cuda
