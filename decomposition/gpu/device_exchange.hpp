#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "kernels/math/decomposition_parameters.hpp"

namespace grove {
namespace cuda {
class NcclGroup;
}

/// Collective. True if MPI sends from device memory to device memory. Asks it, then sends numbers around the
/// ring of ranks.
bool mpi_takes_device_memory(const Communicator& comm);

/// How arrays travel from GPU to GPU. The counts always go through MPI; all ways give the same arrays.
class DeviceExchange {
 public:
  /// Collective. wanted: nothing: the fastest that works here: NCCL if Grove was built with it, no two ranks
  /// share a GPU and all can join a group; else device memory handed to MPI, if MPI says that it takes it and
  /// an exchange tried here brings what was sent; else through pinned memory of the host. InputError if the
  /// one that is wanted does not work here; one rank alone tries nothing. comm must outlive this.
  DeviceExchange(const Communicator& comm, bool gpus_are_shared, std::optional<PayloadPath> wanted);
  ~DeviceExchange();

  PayloadPath path() const { return path_; }

  /// plan: with nothing from a rank to itself. send: device, plan.send_total() elements; receive (out):
  /// device, plan.receive_total(); they must not overlap.
  struct Transfer {
    const ExchangePlan& plan;
    const void* send;
    void* receive;
    std::size_t element_size;
  };
  /// Collective; transfers in the same order on every rank. NCCL makes all of them at once, in one group,
  /// which the GPU waits for and the host does not.
  /// Through MPI all arrays go from a rank to another in one message, or, as at most round_bytes are under
  /// way from a rank at a time, in pieces of that size; memory for as many is kept from call to call.
  void apply(std::span<const Transfer> transfers) const;
  void apply(const ExchangePlan& plan, const void* send, void* receive, std::size_t element_size) const {
    const Transfer only{plan, send, receive, element_size};
    apply(std::span(&only, 1));
  }

 private:
  struct Buffers;
  std::string join_group();  ///< why that cannot be done; empty: done
  void apply_in_rounds(std::span<const Transfer> transfers) const;

  const Communicator& comm_;
  PayloadPath path_;
  std::unique_ptr<cuda::NcclGroup> group_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace grove
