#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/run_values.hpp"
#include "kernels/cuda/device/device.hpp"

namespace grove {

/// The particles of all ranks as they stand in the order of all leaves: runs of them, one after the other.
class OrderOfLeaves {
 public:
  struct Run {
    int rank;
    std::size_t begin, count;  ///< in the arrays of that rank
    std::size_t place;         ///< of the first one among those of all
  };

  /// Collective.
  OrderOfLeaves(const Communicator& comm, const Domain& domain)
      : counts_(static_cast<std::size_t>(comm.size()), 0) {
    std::vector<Count> own;
    for (const OwnLeaves::Run& run : domain.own.runs())
      own.push_back(domain.leaf_begin[static_cast<std::size_t>(run.before + run.end - run.begin)] -
                    domain.leaf_begin[static_cast<std::size_t>(run.before)]);
    const std::vector<Count> particles = values_of_runs(comm, domain.owners, own);
    std::size_t place = 0;
    for (std::size_t i = 0; i < particles.size(); ++i) {
      const int rank = domain.owners.runs()[i].rank;
      Count& before = counts_[static_cast<std::size_t>(rank)];
      const Count count = particles[i];
      runs_.push_back({rank, static_cast<std::size_t>(before), static_cast<std::size_t>(count), place});
      before += count;
      place += static_cast<std::size_t>(count);
    }
  }

  std::span<const Run> runs() const { return runs_; }
  std::span<const Count> counts() const { return counts_; }  ///< by rank

 private:
  std::vector<Run> runs_;
  std::vector<Count> counts_;
};

/// The arrays of all ranks, in the order of the leaves, on every rank. own: device.
template <class T>
cuda::DeviceArray<T> gathered(const Communicator& comm, const DeviceExchange& exchange, const T* own,
                              const OrderOfLeaves& order) {
  const std::span<const Count> counts = order.counts();
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

  cuda::DeviceArray<T> all(received.size() + count);
  for (const OrderOfLeaves::Run& run : order.runs()) {
    const T* const of_rank =
        run.rank == comm.rank()
            ? own
            : received.data() + plan.receive_offsets()[static_cast<std::size_t>(run.rank)];
    cuda::device_copy(all.data() + run.place, of_rank + run.begin, run.count * sizeof(T));
  }
  return all;
}

}  // namespace grove
