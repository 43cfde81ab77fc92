#include "decomposition/transport_collectives.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comm/at_root.hpp"
#include "comm/block_reduction.hpp"

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
  comm_.broadcast_bytes(block);

  std::memcpy(&header, block.data(), sizeof(header));
  service = static_cast<std::int32_t>(header.service);
  input.resize(header.bytes);
  if (!input.empty()) std::memcpy(input.data(), block.data() + sizeof(header), std::min(room, input.size()));
  if (input.size() > room)
    comm_.broadcast_bytes({input.data() + room, static_cast<std::size_t>(message_size(input.size() - room))});
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
  std::vector<int> sizes;
  std::size_t total = 0;
  for (const Share& share : values_at(comm_, 0, own)) {
    failed = failed || share.failed != 0;
    total += share.bytes;
    sizes.push_back(message_size(share.bytes));
  }
  message_size(total);
  const std::vector<std::byte> all =
      gather_at(comm_, 0, std::span<const std::byte>(answer).first(own.bytes), std::span<const int>(sizes));
  answer.assign(all.begin(), all.end());
}

void CollectiveTransport::reduce(const ServiceEntry& service, Bytes& answer, bool& failed) {
  const AnswerHeader header{failed ? 1 : 0};
  Bytes sealed(sizeof(header) + answer.size());
  std::memcpy(sealed.data(), &header, sizeof(header));
  if (!answer.empty()) std::memcpy(sealed.data() + sizeof(header), answer.data(), answer.size());
  message_size(sealed.size());
  reduce_block_at(comm_, 0, service.reduce, sealed);
  if (!comm_.is_master()) return;
  AnswerHeader combined{};
  std::memcpy(&combined, sealed.data(), sizeof(combined));
  failed = combined.failed != 0;
  answer.assign(sealed.begin() + sizeof(combined), sealed.end());
}

}  // namespace grove
