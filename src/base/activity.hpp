#pragma once

#include <cstdint>

namespace grove {

/// The work that a process gave its machine: the bytes that the algorithms must move, read and written,
/// without what caches or sectors add, and what was asked of the GPU.
struct Activity {
  std::uint64_t host_bytes = 0;    ///< in the memory of the host, by passes over particles
  std::uint64_t device_bytes = 0;  ///< in the memory of the GPU, by kernels
  std::uint64_t to_device = 0;     ///< from host to GPU
  std::uint64_t to_host = 0;       ///< from GPU to host
  std::uint64_t sent = 0;          ///< to other ranks, as payload
  std::uint64_t launches = 0;      ///< of kernels
  std::uint64_t transfers = 0;     ///< between host and GPU, of any size

  Activity& operator+=(const Activity& o) {
    host_bytes += o.host_bytes, device_bytes += o.device_bytes, to_device += o.to_device,
        to_host += o.to_host, sent += o.sent, launches += o.launches, transfers += o.transfers;
    return *this;
  }
  friend Activity operator-(Activity a, const Activity& b) {
    a.host_bytes -= b.host_bytes, a.device_bytes -= b.device_bytes, a.to_device -= b.to_device,
        a.to_host -= b.to_host, a.sent -= b.sent, a.launches -= b.launches, a.transfers -= b.transfers;
    return a;
  }
  friend bool operator==(const Activity&, const Activity&) = default;
};

/// The activity of this process since its start; whoever moves bytes adds them. Not for several threads.
Activity& activity();

}  // namespace grove
