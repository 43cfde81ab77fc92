#include "kernels/cuda/particles/census.hpp"

#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_reduce.cuh>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

struct CensusOf {
  const ParticleId* id;
  const double* mass;
  const Vec3d *position, *velocity;

  __device__ Census operator()(std::size_t i) const {
    return Census::of_particle(id[i], mass[i], position[i], velocity[i]);
  }
};

struct Join {
  __host__ __device__ Census operator()(const Census& a, const Census& b) const { return a + b; }
};

}  // namespace

Arriving<Census> take_census(std::size_t count, const ParticleId* id, const double* mass,
                             const Vec3d* position, const Vec3d* velocity) {
  const thrust::counting_iterator<std::size_t> numbers(0);
  const CensusOf census_of{id, mass, position, velocity};
  const DeviceArray<Census> result(1);
  std::size_t bytes = 0;
  const auto reduce = [&](void* scratch) {
    GROVE_CUDA(cub::DeviceReduce::TransformReduce(scratch, bytes, numbers, result.data(), count, Join{},
                                                  census_of, Census{}, stream()));
  };
  reduce(nullptr);
  const DeviceArray<std::byte> scratch(bytes);
  reduce(scratch.data());
  launched("Grove::cuda::take_census", count * (sizeof(ParticleId) + sizeof(double) + 2 * sizeof(Vec3d)),
           kernels_of_pass);
  return Arriving<Census>(result.data());
}

}  // namespace grove::cuda
