#pragma once

#include <vector>

#include "decomposition/transport.hpp"

namespace grove {

/// Point-to-point messages along the processor-set tree: log2 P steps down and as many up.
class MessageTransport : public ServiceTransport {
 public:
  explicit MessageTransport(const Communicator& comm);

  void spread(std::int32_t& service, Bytes& input) override;
  void collect(const ServiceEntry& service, Bytes& answer, bool& failed) override;

 private:
  const Communicator& comm_;
  int parent_ = -1;            ///< -1: this is the master
  std::vector<int> children_;  ///< at most two, ascending
};

}  // namespace grove
