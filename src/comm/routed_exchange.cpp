#include "comm/routed_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace grove {
namespace {

/// Packets travel together behind one block for each, and one that says how many there are.
struct PacketHead {
  int from, to;
  std::size_t blocks;
};
static_assert(sizeof(PacketHead) <= sizeof(MessageBlock) && std::is_trivially_copyable_v<PacketHead>);

template <class T>
void put(const T& value, MessageBlock& block) {
  block = {};
  std::memcpy(block.bytes, &value, sizeof(T));
}

template <class T>
T taken(const MessageBlock& block) {
  T value;
  std::memcpy(&value, block.bytes, sizeof(T));
  return value;
}

}  // namespace

RoutedExchange::RoutedExchange(const Communicator& comm, std::vector<Message> messages)
    : comm_(comm), end_(comm.size()) {
  for (Message& message : messages)
    packets_.push_back({comm.rank(), message.rank, std::move(message.blocks)});
  begin_round();
}

/// The lower half has as many ranks as the upper one or one less. Then the last rank of the upper half sends
/// to the last of the lower one, which has another partner, and gets nothing.
void RoutedExchange::begin_round() {
  if (end_ - begin_ < 2) return;
  const int half = (end_ - begin_) / 2, middle = begin_ + half, rank = comm_.rank();
  const bool is_low = rank < middle;
  const int partner = is_low ? rank + half : std::min(rank - half, middle - 1);
  std::vector<int> senders;
  if (is_low || rank - half < middle) senders.push_back(partner);
  if (is_low && rank == middle - 1 && end_ - middle > half) senders.push_back(end_ - 1);

  const auto stays = [&](const Packet& packet) { return (packet.to < middle) == is_low; };
  const auto leaving = std::stable_partition(packets_.begin(), packets_.end(), stays);
  const auto number = static_cast<std::size_t>(packets_.end() - leaving);
  std::size_t blocks = 1 + number;
  for (auto packet = leaving; packet != packets_.end(); ++packet) blocks += packet->blocks.size();
  Message joined{partner, Array<MessageBlock>(blocks)};
  put(number, joined.blocks[0]);
  auto head = joined.blocks.begin() + 1;
  auto body = head + static_cast<std::ptrdiff_t>(number);
  for (auto packet = leaving; packet != packets_.end(); ++packet) {
    put(PacketHead{packet->from, packet->to, packet->blocks.size()}, *head++);
    body = std::copy(packet->blocks.begin(), packet->blocks.end(), body);
  }
  packets_.erase(leaving, packets_.end());
  std::vector<Message> outgoing(1);
  outgoing[0] = std::move(joined);
  round_.emplace(comm_, std::move(outgoing), std::move(senders), MessageExchange::default_piece_bytes,
                 Tag::routed_payload);
  (is_low ? end_ : begin_) = middle;
}

void RoutedExchange::end_round() {
  const std::vector<Message> received = round_->finish();
  round_.reset();
  for (const Message& joined : received) take(joined);
  begin_round();
}

void RoutedExchange::take(const Message& joined) {
  const auto number = taken<std::size_t>(joined.blocks[0]);
  auto body = joined.blocks.begin() + 1 + static_cast<std::ptrdiff_t>(number);
  for (std::size_t i = 1; i <= number; ++i) {
    const auto head = taken<PacketHead>(joined.blocks[i]);
    const auto end = body + static_cast<std::ptrdiff_t>(head.blocks);
    packets_.push_back({head.from, head.to, Array<MessageBlock>(body, end)});
    body = end;
  }
}

void RoutedExchange::progress() {
  while (round_ && round_->progress()) end_round();
}

std::vector<Message> RoutedExchange::finish() {
  while (round_) end_round();
  std::stable_sort(packets_.begin(), packets_.end(),
                   [](const Packet& a, const Packet& b) { return a.from < b.from; });
  std::vector<Message> messages;
  for (Packet& packet : packets_) messages.push_back({packet.from, std::move(packet.blocks)});
  return messages;
}

}  // namespace grove
