#include "kernels/cuda/device/nccl_group.hpp"

#include <nccl.h>

#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include "base/activity.hpp"
#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/host_wait.cuh"
#include "kernels/cuda/device/streams.cuh"

namespace grove::cuda {
namespace {

void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess)
    throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(status) + " (" + call +
                             "): " + ncclGetLastError(nullptr));
}

/// The type that elements are sent as.
struct Words {
  ncclDataType_t type;
  std::size_t size;
};

/// The longest words that divide an element: where memory does not begin at a multiple of 16 bytes, NCCL
/// copies word by word.
Words words_of(std::size_t element_size) {
  if (element_size % 8 == 0) return {ncclUint64, 8};
  if (element_size % 4 == 0) return {ncclUint32, 4};
  return {ncclUint8, 1};
}

/// The sends and receives of a transfer, to the group that has been started.
void add(const NcclGroup::Transfer& t, ncclComm_t comm, int self, int size) {
  const Words words = words_of(t.element_size);
  const auto bytes_of = [&](std::span<const Count> offsets, int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return static_cast<std::size_t>(offsets[r + 1] - offsets[r]) * t.element_size;
  };
  const auto begin_of = [&](std::span<const Count> offsets, int rank) {
    return static_cast<std::size_t>(offsets[static_cast<std::size_t>(rank)]) * t.element_size;
  };
  const auto* const from = static_cast<const std::byte*>(t.send);
  auto* const to = static_cast<std::byte*>(t.receive);
  for (int step = 1; step < size; ++step) {
    const int next = (self + step) % size, previous = (self - step + size) % size;
    if (const std::size_t bytes = bytes_of(t.send_offsets, next); bytes > 0) {
      check(ncclSend(from + begin_of(t.send_offsets, next), bytes / words.size, words.type, next, comm,
                     stream()),
            "ncclSend");
      ++activity().messages;
      activity().sent += bytes;
    }
    if (const std::size_t bytes = bytes_of(t.receive_offsets, previous); bytes > 0)
      check(ncclRecv(to + begin_of(t.receive_offsets, previous), bytes / words.size, words.type, previous,
                     comm, stream()),
            "ncclRecv");
  }
}

}  // namespace

struct NcclGroup::Impl {
  ncclComm_t comm = nullptr;
  int rank = 0, size = 1;
};

bool has_nccl() { return true; }

std::string nccl_version() {
  int version = 0;
  check(ncclGetVersion(&version), "ncclGetVersion");
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

NcclId NcclGroup::make_id() {
  static_assert(sizeof(ncclUniqueId) == sizeof(NcclId));
  ncclUniqueId id;
  check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  NcclId bytes;
  std::memcpy(bytes.data(), &id, sizeof(id));
  return bytes;
}

NcclGroup::NcclGroup(const NcclId& id, int rank, int size) : impl_(std::make_unique<Impl>()) {
  ncclUniqueId unique;
  std::memcpy(&unique, id.data(), sizeof(unique));
  impl_->rank = rank;
  impl_->size = size;
  check(ncclCommInitRank(&impl_->comm, size, unique, rank), "ncclCommInitRank");
}

NcclGroup::~NcclGroup() {
  if (!impl_ || !impl_->comm) return;
  // The end of a group waits for the other ranks, which after an error of this one may never come.
  if (std::uncaught_exceptions() > 0)
    ncclCommAbort(impl_->comm);
  else
    ncclCommDestroy(impl_->comm);
}

NcclGroup::NcclGroup(NcclGroup&&) noexcept = default;

void NcclGroup::exchange(std::span<const Transfer> transfers) const {
  check(ncclGroupStart(), "ncclGroupStart");
  for (const Transfer& transfer : transfers) add(transfer, impl_->comm, impl_->rank, impl_->size);
  check(ncclGroupEnd(), "ncclGroupEnd");
  ++activity().nccl_groups;
  HostWait::expect_others("ncclGroupEnd");
}

}  // namespace grove::cuda
