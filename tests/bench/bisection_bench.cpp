// Seconds of the bisection from the root to the buckets, on a Hernquist sphere of a million particles.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/host/bisection.hpp"
#include "kernels/kokkos/runtime.hpp"

namespace grove {
namespace {

struct Problem {
  Box box;
  std::vector<Vec3d> position;
  std::vector<ParticleId> id;
};

/// Hernquist sphere of scale 1 within radius 50, from its cumulative mass m(r) = r^2 / (1 + r)^2.
const Problem& hernquist() {
  static const Problem problem = [] {
    constexpr std::size_t count = 1000000;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0, 1);
    Problem p;
    for (std::size_t i = 0; i < count; ++i) {
      const double m = std::sqrt(uniform(random) * (50. / 51) * (50. / 51)), r = m / (1 - m);
      const double z = 2 * uniform(random) - 1, phi = 2 * M_PI * uniform(random), s = std::sqrt(1 - z * z);
      p.position.push_back({r * s * std::cos(phi), r * s * std::sin(phi), r * z});
      p.id.push_back(i);
    }
    p.box = Box::around({-50, -50, -50}, {50, 50, 50});
    return p;
  }();
  return problem;
}

std::vector<Record> records_of(const Problem& p) {
  std::vector<Record> records(p.position.size());
  make_records(p.box, {p.position.data()}, p.position.size(), records.data());
  return records;
}

std::vector<Cell> leaves_of(const Problem& p, std::vector<Record>& records) {
  const CutScheme scheme{CutRule::middle, 4096};
  Cell root{};
  root.count = root.weight = static_cast<Count>(records.size());
  root.leaves = scheme.leaves_of(root.count);
  return cut_to_leaves(scheme, root, records, p.id.data(), nullptr);
}

void make(benchmark::State& state) {
  std::vector<Record> records = records_of(hernquist());
  for (auto _ : state)
    make_records(hernquist().box, {hernquist().position.data()}, hernquist().position.size(), records.data());
}
BENCHMARK(make)->Unit(benchmark::kMillisecond);

/// Argument: 0: records in no order; 1: as an earlier tree left them.
void root_to_leaves(benchmark::State& state) {
  std::vector<Record> made = records_of(hernquist());
  if (state.range(0) == 1) leaves_of(hernquist(), made);
  std::vector<Record> records;
  for (auto _ : state) {
    state.PauseTiming();
    records = made;
    state.ResumeTiming();
    benchmark::DoNotOptimize(leaves_of(hernquist(), records));
  }
}
BENCHMARK(root_to_leaves)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void leaves_to_buckets(benchmark::State& state) {
  std::vector<Record> made = records_of(hernquist()), records;
  std::vector<Count> leaf_begin, cell_begin{0};
  for (const Cell& cell : leaves_of(hernquist(), made))
    if (cell.is_leaf()) leaf_begin.push_back(cell.first);
  std::sort(leaf_begin.begin(), leaf_begin.end());
  leaf_begin.push_back(static_cast<Count>(made.size()));
  for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf)
    cell_begin.push_back(cell_begin[leaf] +
                         local_cells(static_cast<std::int32_t>(leaf_begin[leaf + 1] - leaf_begin[leaf])));
  std::vector<LocalCell> cells(static_cast<std::size_t>(cell_begin.back()));
  // As after a migration: the particles of a leaf lie together, in no order.
  std::vector<ParticleId> id(made.size());
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = hernquist().id[made[i].index];
    made[i].index = static_cast<std::uint32_t>(i);
  }
  for (auto _ : state) {
    state.PauseTiming();
    records = made;
    state.ResumeTiming();
    cut_leaves(leaf_begin, records.data(), id.data(), cell_begin, cells.data());
  }
}
BENCHMARK(leaves_to_buckets)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  const grove::KokkosRuntime kokkos;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
