#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"

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

/// Whether every rank sees a GPU. Collective.
bool every_rank_has_a_gpu(const Communicator& comm);

/// Collective. Each rank takes a GPU of its host, the n-th rank there the n-th of those that it sees (a
/// launcher's CUDA_VISIBLE_DEVICES may show each rank another one). From here on all of the rank's GPU work
/// runs there. InputError if a rank sees none, or if two ranks would use the same one and may_share is false.
RankDevices take_devices(const Communicator& comm, bool may_share);

}  // namespace grove
