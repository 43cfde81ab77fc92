#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/services/service.hpp"

namespace grove {

/// How calls travel from the master to all ranks, and answers back.
class ServiceTransport {
 public:
  static constexpr std::int32_t end_of_script = -1;

  virtual ~ServiceTransport() = default;

  /// Collective: the master's call reaches every rank. service: index into the table, or end_of_script.
  virtual void spread(std::int32_t& service, Bytes& input) = 0;

  /// Collective: combines this rank's answer with those of the ranks below it in the tree; the master gets
  /// all. failed (in/out): whether the service failed here; on the master afterwards: anywhere.
  virtual void collect(const ServiceEntry& service, Bytes& answer, bool& failed) = 0;
};

std::unique_ptr<ServiceTransport> make_transport(const Communicator& comm, Transport transport);

}  // namespace grove
