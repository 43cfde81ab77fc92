#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "kernels/cuda/cuts/bisection.hpp"
#include "kernels/host/bisection.hpp"
#include "support/bisection_samples.hpp"
#include "support/device_records.hpp"

namespace grove {
namespace {

using namespace testing;

void sort_by_id(std::span<Record> records, const std::vector<ParticleId>& id) {
  std::sort(records.begin(), records.end(),
            [&](const Record& a, const Record& b) { return id[a.index] < id[b.index]; });
}

std::vector<Cell> cut_on_device(const CutScheme& scheme, const Cell& root, cuda::DeviceRecords& records,
                                cuda::DeviceRecords& spare, const ParticleId* ids,
                                const std::uint32_t* weights = nullptr) {
  const cuda::SubtreeRoot whole{root, 0};
  return cuda::cut_to_leaves(scheme, std::span(&whole, 1), records, spare, ids, weights)[0];
}

/// The cells with the weights of their records. weight: by index; sorted: as the cells have them.
std::vector<Cell> weighed(std::vector<Cell> cells, const std::vector<std::uint32_t>& weight,
                          std::span<const Record> sorted) {
  for (std::size_t c = cells.size(); c-- > 0;) {
    Cell& cell = cells[c];
    const auto child = static_cast<std::size_t>(cell.child);
    cell.weight = cell.is_leaf() ? 0 : cells[child].weight + cells[child + 1].weight;
    if (!cell.is_leaf()) continue;
    for (const Record& record : sorted.subspan(static_cast<std::size_t>(cell.first - cells[0].first),
                                               static_cast<std::size_t>(cell.count)))
      cell.weight += weight[record.index];
  }
  return cells;
}

/// Both backends cut the same cells and put the same records into every leaf.
void expect_same(const Sample& sample, const CutScheme& scheme, std::int32_t leaves) {
  SCOPED_TRACE(sample.name + ", " + std::to_string(sample.records.size()) + " records, quantum " +
               std::to_string(scheme.quantum));
  const Cell root = root_of(scheme, sample.records.size(), static_cast<Count>(sample.records.size()), leaves);
  Records expected = sample.records;
  const std::vector<Cell> cells = cut_to_leaves(scheme, root, expected, sample.id.data(), nullptr);

  cuda::DeviceRecords records = on_device(sample.records), spare(sample.records.size());
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  const std::vector<Cell> found = cut_on_device(scheme, root, records, spare, id.data());
  ASSERT_EQ(found.size(), cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    EXPECT_EQ(found[c].low, cells[c].low) << c;
    EXPECT_EQ(found[c].high, cells[c].high) << c;
    EXPECT_EQ(found[c].cut, cells[c].cut) << c;
    ASSERT_TRUE(found[c] == cells[c]) << "cell " << c << " of " << cells.size();
  }
  std::vector<Record> sorted = on_host(records);
  for (const Cell& cell : cells) {
    if (!cell.is_leaf()) continue;
    const auto first = static_cast<std::size_t>(cell.first - root.first);
    const auto count = static_cast<std::size_t>(cell.count);
    sort_by_id(std::span(sorted).subspan(first, count), sample.id);
    sort_by_id(std::span(expected).subspan(first, count), sample.id);
  }
  EXPECT_TRUE(sorted == expected);

  std::vector<std::uint32_t> weight(sample.records.size());
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<std::uint32_t>(mixed(i) >> 32);
  const cuda::DeviceArray<std::uint32_t> weights{std::span<const std::uint32_t>(weight)};
  records = on_device(sample.records);
  EXPECT_TRUE(cut_on_device(scheme, root, records, spare, id.data(), weights.data()) ==
              weighed(cells, weight, expected));
}

/// Both backends cut neighbouring parts of a sample, as roots of their own. ends: of each part.
void expect_same_subtrees(const Sample& sample, const CutScheme& scheme,
                          const std::vector<std::size_t>& ends) {
  Records expected = sample.records;
  std::vector<cuda::SubtreeRoot> roots;
  std::vector<std::vector<Cell>> cells;
  std::size_t begin = 0;
  std::int32_t leaves = 3;  // before these
  for (const std::size_t end : ends) {
    Cell root = root_of(scheme, end - begin, static_cast<Count>(end - begin), 0);
    root.first = 1000 + static_cast<Count>(begin);
    root.first_leaf = leaves;
    leaves += root.leaves;
    roots.push_back({root, begin});
    cells.push_back(cut_to_leaves(scheme, root, std::span(expected).subspan(begin, end - begin),
                                  sample.id.data(), nullptr));
    begin = end;
  }
  cuda::DeviceRecords records = on_device(sample.records), spare(sample.records.size());
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  EXPECT_TRUE(cuda::cut_to_leaves(scheme, roots, records, spare, id.data()) == cells);
  std::vector<Record> sorted = on_host(records);
  for (std::size_t r = 0; r < roots.size(); ++r)
    for (const Cell& cell : cells[r]) {
      if (!cell.is_leaf()) continue;
      const auto first = static_cast<std::size_t>(cell.first) - 1000;
      const auto count = static_cast<std::size_t>(cell.count);
      sort_by_id(std::span(sorted).subspan(first, count), sample.id);
      sort_by_id(std::span(expected).subspan(first, count), sample.id);
    }
  EXPECT_TRUE(sorted == expected);
}

/// The same records, in the order of a tree of 512 to a leaf, from which they have moved by at most `step`
/// since.
Sample in_tree_order(const Sample& sample, Coordinate step) {
  Sample ordered = sample;
  const CutScheme scheme{CutRule::middle, 512};
  const auto count = static_cast<Count>(sample.records.size());
  cut_to_leaves(scheme, root_of(scheme, sample.records.size(), count, 0), ordered.records, sample.id.data(),
                nullptr);
  std::mt19937_64 generator(7);
  for (Record& record : ordered.records)
    for (Coordinate* c : {&record.x, &record.y, &record.z}) {
      const auto moved = static_cast<std::int64_t>(*c) - step +
                         static_cast<std::int64_t>(generator() % (2 * std::uint64_t{step} + 1));
      *c = static_cast<Coordinate>(std::clamp<std::int64_t>(moved, 0, ~Coordinate{0}));
    }
  ordered.name += ", ordered, moved by " + std::to_string(step);
  return ordered;
}

/// Each coordinate mostly near 0, at all scales: every cut takes a little off.
Sample comb(std::size_t count) {
  const auto scaled = [](std::mt19937_64& g) { return any(g) >> (g() % 32); };
  return sample("comb", count, [&](std::mt19937_64& g) {
    return IntegerPosition{scaled(g), scaled(g), scaled(g)};
  });
}

/// How many times the device begins with some levels: once, if it goes by runs of the records.
std::size_t beginnings(const Sample& sample, const CutScheme& scheme) {
  const auto count = static_cast<Count>(sample.records.size());
  const cuda::SubtreeRoot whole{root_of(scheme, sample.records.size(), count, 0), 0};
  cuda::DeviceRecords records = on_device(sample.records), spare(sample.records.size());
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  PhaseTimers levels;
  cuda::cut_to_leaves(scheme, std::span(&whole, 1), records, spare, id.data(), nullptr, &levels);
  return levels.all().size();
}

void expect_refused(const Sample& sample, const CutScheme& scheme) {
  const std::size_t count = sample.records.size();
  cuda::DeviceRecords records = on_device(sample.records), spare(count);
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  const Cell root = root_of(scheme, count, static_cast<Count>(count), 0);
  EXPECT_THROW(cut_on_device(scheme, root, records, spare, id.data()), InputError);
}

using GpuBisection = GpuTest;

void expect_same_by(CutRule rule) {
  for (const std::size_t count : {1u, 2u, 9u, 1000u, 4097u, 300000u})
    for (const Sample& sample : samples(count))
      for (const Count quantum : {Count{1}, Count{64}, Count{4096}})
        if (count / static_cast<std::size_t>(quantum) <= 5000) expect_same(sample, {rule, quantum}, 0);
}
TEST_F(GpuBisection, middle_cuts_the_same_cells_as_the_host) { expect_same_by(CutRule::middle); }
TEST_F(GpuBisection, centre_cuts_the_same_cells_as_the_host) { expect_same_by(CutRule::centre); }

TEST_F(GpuBisection, halves_cuts_the_same_cells_as_the_host) {
  for (const std::size_t count : {1u, 2u, 7u, 4096u, 300000u})
    for (const Sample& sample : samples(count))
      for (const std::int32_t leaves : {1, 2, 7, 1000})
        if (static_cast<std::size_t>(leaves) <= count) expect_same(sample, {CutRule::halves, 1}, leaves);
}

TEST_F(GpuBisection, halves_cuts_65536_cells_at_once) {
  expect_same(samples(1 << 18).front(), {CutRule::halves, 1}, 1 << 17);
}

// Cells of up to 65536 records are searched by one block as a whole, larger ones through a sample.
TEST_F(GpuBisection, domains_cut_the_same_cells_as_the_host) {
  for (const Sample& sample : samples(300000))
    for (const Count domain_cell : {2000, 30000, 131072}) {
      expect_same(sample, {CutRule::domains, 1024, 0, domain_cell}, 0);
      expect_same(in_tree_order(sample, 0), {CutRule::domains, 1024, 0, domain_cell}, 0);
    }
}

TEST_F(GpuBisection, middle_and_centre_cut_cells_around_the_size_that_needs_a_sample) {
  for (const std::size_t count : {65536u, 65537u, 131072u, 139264u})
    for (const Sample& sample : samples(count))
      for (const CutRule rule : {CutRule::middle, CutRule::centre}) expect_same(sample, {rule, 4096}, 0);
}

TEST_F(GpuBisection, halves_cuts_cells_around_the_size_that_needs_a_sample) {
  for (const std::size_t count : {65536u, 65537u, 131074u})
    for (const Sample& sample : samples(count)) expect_same(sample, {CutRule::halves, 1}, 5);
}

// Twelve levels down there may be thousands of cells, but there are few and some of them are still large.
TEST_F(GpuBisection, cuts_deep_trees) {
  expect_same(comb(400000), {CutRule::middle, 1024}, 0);
  expect_same(comb(400000), {CutRule::middle, 64}, 0);
  expect_same(comb(400000), {CutRule::centre, 64}, 0);
}

/// 2^18 records of which the sample that brackets the first cut (bracket_pass.cu) sees one in 64, and only
/// those that are spread evenly: all others are on the left.
Sample misleading() {
  Sample result = sample("misleading", 1 << 18, [](std::mt19937_64& g) {
    return IntegerPosition{any(g) >> 4, any(g) >> 4, any(g) >> 4};
  });
  constexpr std::size_t part = 64, parts = (1 << 18) / part;
  for (std::size_t s = 0; s < parts; ++s) {
    const std::uint64_t in_part = (((part << 12) * (mixed(s) >> 40)) >> 12) >> 24;
    result.records[s * part + in_part].x = static_cast<Coordinate>(s << 20);
  }
  return result;
}

TEST_F(GpuBisection, cuts_cells_whose_sample_misleads) {
  expect_same(misleading(), {CutRule::halves, 1}, 2);
  expect_same(misleading(), {CutRule::middle, 4096}, 0);
  expect_same(misleading(), {CutRule::centre, 4096}, 0);
}

// The host helps with the first cuts. No sample helps if most records are in one place.
TEST_F(GpuBisection, cuts_cells_too_large_for_one_block) {
  const std::size_t count = (std::size_t{1} << 24) + 5000;
  for (const unsigned one_in : {1u, 8u}) {
    const Sample spread = sample("spread: one in " + std::to_string(one_in), count, [&](std::mt19937_64& g) {
      return g() % one_in == 0 ? IntegerPosition{any(g), any(g), any(g)} : IntegerPosition{9, 9, 9};
    });
    expect_same(spread, {CutRule::middle, Count{1} << 20}, 0);
    expect_same(spread, {CutRule::centre, Count{1} << 20}, 0);
  }
}

TEST_F(GpuBisection, cuts_roots_of_all_sizes_at_once) {
  const Sample sample = comb(700000);
  // Leaves, small cells, cells that need a sample, in no order.
  for (const CutRule rule : {CutRule::middle, CutRule::centre})
    expect_same_subtrees(sample, {rule, 512},
                         {100, 200100, 200611, 204611, 270147, 270148, 600000, 699999, 700000});
}

TEST_F(GpuBisection, cuts_records_that_come_in_the_order_of_an_earlier_tree) {
  constexpr std::size_t count = 200000;
  for (const Sample& sample : samples(count))
    for (const Coordinate step : {0u, 1u << 24, 1u << 28}) {  // 1 in 256 and 1 in 16 of all
      const Sample ordered = in_tree_order(sample, step);
      expect_same(ordered, {CutRule::middle, 4096}, 0);
      expect_same(ordered, {CutRule::middle, 1500}, 0);
      expect_same(ordered, {CutRule::halves, 1}, 100);
      expect_same(ordered, {CutRule::centre, 1500}, 0);
    }
}

// Other ways have to begin more than once with the deep tree of a comb.
TEST_F(GpuBisection, goes_by_runs_where_they_are_short) {
  const Sample any_order = comb(200000), ordered = in_tree_order(any_order, 0);
  EXPECT_GT(beginnings(any_order, {CutRule::middle, 2048}), 1);
  EXPECT_EQ(beginnings(ordered, {CutRule::middle, 2048}), 1);
  EXPECT_GT(beginnings(ordered, {CutRule::middle, 512}), 1) << "leaves are as short as runs";
  EXPECT_EQ(beginnings(ordered, {CutRule::centre, 2048}), 1);
}

/// 64 clusters with a core of a few points each; of the rest each lies in one of 90 shells that halve from
/// one to the next, each of which is a leaf under `centre`.
TEST_F(GpuBisection, cuts_records_of_which_leaves_become_too_many_for_runs) {
  const auto place = [](std::mt19937_64& g) {
    IntegerPosition p{any(g) & 3u << 30, any(g) & 3u << 30, any(g) & 3u << 30};
    if (g() % 2 == 0)
      p[static_cast<int>(g() % 3)] |= 1u << g() % 30;
    else
      p.x |= any(g) % 4;
    return p;
  };
  const Sample shells = in_tree_order(sample("shells", 400000, place), 0);
  const CutScheme scheme{CutRule::centre, 2048};
  expect_same(shells, scheme, 0);
  EXPECT_GT(beginnings(shells, scheme), 1);
}

// At each cut all runs of one point are divided by ids: they soon become too many.
TEST_F(GpuBisection, cuts_two_points_of_which_runs_become_too_many) {
  Sample two = samples(400000)[2];
  for (std::size_t i = 0; i < two.records.size() / 3; ++i) two.records[i].x = 0;
  expect_same(two, {CutRule::middle, 1024}, 0);
}

// Half of the records are ordered.
TEST_F(GpuBisection, cuts_records_of_which_half_are_out_of_order) {
  Sample half = in_tree_order(samples(300000).front(), 0);
  std::mt19937_64 generator(3);
  for (std::size_t i = half.records.size() / 2; i < half.records.size(); ++i)
    std::swap(half.records[i], half.records[i + generator() % (half.records.size() - i)]);
  expect_same(half, {CutRule::middle, 1024}, 0);
}

TEST_F(GpuBisection, cuts_ordered_roots_of_all_sizes_at_once) {
  const Sample sample = in_tree_order(comb(700000), 1 << 10);
  const CutScheme scheme{CutRule::middle, 1024};
  expect_same_subtrees(sample, scheme, {100, 200100, 200611, 204611, 270147, 270148, 600000, 699999, 700000});
}

// As after a migration: some records have gone, and others have come behind the rest, so that runs counted
// off are not those of the earlier tree.
TEST_F(GpuBisection, cuts_ordered_records_of_which_some_have_gone_and_others_come) {
  Sample sample = in_tree_order(comb(400000), 1 << 10);
  std::vector<ParticleId> id;
  for (Record& record : sample.records) {
    id.push_back(sample.id[record.index]);
    record.index = static_cast<std::uint32_t>(id.size() - 1);
  }
  sample.id = id;
  const auto is_stray = [](const Record& record) { return record.index % 997 < 2; };
  std::stable_partition(sample.records.begin(), sample.records.end(),
                        [&](const Record& record) { return !is_stray(record); });
  EXPECT_EQ(beginnings(sample, {CutRule::middle, 2048}), 1);
  expect_same(sample, {CutRule::middle, 2048}, 0);
  expect_same_subtrees(sample, {CutRule::middle, 1024}, {100, 100100, 300001, 399000, 400000});
}

TEST_F(GpuBisection, refuses_ids_that_are_not_unique_in_ordered_records) {
  Sample sample = in_tree_order(samples(200000).front(), 0);
  for (Record& record : sample.records) record.x /= 1u << 30;  // four planes
  std::fill(sample.id.begin(), sample.id.end(), 7);
  for (Record& record : sample.records) record.y = record.z = 0;
  expect_refused(sample, {CutRule::middle, 4096});
}

TEST_F(GpuBisection, cuts_many_subtrees_at_once) {
  // Parts of one, two, and many leaves, and the rest.
  expect_same_subtrees(samples(50000)[1], {CutRule::middle, 64}, {64, 192, 20000, 20001, 50000});
}

TEST_F(GpuBisection, partition_is_stable) {
  const Sample sample = samples(100000)[1];
  const CutScheme scheme{CutRule::middle, 256};
  const Cell root = root_of(scheme, sample.records.size(), static_cast<Count>(sample.records.size()), 0);
  cuda::DeviceRecords records = on_device(sample.records), spare(sample.records.size());
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  const std::vector<Cell> cells = cut_on_device(scheme, root, records, spare, id.data());
  const std::vector<Record> sorted = on_host(records);
  for (const Cell& cell : cells) {
    if (!cell.is_leaf()) continue;
    for (Count i = cell.first - root.first + 1; i < cell.first - root.first + cell.count; ++i)
      ASSERT_LT(sorted[static_cast<std::size_t>(i) - 1].index, sorted[static_cast<std::size_t>(i)].index);
  }
}

TEST_F(GpuBisection, refuses_ids_that_are_not_unique_at_a_cut) {
  // One point: ids decide.
  for (const std::size_t count : {5000u, 100000u}) {
    Sample sample = samples(count)[2];
    std::fill(sample.id.begin(), sample.id.end(), 7);
    expect_refused(sample, {CutRule::middle, 64});
  }
}

TEST_F(GpuBisection, refuses_ids_that_are_not_unique_between_two_leaves) {
  for (const std::size_t count : {5000u, 100000u}) {
    Sample sample = samples(count)[2];
    std::iota(sample.id.begin(), sample.id.end(), ParticleId{0});
    sample.id[64] = 63;
    expect_refused(sample, {CutRule::middle, 64});
    sample.id[64] = 64;
    sample.id[70] = 71;  // not at a cut
    expect_same(sample, {CutRule::middle, 64}, 0);
  }
}

}  // namespace
}  // namespace grove
