#pragma once

#include <cstdint>
#include <initializer_list>

namespace grove {

/// The work that a process gave its machine: the bytes that the algorithms must move, read and written,
/// without what caches or sectors add, what was asked of the GPU, and what was said to other ranks.
struct Activity {
  std::uint64_t host_bytes = 0;    ///< in the memory of the host, by passes over particles
  std::uint64_t device_bytes = 0;  ///< in the memory of the GPU, by kernels
  std::uint64_t to_device = 0;     ///< from host to GPU
  std::uint64_t to_host = 0;       ///< from GPU to host
  std::uint64_t sent = 0;          ///< bytes to other ranks: messages, and its part in collectives
  std::uint64_t launches = 0;      ///< of kernels
  std::uint64_t transfers = 0;     ///< between host and GPU, of any size
  std::uint64_t collectives = 0;   ///< of MPI; one that does not block counts once
  std::uint64_t messages = 0;      ///< to another rank, by MPI or NCCL
  std::uint64_t nccl_groups = 0;   ///< of sends and receives
  std::uint64_t host_waits = 0;    ///< of the host for the GPU: synchronisation, and copies that block

  /// Each value of this with that of another one.
  template <class Combine>
  Activity& combine(const Activity& o, const Combine& with) {
    for (const auto value :
         {&Activity::host_bytes, &Activity::device_bytes, &Activity::to_device, &Activity::to_host,
          &Activity::sent, &Activity::launches, &Activity::transfers, &Activity::collectives,
          &Activity::messages, &Activity::nccl_groups, &Activity::host_waits})
      with(this->*value, o.*value);
    return *this;
  }
  Activity& operator+=(const Activity& o) {
    return combine(o, [](std::uint64_t& mine, std::uint64_t other) { mine += other; });
  }
  friend Activity operator-(Activity a, const Activity& b) {
    return a.combine(b, [](std::uint64_t& mine, std::uint64_t other) { mine -= other; });
  }
  friend bool operator==(const Activity&, const Activity&) = default;
};

/// The activity of this process since its start; whoever moves bytes adds them. Not for several threads.
Activity& activity();

}  // namespace grove
