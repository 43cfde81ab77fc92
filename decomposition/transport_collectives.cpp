#include "decomposition/transport_collectives.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace grove {
namespace {

struct CallHeader {
  std::int64_t service;
  std::uint64_t bytes;
};

int message_size(std::size_t bytes) {
  if (bytes > INT_MAX) throw std::runtime_error("a service's message exceeds 2 GiB: too many cells at once");
  return static_cast<int>(bytes);
}

}  // namespace

void CollectiveTransport::spread(std::int32_t& service, Bytes& input) {
  // The length is not known below, so a block of fixed size goes first; most calls fit into it.
  std::array<std::byte, 4096> block{};
  const std::size_t room = block.size() - sizeof(CallHeader);
  CallHeader header{service, input.size()};
  std::memcpy(block.data(), &header, sizeof(header));
  if (!input.empty()) std::memcpy(block.data() + sizeof(header), input.data(), std::min(room, input.size()));
  GROVE_MPI(MPI_Bcast(block.data(), static_cast<int>(block.size()), MPI_BYTE, 0, comm_.get()));

  std::memcpy(&header, block.data(), sizeof(header));
  service = static_cast<std::int32_t>(header.service);
  input.resize(header.bytes);
  if (!input.empty()) std::memcpy(input.data(), block.data() + sizeof(header), std::min(room, input.size()));
  if (input.size() > room)
    GROVE_MPI(MPI_Bcast(input.data() + room, message_size(input.size() - room), MPI_BYTE, 0, comm_.get()));
}

void CollectiveTransport::collect(const ServiceEntry& service, Bytes& answer, bool& failed) {
  if (service.reduce)
    reduce(service, answer, failed);
  else
    gather(answer, failed);
}

void CollectiveTransport::gather(Bytes& answer, bool& failed) {
  struct Share {
    std::int64_t failed;
    std::uint64_t bytes;
  };
  const Share own{failed ? 1 : 0, failed ? 0 : answer.size()};
  std::vector<Share> shares(comm_.is_master() ? static_cast<std::size_t>(comm_.size()) : 0);
  GROVE_MPI(MPI_Gather(&own, sizeof(own), MPI_BYTE, shares.data(), sizeof(own), MPI_BYTE, 0, comm_.get()));
  std::vector<int> sizes, offsets;
  std::size_t total = 0;
  for (const Share& share : shares) {
    failed = failed || share.failed != 0;
    offsets.push_back(message_size(total));
    total += share.bytes;
    sizes.push_back(message_size(share.bytes));
  }
  Bytes all(static_cast<std::size_t>(message_size(total)));
  GROVE_MPI(MPI_Gatherv(answer.data(), message_size(own.bytes), MPI_BYTE, all.data(), sizes.data(),
                        offsets.data(), MPI_BYTE, 0, comm_.get()));
  answer = std::move(all);
}

void CollectiveTransport::reduce(const ServiceEntry& service, Bytes& answer, bool& failed) {
  const AnswerHeader header{failed ? 1 : 0};
  Bytes sealed(sizeof(header) + answer.size()), result(comm_.is_master() ? sealed.size() : 0);
  std::memcpy(sealed.data(), &header, sizeof(header));
  if (!answer.empty()) std::memcpy(sealed.data() + sizeof(header), answer.data(), answer.size());

  MPI_Datatype type;
  MPI_Op operation;
  GROVE_MPI(MPI_Type_contiguous(message_size(sealed.size()), MPI_BYTE, &type));
  GROVE_MPI(MPI_Type_commit(&type));
  GROVE_MPI(MPI_Op_create(service.reduce, 1, &operation));
  GROVE_MPI(MPI_Reduce(sealed.data(), result.data(), 1, type, operation, 0, comm_.get()));
  GROVE_MPI(MPI_Op_free(&operation));
  GROVE_MPI(MPI_Type_free(&type));

  if (!comm_.is_master()) return;
  AnswerHeader combined{};
  std::memcpy(&combined, result.data(), sizeof(combined));
  failed = combined.failed != 0;
  answer.assign(result.begin() + sizeof(combined), result.end());
}

}  // namespace grove
