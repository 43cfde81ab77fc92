#pragma once

#include <cstddef>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "kernels/cuda/device/device.hpp"

namespace grove {

/// The arrays of all ranks, joined in rank order, on every rank. own: `count` elements; device.
template <class T>
cuda::DeviceArray<T> gathered(const Communicator& comm, const DeviceExchange& exchange, const T* own,
                              std::size_t count) {
  const auto others = static_cast<std::size_t>(comm.size() - 1);
  std::vector<Count> counts(others + 1, static_cast<Count>(count));
  counts[static_cast<std::size_t>(comm.rank())] = 0;
  const ExchangePlan plan(comm, counts);
  const cuda::DeviceArray<T> copies(others * count);
  for (std::size_t i = 0; i < others; ++i)
    cuda::device_copy(copies.data() + i * count, own, count * sizeof(T));
  const cuda::DeviceArray<T> received(static_cast<std::size_t>(plan.receive_total()));
  exchange.apply(plan, copies.data(), received.data(), sizeof(T));

  const auto before = static_cast<std::size_t>(plan.receive_offsets()[static_cast<std::size_t>(comm.rank())]);
  cuda::DeviceArray<T> all(received.size() + count);
  cuda::device_copy(all.data(), received.data(), before * sizeof(T));
  cuda::device_copy(all.data() + before, own, count * sizeof(T));
  cuda::device_copy(all.data() + before + count, received.data() + before,
                    (received.size() - before) * sizeof(T));
  return all;
}

}  // namespace grove
