#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

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

  /// Calls work(exchange) for every way of travelling that works here, and says which do not.
  template <class Work>
  void on_every_path(const Work& work) {
    for (const PayloadPath path : {PayloadPath::nccl, PayloadPath::mpi, PayloadPath::staged}) {
      std::unique_ptr<DeviceExchange> exchange;
      try {
        exchange = std::make_unique<DeviceExchange>(comm_, devices_.shared, path);
      } catch (const InputError& error) {
        EXPECT_NE(path, PayloadPath::staged) << "which works everywhere";
        if (comm_.is_master()) std::printf("not tried here: %s\n", error.what());
        continue;
      }
      EXPECT_EQ(exchange->path(), path);
      work(*exchange);
    }
  }

  Communicator comm_{MPI_COMM_WORLD};
  RankDevices devices_;
  std::unique_ptr<DeviceExchange> exchange_;
};

}  // namespace grove::testing
