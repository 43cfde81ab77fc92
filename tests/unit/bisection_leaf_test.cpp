// From the leaves to the buckets.
#include "kernels/host/bisection_leaf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/host/bisection.hpp"
#include "kernels/host/bisection_avx512.hpp"
#include "support/bisection_samples.hpp"
#include "support/naive_bisection.hpp"

namespace grove {
namespace {

using namespace testing;

template <class Simd>
void cut_by(Record* records, std::int32_t count, const ParticleId* id, LocalCell* cells) {
  bisection::cut_leaf<Simd>(GroupCuts{}, records, count, id, cells);
}

/// The code under test on either instruction set.
struct LeafPath {
  const char* name;
  void (*cut)(Record*, std::int32_t, const ParticleId*, LocalCell*);
};

const LeafPath leaf_paths[] = {
    {"portable", cut_by<bisection::Portable>},
#ifdef GROVE_BISECTION_AVX512
    {"avx512", cut_by<bisection::Avx512>},
#endif
};

TEST(LeafBisection, leaf_order_is_that_of_a_naive_sort) {
  std::vector<std::size_t> counts(70);
  std::iota(counts.begin(), counts.end(), 1);
  counts.insert(counts.end(), {95, 96, 97, 128, 255, 256, 257, 1000, 4095, 4096});
  for (const std::size_t count : counts)
    for (const Sample& s : samples(count)) {
      const Records wanted = naive_leaf_order(s.records, s.id);
      for (const LeafPath& path : leaf_paths) {
        SCOPED_TRACE(s.name + " " + path.name + " " + std::to_string(count));
        Records records = s.records;
        std::vector<LocalCell> cells(static_cast<std::size_t>(local_cells(static_cast<std::int32_t>(count))));
        path.cut(records.data(), static_cast<std::int32_t>(count), s.id.data(), cells.data());
        EXPECT_TRUE(records == wanted);
        for (const LocalCell& cell : cells)
          expect_tight(cell.low, cell.high,
                       std::span(records).subspan(static_cast<std::size_t>(cell.first),
                                                  static_cast<std::size_t>(cell.count)));
      }
    }
}

TEST(LeafBisection, leaf_cells_nest_and_are_stored_depth_first) {
  const std::int32_t count = 1003;
  Sample s = samples(static_cast<std::size_t>(count))[1];
  std::vector<LocalCell> cells(static_cast<std::size_t>(local_cells(count)));
  cut_leaf(s.records.data(), count, s.id.data(), cells.data());
  std::int32_t buckets = 0, next = 1;
  const std::function<void(std::int32_t)> visit = [&](std::int32_t index) {
    const LocalCell cell = cells[static_cast<std::size_t>(index)];
    EXPECT_EQ(cell.is_bucket(), cell.count <= bucket_size);
    if (cell.is_bucket()) {
      EXPECT_EQ(cell.first, buckets++ * bucket_size);
      EXPECT_EQ(cell.count, std::min(bucket_size, count - cell.first));
      return;
    }
    EXPECT_EQ(cell.child, next);
    next += 2;
    const LocalCell *left = &cells[static_cast<std::size_t>(cell.child)], *right = left + 1;
    EXPECT_EQ(left->first, cell.first);
    EXPECT_EQ(right->first, cell.first + left->count);
    EXPECT_EQ(left->count + right->count, cell.count);
    visit(cell.child);
    visit(cell.child + 1);
  };
  visit(0);
  EXPECT_EQ(next, local_cells(count));
  EXPECT_EQ(cells[0].count, count);
}

TEST(LeafBisection, final_order_does_not_depend_on_the_order_given) {
  for (const Sample& s : samples(20000)) {
    std::vector<ParticleId> orders[2];
    for (int shuffled = 0; shuffled < 2; ++shuffled) {
      Records records = s.records;
      std::vector<ParticleId> id = s.id;
      if (shuffled) {
        std::mt19937_64 random(11);
        std::shuffle(records.begin(), records.end(), random);
        for (std::uint32_t i = 0; i < records.size(); ++i) {  // other indices, too
          id[i] = s.id[records[i].index];
          records[i].index = i;
        }
      }
      const CutScheme scheme{CutRule::middle, 1024};
      std::vector<Count> begin, cell_begin{0};
      for (const Cell& cell :
           cut_to_leaves(scheme, root_of(scheme, records.size(), 0, 0), records, id.data(), nullptr))
        if (cell.is_leaf()) begin.push_back(cell.first - first_of_root);
      begin.push_back(static_cast<Count>(records.size()));
      std::sort(begin.begin(), begin.end());
      for (std::size_t leaf = 0; leaf + 1 < begin.size(); ++leaf)
        cell_begin.push_back(cell_begin[leaf] +
                             local_cells(static_cast<std::int32_t>(begin[leaf + 1] - begin[leaf])));
      std::vector<LocalCell> cells(static_cast<std::size_t>(cell_begin.back()));
      cut_leaves(begin, records.data(), id.data(), cell_begin, cells.data());
      for (const Record& r : records) orders[shuffled].push_back(id[r.index]);
    }
    EXPECT_TRUE(orders[0] == orders[1]) << s.name;
  }
}

}  // namespace
}  // namespace grove
