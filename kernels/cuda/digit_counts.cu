#include "kernels/cuda/digit_counts.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_select.cuh>

#include <vector>

#include "base/hash.hpp"
#include "kernels/cuda/check.cuh"
#include "kernels/cuda/device.hpp"

namespace grove::cuda {
namespace {

struct BitsOf {
  const float* values;
  __device__ std::uint64_t operator()(std::size_t i) const { return __float_as_uint(values[i]); }
};
struct HashOf {
  const ParticleId* ids;
  __device__ std::uint64_t operator()(std::size_t i) const { return mixed(ids[i]); }
};

/// Keys with other bits above give the digit behind the last one, which is not counted.
template <class Key>
struct DigitOf {
  Key key;
  Digit digit;
  __device__ int operator()(std::size_t i) const {
    const std::uint64_t k = key(i);
    const int digits = 1 << (digit.high - digit.low);
    const bool is_wanted = digit.high >= 64 || k >> digit.high == digit.prefix >> digit.high;
    return is_wanted ? static_cast<int>(k >> digit.low) & (digits - 1) : digits;
  }
};

template <class Key>
void count_keys(const Key& key, std::size_t count, const Digit& digit, std::span<Count> counts) {
  const int digits = 1 << (digit.high - digit.low);
  const auto samples =
      thrust::make_transform_iterator(thrust::counting_iterator<std::size_t>(0), DigitOf<Key>{key, digit});
  DeviceArray<unsigned long long> bins(static_cast<std::size_t>(digits));
  std::size_t bytes = 0;
  const auto histogram = [&](void* scratch) {
    GROVE_CUDA(cub::DeviceHistogram::HistogramEven(scratch, bytes, samples, bins.data(), digits + 1, 0,
                                                   digits, static_cast<long long>(count)));
  };
  histogram(nullptr);
  const DeviceArray<std::byte> scratch(bytes);
  histogram(scratch.data());
  launched("Grove::cuda::count_digits");
  std::vector<unsigned long long> host(static_cast<std::size_t>(digits));
  bins.download(host);
  for (std::size_t d = 0; d < host.size(); ++d) counts[d] = static_cast<Count>(host[d]);
}

struct IsAtMost {
  HashOf hash;
  std::uint64_t last;
  __device__ bool operator()(std::uint32_t i) const { return hash(i) <= last; }
};

}  // namespace

void count_digits(const float* values, std::size_t count, const Digit& digit, std::span<Count> counts) {
  count_keys(BitsOf{values}, count, digit, counts);
}
void count_digits(const ParticleId* ids, std::size_t count, const Digit& digit, std::span<Count> counts) {
  count_keys(HashOf{ids}, count, digit, counts);
}

std::vector<std::uint32_t> find_hashes(const ParticleId* ids, std::size_t count, std::uint64_t last) {
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
  launched("Grove::cuda::find_hashes");
  std::uint32_t number = 0;
  found.download(std::span(&number, 1));
  std::vector<std::uint32_t> host(number);
  index.download(host);
  return host;
}

}  // namespace grove::cuda
