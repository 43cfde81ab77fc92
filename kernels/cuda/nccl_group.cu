#include "kernels/cuda/nccl_group.hpp"

#include <nccl.h>

#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include "kernels/cuda/check.cuh"
#include "kernels/cuda/streams.cuh"

namespace grove::cuda {
namespace {

void check(ncclResult_t status, const char* call) {
  if (status != ncclSuccess)
    throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(status) + " (" + call +
                             "): " + ncclGetLastError(nullptr));
}

/// What elements are sent as.
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

}  // namespace

struct NcclGroup::Impl {
  ncclComm_t comm = nullptr;
  int rank = 0, size = 1;
};

bool has_nccl() { return true; }

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

void NcclGroup::exchange(const void* send, std::span<const Count> send_offsets, void* receive,
                         std::span<const Count> receive_offsets, std::size_t element_size) const {
  const auto bytes_of = [&](std::span<const Count> offsets, int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return static_cast<std::size_t>(offsets[r + 1] - offsets[r]) * element_size;
  };
  const auto begin_of = [&](std::span<const Count> offsets, int rank) {
    return static_cast<std::size_t>(offsets[static_cast<std::size_t>(rank)]) * element_size;
  };
  const auto* const from = static_cast<const std::byte*>(send);
  auto* const to = static_cast<std::byte*>(receive);
  const int self = impl_->rank;
  const Words words = words_of(element_size);
  check(ncclGroupStart(), "ncclGroupStart");
  for (int step = 1; step < impl_->size; ++step) {
    const int next = (self + step) % impl_->size, previous = (self - step + impl_->size) % impl_->size;
    if (const std::size_t bytes = bytes_of(send_offsets, next); bytes > 0)
      check(ncclSend(from + begin_of(send_offsets, next), bytes / words.size, words.type, next, impl_->comm,
                     stream()),
            "ncclSend");
    if (const std::size_t bytes = bytes_of(receive_offsets, previous); bytes > 0)
      check(ncclRecv(to + begin_of(receive_offsets, previous), bytes / words.size, words.type, previous,
                     impl_->comm, stream()),
            "ncclRecv");
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
  GROVE_CUDA(cudaStreamSynchronize(stream()));
}

}  // namespace grove::cuda
