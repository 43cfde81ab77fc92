#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/types.hpp"

namespace grove::cuda {

/// True if Grove was built with NCCL; without, nothing below may be called.
bool has_nccl();

/// The version of the library that is loaded, "2.28.3"; empty: built without.
std::string nccl_version();

/// Names a group for those who join it.
using NcclId = std::array<std::byte, 128>;

/// Ranks, each with a GPU of its own, that exchange arrays over the links between their GPUs.
class NcclGroup {
 public:
  static NcclId make_id();

  /// Collective: every rank 0 .. size - 1 comes with the same id.
  NcclGroup(const NcclId& id, int rank, int size);
  ~NcclGroup();
  NcclGroup(NcclGroup&&) noexcept;

  /// Elements send_offsets[r] .. send_offsets[r + 1] go to rank r, and those that come from it have places
  /// likewise. Memory of the device; offsets: size + 1 each, in elements; nothing for this rank itself.
  struct Transfer {
    const void* send;
    std::span<const Count> send_offsets;
    void* receive;
    std::span<const Count> receive_offsets;
    std::size_t element_size;
  };
  /// Collective. All transfers, in the same order on every rank, in one group of sends and receives. They are
  /// in order with all other work of the stream; the host does not wait for them.
  void exchange(std::span<const Transfer> transfers) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grove::cuda
