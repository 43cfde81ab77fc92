#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/cuda/particles/records.hpp"
#include "kernels/host/bisection.hpp"

/// Code that tests on GPUs share.
namespace grove::testing {

/// Skips where there is no GPU, and says so.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

inline cuda::DeviceRecords on_device(std::span<const Record> records) {
  cuda::DeviceRecords result(records.size());
  std::vector<std::uint32_t> column(records.size());
  for (int c = 0; c < 4; ++c) {
    std::transform(records.begin(), records.end(), column.begin(),
                   [&](const Record& r) { return c < 3 ? r[c] : r.index; });
    result.columns[static_cast<std::size_t>(c)].upload(column);
  }
  return result;
}

inline std::vector<Record> on_host(const cuda::DeviceRecords& records) {
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

}  // namespace grove::testing
