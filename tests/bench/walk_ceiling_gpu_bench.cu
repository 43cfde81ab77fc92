// The ceiling of the walk on one GPU: the walk's own sums, of sources that lie in shared memory, without
// tests, lists and staging, on as many warps as the GPU takes.
//
//   bench_walk_ceiling_gpu [CELLS] [PARTICLES] [WALK_MS] [LOG2_PARTICLES]
//
// Prints interactions per second with potential, of each kind, and the time that 2^LOG2_PARTICLES (24)
// particles with CELLS (390) cells and PARTICLES (174) particles each would take, all beyond the reach of
// softening. WALK_MS: what a walk with these interactions took (bench_walk_gpu prints both); the part of the
// ceiling that it reaches is printed too. Medians of 5 after one more.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bench/gpu_bench.hpp"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/walk/target_sums.cuh"

namespace grove::cuda {
namespace {

constexpr int threads = 128;
constexpr int warps = threads / 32;

/// The places of the sources, seen from targets in the unit cube.
enum class Reach : int {
  beyond,  ///< of softening
  near,    ///< beyond it, which shows only when pairs are looked at
  within,  ///< all of it
};

struct Setting {
  float distance;   ///< of the sources from the targets' middle
  float softening;  ///< of sources and targets
};
/// A spline ends at 2.8 softening lengths. Near is what its radius reaches from some point of the cube, but
/// from no target, since those lie within 0.1 of its middle.
Setting setting_of(Reach reach) {
  if (reach == Reach::beyond) return {10, 0.01F};
  return {10, reach == Reach::near ? 9.7F / 2.8F : 10};
}

__device__ Vec3f on_sphere(int i, float radius) {
  const float z = (static_cast<float>(i) + 0.5F) / 16 - 1, s = sqrtf(1 - z * z),
              angle = 2.4F * static_cast<float>(i);
  return {radius * s * cosf(angle), radius * s * sinf(angle), radius * z};
}

/// rounds times a batch of cells or particles on a group of targets, in each warp.
template <Order order, class Shape, bool cells>
__global__ void __launch_bounds__(threads)
    sum(const Setting setting, int rounds, Accumulator<float>* totals) {
  __shared__ StagedBatch batches[warps];
  __shared__ SourceParticle targets[warps][batch_size];
  __shared__ float softening[warps][batch_size];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  targets[warp][lane] = {on_sphere(lane, 0.1F), 1};
  softening[warp][lane] = setting.softening;
  __syncwarp();
  TargetSums<order, Shape, 32> sums(batches[warp]);
  sums.load(targets[warp], softening[warp], batch_size);
  const TargetBounds bounds{{-0.5F, -0.5F, -0.5F}, {0.5F, 0.5F, 0.5F}, 1, setting.softening};
  const Vec3f place = on_sphere(31 - lane, setting.distance);
  const float mass = 1.F / 32, least2 = setting.softening * setting.softening;
  const NodeMoments moments{mass, mass, mass / 2, mass / 3, 0, mass / 4, least2, 0};
  const BatchCounts counts =
      cells ? sums.stage_cell(true, place, {place, mass, 1, setting.softening, 1, 0}, moments, bounds)
            : sums.stage_particle(true, place, mass, setting.softening, bounds);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
    if (cells)
      sums.add_cells(counts);
    else
      sums.add_particles(counts);
  totals[blockIdx.x * threads + threadIdx.x] = sums.total(0);
}

/// Interactions per second.
template <Order order, class Shape, bool cells>
double rate(const char* name, Reach reach) {
  constexpr int rounds = 4000, repeats = 5;
  int device = 0, processors = 0, blocks = 0;
  GROVE_CUDA(cudaGetDevice(&device));
  GROVE_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  GROVE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum<order, Shape, cells>, threads, 0));
  const auto grid = static_cast<std::size_t>(processors * blocks);
  const DeviceArray<Accumulator<float>> totals(grid * threads);
  const double time = bench::milliseconds(repeats, [&] {
    sum<order, Shape, cells>
        <<<static_cast<unsigned>(grid), threads>>>(setting_of(reach), rounds, totals.data());
    launched("bench_walk_ceiling_gpu::sum");
  });
  const double found = static_cast<double>(grid * threads) * batch_size * rounds / time * 1e3;
  std::printf("%-52s %6.3f e12 per second, %d warps a processor\n", name, found * 1e-12, blocks * warps);
  return found;
}

void run(double cells, double particles, double walk, int log2) {
  const double pair = rate<Order::quadrupole, Spline, false>("particles, spline", Reach::beyond);
  rate<Order::quadrupole, Spline, false>("particles, spline, near", Reach::near);
  rate<Order::quadrupole, Spline, false>("particles, spline, all within", Reach::within);
  rate<Order::quadrupole, Plummer, false>("particles, Plummer", Reach::beyond);
  const double monopole = rate<Order::monopole, Spline, true>("monopole cells, spline", Reach::beyond);
  rate<Order::monopole, Plummer, true>("monopole cells, Plummer", Reach::beyond);
  const double quadrupole = rate<Order::quadrupole, Spline, true>("quadrupole cells, spline", Reach::beyond);
  rate<Order::quadrupole, Spline, true>("quadrupole cells, spline, near", Reach::near);
  rate<Order::quadrupole, Spline, true>("quadrupole cells, spline, all within", Reach::within);
  rate<Order::quadrupole, Plummer, true>("quadrupole cells, Plummer", Reach::beyond);
  const auto time = [&](double cell) { return 1e3 * std::exp2(log2) * (cells / cell + particles / pair); };
  std::printf(
      "2^%d particles, %.1f cells and %.1f particles each, spline: %.3f ms with quadrupoles, %.3f with "
      "monopoles\n",
      log2, cells, particles, time(quadrupole), time(monopole));
  if (walk > 0)
    std::printf("a walk of %.3f ms: %.1f %% of the ceiling with quadrupoles, %.1f with monopoles\n", walk,
                100 * time(quadrupole) / walk, 100 * time(monopole) / walk);
}

}  // namespace
}  // namespace grove::cuda

int main(int argc, char** argv) {
  try {
    grove::cuda::select_device(0, false);
    grove::cuda::run(argc > 1 ? std::atof(argv[1]) : 390, argc > 2 ? std::atof(argv[2]) : 174,
                     argc > 3 ? std::atof(argv[3]) : 0, argc > 4 ? std::atoi(argv[4]) : 24);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
