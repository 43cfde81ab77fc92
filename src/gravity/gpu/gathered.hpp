#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "kernels/cuda/device/device.hpp"

namespace grove {

/// The arrays of all ranks, joined in rank order, on every rank. own: device. counts: elements of each rank.
template <class T>
cuda::DeviceArray<T> gathered(const Communicator& comm, const DeviceExchange& exchange, const T* own,
                              std::span<const Count> counts) {
  const auto self = static_cast<std::size_t>(comm.rank()), others = counts.size() - 1,
             count = static_cast<std::size_t>(counts[self]);
  std::vector<Count> to_each(counts.size(), counts[self]), of_each(counts.begin(), counts.end());
  to_each[self] = of_each[self] = 0;
  const ExchangePlan plan(comm, std::span<const Count>(to_each), std::span<const Count>(of_each));
  const cuda::DeviceArray<T> copies(others * count);
  for (std::size_t i = 0; i < others; ++i)
    cuda::device_copy(copies.data() + i * count, own, count * sizeof(T));
  const cuda::DeviceArray<T> received(static_cast<std::size_t>(plan.receive_total()));
  exchange.apply(plan, copies.data(), received.data(), sizeof(T));

  const auto before = static_cast<std::size_t>(plan.receive_offsets()[self]);
  cuda::DeviceArray<T> all(received.size() + count);
  cuda::device_copy(all.data(), received.data(), before * sizeof(T));
  cuda::device_copy(all.data() + before, own, count * sizeof(T));
  cuda::device_copy(all.data() + before + count, received.data() + before,
                    (received.size() - before) * sizeof(T));
  return all;
}

}  // namespace grove
