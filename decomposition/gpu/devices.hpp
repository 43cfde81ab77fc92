#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "kernels/cuda/device/device.hpp"

namespace grove {

/// The GPU of each rank.
struct RankDevice {
  std::string host;
  std::string name;  ///< of the GPU
  std::string pci;   ///< its address on the host's bus
};
struct RankDevices {
  std::vector<RankDevice> of_rank;  ///< by rank
  bool shared = false;              ///< two ranks have the same one

  /// A line per rank: rank -> host -> GPU, address.
  std::string table() const;
};

/// The GPU that this rank would take; nothing: it sees none. Collective.
std::optional<cuda::DeviceInfo> device_of_this_rank(const Communicator& comm);

/// Why not every rank can have a GPU of its own, or, with may_share, one at all; empty: it can. Collective.
std::string fault_of_devices(const Communicator& comm, bool may_share);

/// Collective. Each rank takes a GPU of its host, the n-th rank there the n-th of those that it sees (a
/// launcher's CUDA_VISIBLE_DEVICES may show each rank another one). From here on all of the rank's GPU work
/// runs there, whatever communicator it is for: a rank that has taken one keeps it, since its streams are of
/// that one; so let all ranks of a program take theirs before one computes by itself. InputError where
/// fault_of_devices() has something to say.
RankDevices take_devices(const Communicator& comm, bool may_share);

}  // namespace grove
