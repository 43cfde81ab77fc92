// The ORB of points that are resident on one GPU: time, and a check of every result.
//
//   bench_orb_gpu LOG2_POINTS LEAVES SHAPE [REPEATS [STEP]]     rule halves
//   bench_orb_gpu LOG2_POINTS 0 SHAPE [REPEATS [STEP]]          rule middle, leaves of 4096
//
// SHAPE: uniform, plummer (99.9 % of the mass), hernquist, cusp (r^-3), plane, identical (10^6 points in one
// place, the rest uniform). With few points the time goes into starting kernels and asking the host:
// LOG2_POINTS 20, 22, 24 with LEAVES 0 show it. STEP: points come in the order of a tree with leaves of 512,
// and have moved since, on each axis by up to so much of the cube's edge, as in the steps of a simulation.
// Points have three 32-bit coordinates and a 64-bit id in no order. Prints the median and the least time in
// milliseconds, after one unmeasured run, the device memory at the peak, and the time of each level of the
// last run.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "kernels/cuda/cuts/bisection.hpp"
#include "kernels/cuda/device/check.cuh"

namespace grove::cuda {
namespace {

enum class Shape : int { uniform, plummer, hernquist, cusp, plane, identical };

__device__ double uniform(std::uint64_t index, int stream) {
  return static_cast<double>(mixed(4 * index + static_cast<std::uint64_t>(stream)) >> 11) * 0x1p-53;
}

/// That holds this fraction of the mass, 0 to 1. Plummer: M(< r) = (1 + r^-2)^-1.5, cut at r = 38.7.
/// Hernquist: M(< r) = r^2 / (r + 1)^2, cut at r = 50. Cusp: mass uniform in log r over six decades.
__device__ double radius(Shape shape, double fraction) {
  if (shape == Shape::plummer) return 1 / sqrt(pow(0.999 * fraction, -2. / 3) - 1) / 38.8;
  if (shape == Shape::cusp) return pow(10.0, -6 * fraction);
  const double m = sqrt(fraction * 2500 / 2601);
  return m / (1 - m) / 50;
}

__global__ void make_points(Shape shape, std::uint64_t count, std::uint32_t* x, std::uint32_t* y,
                            std::uint32_t* z, std::uint32_t* index) {
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    double p[3] = {uniform(i, 0), uniform(i, 1), uniform(i, 2)};
    if (shape == Shape::plane) p[2] = 0.25;
    if (shape == Shape::identical && mixed(i) % count < 1000000) p[0] = p[1] = p[2] = 0.3;
    if (shape == Shape::plummer || shape == Shape::hernquist || shape == Shape::cusp) {
      const double r = radius(shape, p[0]);
      const double c = 2 * p[1] - 1, s = sqrt(1 - c * c), angle = 6.283185307179586 * p[2];
      p[0] = 0.5 + 0.49 * r * s * cos(angle), p[1] = 0.5 + 0.49 * r * s * sin(angle),
      p[2] = 0.5 + 0.49 * r * c;
    }
    x[i] = static_cast<std::uint32_t>(p[0] * 0x1p32);
    y[i] = static_cast<std::uint32_t>(p[1] * 0x1p32);
    z[i] = static_cast<std::uint32_t>(p[2] * 0x1p32);
    index[i] = static_cast<std::uint32_t>(i);
  }
}

__global__ void move_points(double step, int round, std::uint64_t count, std::uint32_t* x, std::uint32_t* y,
                            std::uint32_t* z, const std::uint32_t* index) {
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    std::uint32_t* const p[3] = {x + i, y + i, z + i};
    for (int axis = 0; axis < 3; ++axis) {
      const double moved = *p[axis] + step * 0x1p32 * (2 * uniform(mixed(index[i]) + round, axis) - 1);
      *p[axis] = static_cast<std::uint32_t>(fmin(fmax(moved, 0.), 0x1p32 - 1));
    }
  }
}

__global__ void make_ids(std::uint64_t count, ParticleId* id) {
  for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    id[i] = mixed(i);
}

struct LeafBox {
  std::uint64_t first, count;
  std::uint32_t low[3], high[3];
};

/// Counts records outside their leaf, and adds up a hash of all records, which no order changes.
__global__ void inspect(const LeafBox* leaves, const std::uint32_t* x, const std::uint32_t* y,
                        const std::uint32_t* z, const std::uint32_t* index, unsigned long long* result) {
  const LeafBox& leaf = leaves[blockIdx.x];
  unsigned long long outside = 0, hash = 0;
  for (std::uint64_t i = leaf.first + threadIdx.x; i < leaf.first + leaf.count; i += blockDim.x) {
    const std::uint32_t p[3] = {x[i], y[i], z[i]};
    for (int axis = 0; axis < 3; ++axis) outside += p[axis] < leaf.low[axis] || p[axis] > leaf.high[axis];
    hash += mixed(index[i] ^ mixed(p[0] ^ mixed(p[1] ^ mixed(p[2]))));
  }
  atomicAdd(result, outside);
  atomicAdd(result + 1, hash);
}

struct Inspection {
  unsigned long long outside, hash;
  friend bool operator==(const Inspection&, const Inspection&) = default;
};

Inspection inspect(const DeviceRecords& records, const std::vector<LeafBox>& leaves) {
  const DeviceArray<LeafBox> boxes{std::span(leaves)};
  DeviceArray<unsigned long long> result(2);
  GROVE_CUDA(cudaMemset(result.data(), 0, 2 * sizeof(unsigned long long)));
  const auto& c = records.columns;
  inspect<<<static_cast<unsigned>(leaves.size()), 256>>>(boxes.data(), c[0].data(), c[1].data(), c[2].data(),
                                                         c[3].data(), result.data());
  launched("inspect");
  unsigned long long host[2];
  result.download(host);
  return {host[0], host[1]};
}

/// The first fault of the cells; empty: none.
std::string fault(const CutScheme& scheme, const std::vector<Cell>& cells, std::int64_t leaves_wanted) {
  std::int64_t leaves = 0;
  for (const Cell& cell : cells) {
    if (cell.is_leaf()) {
      ++leaves;
      if (!scheme.is_leaf(cell.count, cell.leaves)) return "a leaf that should have been cut";
      continue;
    }
    const Cell &left = cells[static_cast<std::size_t>(cell.child)],
               &right = cells[static_cast<std::size_t>(cell.child) + 1];
    if (left.count + right.count != cell.count) return "children that do not add up";
    if (scheme.rule == CutRule::halves &&
        left.count != scheme.target(cell.count, cell.count, cell.leaves, 0).longest())
      return "a left child of the wrong number";
    if (left.high[cell.cut.axis] > cell.cut.coordinate || right.low[cell.cut.axis] < cell.cut.coordinate)
      return "children on the wrong side of the cut";
  }
  return leaves == leaves_wanted
             ? ""
             : std::to_string(leaves) + " leaves instead of " + std::to_string(leaves_wanted);
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Brings points into the order of a tree, and moves them.
void order_and_move(DeviceRecords& records, DeviceRecords& spare, const ParticleId* ids, double step,
                    int round) {
  const CutScheme scheme{CutRule::middle, 512};
  SubtreeRoot whole{{}, 0};
  whole.cell.count = whole.cell.weight = static_cast<Count>(records.size());
  whole.cell.leaves = scheme.leaves_of(whole.cell.count);
  cut_to_leaves(scheme, std::span(&whole, 1), records, spare, ids);
  const auto& c = records.columns;
  move_points<<<132 * 16, 256>>>(step, round, records.size(), c[0].data(), c[1].data(), c[2].data(),
                                 c[3].data());
  launched("move_points");
}

int run(int log2, std::int32_t leaves, const std::string& name, int repeats, double step) {
  const std::vector<std::string> names = {"uniform", "plummer", "hernquist", "cusp", "plane", "identical"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::runtime_error("no shape " + name);
  const auto shape = static_cast<Shape>(found - names.begin());
  const std::uint64_t count = std::min<std::uint64_t>(std::uint64_t{1} << log2, 0xffffffffu);
  const CutScheme scheme{leaves > 0 ? CutRule::halves : CutRule::middle, 4096};
  Cell root;
  root.count = root.weight = static_cast<Count>(count);
  root.leaves = leaves > 0 ? leaves : scheme.leaves_of(root.count);

  DeviceRecords records(count), spare(count);
  const DeviceArray<ParticleId> ids(count);
  make_ids<<<132 * 16, 256>>>(count, ids.data());
  launched("make_ids");
  std::vector<double> times;
  std::string wrong;
  PhaseTimers levels;
  std::size_t number = 0;
  for (int i = 0; i < repeats + 1; ++i) {
    const auto& c = records.columns;
    make_points<<<132 * 16, 256>>>(shape, count, c[0].data(), c[1].data(), c[2].data(), c[3].data());
    launched("make_points");
    if (step >= 0) order_and_move(records, spare, ids.data(), step, i);
    std::vector<LeafBox> all = {{0, count, {0, 0, 0}, {~0u, ~0u, ~0u}}};
    const Inspection before = inspect(records, all);
    device_synchronise();
    const auto start = std::chrono::steady_clock::now();
    const SubtreeRoot whole{root, 0};
    levels.clear();
    const std::vector<Cell> cells =
        cut_to_leaves(scheme, std::span(&whole, 1), records, spare, ids.data(), nullptr, &levels)[0];
    device_synchronise();
    if (i > 0) times.push_back(milliseconds_since(start));
    all.clear();
    for (const Cell& cell : cells)
      if (cell.is_leaf())
        all.push_back({static_cast<std::uint64_t>(cell.first),
                       static_cast<std::uint64_t>(cell.count),
                       {cell.low.x, cell.low.y, cell.low.z},
                       {cell.high.x, cell.high.y, cell.high.z}});
    if (wrong.empty()) wrong = fault(scheme, cells, root.leaves);
    if (const Inspection after = inspect(records, all);
        wrong.empty() && !(after == Inspection{0, before.hash}))
      wrong = std::to_string(after.outside) + " records outside their leaves, or others than before";
    number = cells.size();
  }
  std::sort(times.begin(), times.end());
  std::printf("%-9s 2^%-3d %7d leaves  median %8.2f ms  least %8.2f  %5.1f bytes a particle  %zu cells  %s\n",
              name.c_str(), log2, root.leaves, times[times.size() / 2], times[0],
              static_cast<double>(device_memory_use().peak) / static_cast<double>(count), number,
              wrong.empty() ? "exact" : ("WRONG: " + wrong).c_str());
  std::printf("  levels, ms:");
  for (const auto& [level, cost] : levels.all()) std::printf(" %.2f", 1e3 * cost.seconds);
  std::printf("\n");
  return wrong.empty() ? 0 : 1;
}

}  // namespace
}  // namespace grove::cuda

int main(int argc, char** argv) {
  if (argc < 4) {
    std::puts("usage: bench_orb_gpu LOG2_POINTS LEAVES SHAPE [REPEATS [STEP]]");
    return 2;
  }
  try {
    grove::cuda::select_device(0, false);
    return grove::cuda::run(std::atoi(argv[1]), std::atoi(argv[2]), argv[3],
                            argc > 4 ? std::atoi(argv[4]) : 5, argc > 5 ? std::atof(argv[5]) : -1);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
