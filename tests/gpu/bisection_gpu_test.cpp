#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "kernels/cuda/bisection.hpp"
#include "kernels/kokkos/bisection.hpp"
#include "support/bisection_samples.hpp"

namespace grove {
namespace {

using namespace testing;

cuda::DeviceRecords on_device(const Records& records) {
  cuda::DeviceRecords result(records.size());
  std::vector<std::uint32_t> column(records.size());
  for (int c = 0; c < 4; ++c) {
    std::transform(records.begin(), records.end(), column.begin(),
                   [&](const Record& r) { return c < 3 ? r[c] : r.index; });
    result.columns[static_cast<std::size_t>(c)].upload(column);
  }
  return result;
}

std::vector<Record> on_host(const cuda::DeviceRecords& records) {
  std::vector<Record> result(records.size());
  std::vector<std::uint32_t> column(records.size());
  for (int c = 0; c < 4; ++c) {
    records.columns[static_cast<std::size_t>(c)].download(column);
    for (std::size_t i = 0; i < result.size(); ++i) {
      Record& r = result[i];
      (c == 0 ? r.x : c == 1 ? r.y : c == 2 ? r.z : r.index) = column[i];
    }
  }
  return result;
}

void sort_by_id(std::span<Record> records, const std::vector<ParticleId>& id) {
  std::sort(records.begin(), records.end(),
            [&](const Record& a, const Record& b) { return id[a.index] < id[b.index]; });
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
  const std::vector<Cell> found = cuda::cut_to_leaves(scheme, root, records, spare, id.data());
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
}

class GpuBisection : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

TEST_F(GpuBisection, middle_cuts_the_same_cells_as_the_host) {
  for (const std::size_t count : {1u, 2u, 9u, 1000u, 4097u, 300000u})
    for (const Sample& sample : samples(count))
      for (const Count quantum : {Count{1}, Count{64}, Count{4096}})
        if (count / static_cast<std::size_t>(quantum) <= 5000)
          expect_same(sample, {CutRule::middle, quantum}, 0);
}

TEST_F(GpuBisection, halves_cuts_the_same_cells_as_the_host) {
  for (const std::size_t count : {1u, 2u, 7u, 4096u, 300000u})
    for (const Sample& sample : samples(count))
      for (const std::int32_t leaves : {1, 2, 7, 1000})
        if (static_cast<std::size_t>(leaves) <= count) expect_same(sample, {CutRule::halves, 1}, leaves);
}

TEST_F(GpuBisection, halves_cuts_65536_cells_at_once) {
  expect_same(samples(1 << 18).front(), {CutRule::halves, 1}, 1 << 17);
}

TEST_F(GpuBisection, partition_is_stable) {
  const Sample sample = samples(100000)[1];
  const CutScheme scheme{CutRule::middle, 256};
  const Cell root = root_of(scheme, sample.records.size(), static_cast<Count>(sample.records.size()), 0);
  cuda::DeviceRecords records = on_device(sample.records), spare(sample.records.size());
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  const std::vector<Cell> cells = cuda::cut_to_leaves(scheme, root, records, spare, id.data());
  const std::vector<Record> sorted = on_host(records);
  for (const Cell& cell : cells) {
    if (!cell.is_leaf()) continue;
    for (Count i = cell.first - root.first + 1; i < cell.first - root.first + cell.count; ++i)
      ASSERT_LT(sorted[static_cast<std::size_t>(i) - 1].index, sorted[static_cast<std::size_t>(i)].index);
  }
}

TEST_F(GpuBisection, refuses_ids_that_are_not_unique_at_a_cut) {
  Sample sample = samples(5000)[2];  // one point: ids decide
  std::fill(sample.id.begin(), sample.id.end(), 7);
  const CutScheme scheme{CutRule::middle, 64};
  cuda::DeviceRecords records = on_device(sample.records), spare(sample.records.size());
  const cuda::DeviceArray<ParticleId> id{std::span(sample.id)};
  EXPECT_THROW(
      cuda::cut_to_leaves(
          scheme, root_of(scheme, sample.records.size(), static_cast<Count>(sample.records.size()), 0),
          records, spare, id.data()),
      InputError);
}

}  // namespace
}  // namespace grove
