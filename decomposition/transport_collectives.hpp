#pragma once

#include "decomposition/transport.hpp"

namespace grove {

/// MPI's collectives: a broadcast (two for a call of more than 4 KiB) and a reduction with the service's own
/// operation, or a gather.
class CollectiveTransport : public ServiceTransport {
 public:
  explicit CollectiveTransport(const Communicator& comm) : comm_(comm) {}

  void spread(std::int32_t& service, Bytes& input) override;
  void collect(const ServiceEntry& service, Bytes& answer, bool& failed) override;

 private:
  void reduce(const ServiceEntry& service, Bytes& answer, bool& failed);
  void gather(Bytes& answer, bool& failed);

  const Communicator& comm_;
};

}  // namespace grove
