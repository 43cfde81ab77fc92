#include "kernels/cuda/particle_steps.hpp"

#include <cub/device/device_reduce.cuh>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/device.hpp"
#include "kernels/math/leapfrog.hpp"

namespace grove::cuda {
namespace {

constexpr int threads = 256;

template <class Body>
__global__ void __launch_bounds__(threads) for_each(std::size_t count, const Body body) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < count) body(i);
}

template <class Body>
void run(std::size_t count, const char* name, std::uint64_t bytes, const Body& body) {
  if (count == 0) return;
  for_each<<<static_cast<unsigned>((count + threads - 1) / threads), threads>>>(count, body);
  launched(name, bytes * count);
}

struct Kick {
  double factor;
  const Vec3f* acceleration;
  Vec3d* velocity;
  __device__ void operator()(std::size_t i) const {
    velocity[i] = kicked(velocity[i], acceleration[i], factor);
  }
};

struct Drift {
  double factor;
  const Vec3d* velocity;
  Vec3d* position;
  __device__ void operator()(std::size_t i) const { position[i] = drifted(position[i], velocity[i], factor); }
};

struct StoreSize {
  const Vec3f* acceleration;
  float* size;
  __device__ void operator()(std::size_t i) const {
    size[i] = static_cast<float>(norm(acceleration[i].as<double>()));
  }
};

struct Set {
  std::uint32_t* values;
  std::uint32_t value;
  __device__ void operator()(std::size_t i) const { values[i] = value; }
};

struct TotalsOfParticle {
  TotalsFields fields;
  __device__ Totals operator()(std::uint64_t i) const {
    return Totals::of_particle(fields.mass[i], fields.position[i], fields.velocity[i], fields.potential[i]);
  }
};

struct TotalsOfPiece {
  const Totals* pieces;
  __device__ Totals operator()(std::uint64_t i) const { return pieces[i]; }
};

/// One block per range of items: each thread adds every threads-th one, then pairs of threads are added.
template <class Items>
__global__ void __launch_bounds__(threads)
    sum_range(const Items items, const std::uint64_t* begin, Totals* totals) {
  __shared__ Totals part[threads];
  Totals own;
  for (std::uint64_t i = begin[blockIdx.x] + threadIdx.x; i < begin[blockIdx.x + 1]; i += threads)
    own = own + items(i);
  part[threadIdx.x] = own;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = part[0];
}

}  // namespace

void kick(std::size_t count, double factor, const Vec3f* acceleration, Vec3d* velocity) {
  run(count, "Grove::cuda::kick", sizeof(Vec3f) + 2 * sizeof(Vec3d), Kick{factor, acceleration, velocity});
}

void drift(std::size_t count, double factor, const Vec3d* velocity, Vec3d* position) {
  run(count, "Grove::cuda::drift", 3 * sizeof(Vec3d), Drift{factor, velocity, position});
}

void store_sizes(std::size_t count, const Vec3f* acceleration, float* size) {
  run(count, "Grove::cuda::store_sizes", sizeof(Vec3f) + sizeof(float), StoreSize{acceleration, size});
}

void set_all(std::uint32_t* values, std::size_t count, std::uint32_t value) {
  run(count, "Grove::cuda::set_all", sizeof(value), Set{values, value});
}

double largest_of(const double* values, std::size_t count) {
  if (count == 0) return 0;
  const DeviceArray<double> result(1);
  std::size_t bytes = 0;
  GROVE_CUDA(cub::DeviceReduce::Max(nullptr, bytes, values, result.data(), count));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceReduce::Max(scratch.data(), bytes, values, result.data(), count));
  launched("Grove::cuda::largest_of", count * sizeof(double));
  double largest = 0;
  result.download(std::span(&largest, 1));
  return largest;
}

void sum_leaves(const TotalsFields& fields, const LeafPieces& pieces, Totals* totals) {
  if (pieces.leaves == 0) return;
  const DeviceArray<Totals> of_pieces(pieces.are_leaves() ? 0 : pieces.count);
  Totals* const sums = pieces.are_leaves() ? totals : of_pieces.data();
  sum_range<<<pieces.count, threads>>>(TotalsOfParticle{fields}, pieces.begin.data(), sums);
  launched("Grove::cuda::sum_leaves");
  if (pieces.are_leaves()) return;
  sum_range<<<pieces.leaves, threads>>>(TotalsOfPiece{sums}, pieces.first.data(), totals);
  launched("Grove::cuda::sum_leaves::of_pieces");
}

}  // namespace grove::cuda
