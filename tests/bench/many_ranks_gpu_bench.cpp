// The work of one of many ranks with GPUs that grows with their number: the tree over the cells of the ORB on
// the GPU, on made-up tables (many_ranks.hpp); its host's part is in bench_many_ranks.
//
//   bench_many_ranks_gpu [RANKS...]
//
// RANKS: 64, 256, 1024, 4096, 10000. In open space, and in a periodic box whose cells act through expansions.
// Milliseconds, medians of five: `new` in new cuts; `begin` (own cells), `copy` (what covers tell, once, on
// the host), `take` (sums from covers to the root), `adopt` (where selections are not kept), `finish`, `far`
// (moments for expansions).

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "gpu_bench.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "let/let_table.hpp"
#include "many_ranks.hpp"

namespace grove {
namespace {

/// Those of the covers of all ranks.
std::vector<cuda::CoverNotice> notices_of(const bench::ManyRanks& ranks, const Images& images) {
  std::vector<cuda::CoverNotice> notices;
  for (std::size_t cover = 0; cover < ranks.sums.size(); ++cover) {
    const TopSum& sum = ranks.sums[cover];
    cuda::CoverNotice notice{
        sum, {}, sum.sum.centre * ranks.units.length, top_core(sum, ranks.rule), {}, ranks.wanted[cover], 0};
    if (images.expands_far()) notice.ball = top_ball(sum, ranks.units.length, images.least_ball);
    notice.root.core = notice.core;
    notice.root.moments = top_moments(sum, ranks.rule.order);
    notice.root.origin = notice.centre;
    notice.root.ball = notice.ball;
    notices.push_back(notice);
  }
  return notices;
}

void measure(const bench::ManyRanks& ranks, const Images& images) {
  constexpr int repeats = 5;
  const TopTable table = top_table(ranks.known, ranks.domain.own, ranks.rank);
  const std::vector<cuda::CoverNotice> all = notices_of(ranks, images);
  std::vector<LeafNotice> own;
  for (LeafRoot root : ranks.roots) {
    if (images.expands_far())
      root.ball = Ball::of_leaf(root.origin, root.low, root.high, ranks.units.length, images.least_ball);
    own.push_back({root, {root.low, root.high, ranks.wanted[0].inverse_tolerance, 0}, root.ball});
  }
  const cuda::DeviceArray<LeafNotice> notices{std::span<const LeafNotice>(own)};
  const std::uint64_t before = cuda::device_memory_use().now;
  cuda::DeviceTop top;
  const double fresh = bench::milliseconds(repeats, [&] {
    top = {};
    top = cuda::DeviceTop(table, cuda::bisection_codes, images);
  });
  std::vector<cuda::CoverNotice> copy;
  const double begin =
                   bench::milliseconds(repeats, [&] { top.begin(notices.data(), ranks.units, ranks.rule); }),
               copying = bench::milliseconds(repeats, [&] { copy = std::vector(all.begin(), all.end()); }),
               take = bench::milliseconds(repeats, [&] { top.take(all); });
  ImportedTop nothing;
  nothing.leaves = table.leaves;
  const double adopt = bench::milliseconds(repeats, [&] { top.adopt(nothing, nullptr, nullptr); }),
               finish = bench::milliseconds(repeats, [&] {
                 top.finish(nullptr, {0.5, 0.5, 0.5});
               });
  double far = 0;
  if (images.expands_far()) {
    const std::vector<FarMoments> covers(all.size());
    const cuda::DeviceArray<FarMoments> leaves{
        std::span<const FarMoments>(std::vector<FarMoments>(own.size()))};
    far = bench::milliseconds(repeats, [&] {
      top.begin_far(leaves.data());
      top.finish_far(covers, nullptr);
    });
  }
  std::printf(
      "%6d ranks, %-8s %7zu covers, %7zu cells: new %7.3f, begin %6.3f, copy %7.3f, take %7.3f, adopt %7.3f, "
      "finish %7.3f, far %8.3f ms; %.1f MB of notices, %.1f MB on the GPU\n",
      ranks.domain.owners.ranks(), images.are_open() ? "open" : "periodic", all.size(),
      ranks.known.cells.size(), fresh, begin, copying, take, adopt, finish, far,
      static_cast<double>(all.size() * sizeof(all[0])) / 1e6,
      static_cast<double>(cuda::device_memory_use().now - before) / 1e6);
  std::fflush(stdout);
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  try {
    grove::cuda::select_device(0, false);
    std::vector<int> numbers;
    for (int i = 1; i < argc; ++i) numbers.push_back(std::atoi(argv[i]));
    if (numbers.empty()) numbers = {64, 256, 1024, 4096, 10000};
    for (const int ranks : numbers) {
      const grove::bench::ManyRanks all(ranks);
      grove::measure(all, {});
      grove::measure(all, {1, 0});
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_many_ranks_gpu: %s\n", error.what());
    return 1;
  }
}
