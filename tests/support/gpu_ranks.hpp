#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "base/errors.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/gpu/devices.hpp"

namespace grove::testing {

/// Ranks that all have a GPU; they share them if there are fewer. Skips where there is none, and says so.
class GpuRanks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fault_of_devices(comm_, true).empty()) GTEST_SKIP() << "no GPU on this machine";
    devices_ = take_devices(comm_, true);
    exchange_ = std::make_unique<DeviceExchange>(comm_, devices_.shared, std::nullopt);
  }

  /// One for every way of travelling that works here; says which do not.
  std::vector<std::unique_ptr<DeviceExchange>> exchanges() {
    std::vector<std::unique_ptr<DeviceExchange>> all;
    for (const PayloadPath path : {PayloadPath::nccl, PayloadPath::mpi, PayloadPath::staged}) {
      try {
        all.push_back(std::make_unique<DeviceExchange>(comm_, devices_.shared, path));
        EXPECT_EQ(all.back()->path(), path);
      } catch (const InputError& error) {
        EXPECT_NE(path, PayloadPath::staged) << "which works everywhere";
        if (comm_.is_master()) std::printf("not tried here: %s\n", error.what());
      }
    }
    return all;
  }

  Communicator comm_{MPI_COMM_WORLD};
  RankDevices devices_;
  std::unique_ptr<DeviceExchange> exchange_;
};

}  // namespace grove::testing
