// The work of one of many ranks on its host that grows with their number, on made-up tables
// (many_ranks.hpp).
//
//   bench_many_ranks [--benchmark_filter=...]
//
// 64 to 10000 ranks, one core. In each walk: `top_moments` (of ranks without GPUs), `reach` (unless
// selections are kept). In new cuts: the others; `tables` of ranks with a GPU. Counters: covers of all ranks;
// ranks in reach and the bytes of the search; segments of all ranks.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <utility>

#include "decomposition/join_cells.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/whole_cells.hpp"
#include "forest/top_tree.hpp"
#include "let/let_table.hpp"
#include "let/reach.hpp"
#include "many_ranks.hpp"

namespace grove {
namespace {

const bench::ManyRanks& of(const benchmark::State& state) {
  static std::map<std::int64_t, std::unique_ptr<bench::ManyRanks>> all;
  auto& ranks = all[state.range(0)];
  if (!ranks) ranks = std::make_unique<bench::ManyRanks>(static_cast<int>(state.range(0)));
  return *ranks;
}

/// The moments as they are for walks.
void combine(const bench::ManyRanks& ranks, TopMoments& top) {
  top.begin(ranks.known.cells, ranks.domain.own, ranks.roots, ranks.units, ranks.rule);
  for (std::size_t cover = 0; cover < ranks.sums.size(); ++cover)
    top.take(ranks.known.cover[cover], ranks.sums[cover]);
  top.finish();
}

void top_moments(benchmark::State& state) {
  const bench::ManyRanks& ranks = of(state);
  TopMoments top;
  for (auto _ : state) combine(ranks, top);
  state.counters["covers"] = static_cast<double>(ranks.sums.size());
}

void reach(benchmark::State& state) {
  const bench::ManyRanks& ranks = of(state);
  TopMoments top;
  combine(ranks, top);
  std::size_t in = 0;
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    const Reach found(ranks.known, top.view(), ranks.wanted, ranks.units.length, 0, ranks.rank);
    in = found.in().size();
    bytes = found.bytes();
  }
  state.counters["in_reach"] = static_cast<double>(in);
  state.counters["bytes"] = static_cast<double>(bytes);
}

void known(benchmark::State& state) {
  const bench::ManyRanks& ranks = of(state);
  for (auto _ : state) benchmark::DoNotOptimize(known_cells(ranks.domain, ranks.rank));
}

void tables(benchmark::State& state) {
  const bench::ManyRanks& ranks = of(state);
  for (auto _ : state) benchmark::DoNotOptimize(top_table(ranks.known, ranks.domain.own, ranks.rank));
}

void parts(benchmark::State& state) {
  const bench::ManyRanks& ranks = of(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(WholeCells(ranks.domain));
    const KeyRanges parts(ranks.domain);
    benchmark::DoNotOptimize(PlaceFinder(parts, ranks.rank));
  }
}

/// The cells of one down to covers, as its owner tells of it.
std::vector<Cell> told_of(Cell cell, Count most) {
  cell.child = -1;
  std::vector<Cell> cells{cell};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].count <= most) continue;
    cells[i].child = static_cast<std::int32_t>(cells.size());
    Cell half = cells[i];
    half.child = -1;
    half.count = cells[i].count / 2;
    cells.insert(cells.end(), {half, half});
  }
  return cells;
}

void top_and_join(benchmark::State& state) {
  const bench::ManyRanks& ranks = of(state);
  const auto number = static_cast<std::size_t>(ranks.domain.owners.ranks());
  const auto top = [&] { return top_of(ranks.segments, ranks.scheme, ranks.rank, static_cast<int>(number)); };
  const TopOfSegments first = top();
  const Count most = most_in_cover(first.cells[0].count, number);
  std::vector<Cell> told;
  for (const std::int32_t cell : first.frontier.uncut()) {
    const std::vector<Cell> of_cell = told_of(first.cells[static_cast<std::size_t>(cell)], most);
    told.insert(told.end(), of_cell.begin(), of_cell.end());
  }
  for (auto _ : state) {
    const TopOfSegments again = top();
    benchmark::DoNotOptimize(join_cells(again.cells, again.frontier.uncut(), told));
  }
  state.counters["segments"] = static_cast<double>(ranks.segments.size());
}

void with_ranks(benchmark::internal::Benchmark* bench) {
  for (const int ranks : {64, 256, 1024, 4096, 10000}) bench->Arg(ranks);
  bench->Unit(benchmark::kMillisecond);
}
BENCHMARK(top_moments)->Apply(with_ranks);
BENCHMARK(reach)->Apply(with_ranks);
BENCHMARK(known)->Apply(with_ranks);
BENCHMARK(tables)->Apply(with_ranks);
BENCHMARK(parts)->Apply(with_ranks);
BENCHMARK(top_and_join)->Apply(with_ranks);

}  // namespace
}  // namespace grove

BENCHMARK_MAIN();
