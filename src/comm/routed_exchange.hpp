#pragma once

#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/message_exchange.hpp"

namespace grove {

/// Sends messages to any ranks over others, while the caller computes: in each of ceil(log2 P) rounds the
/// ranks of a range, at first all, send everything that is for the other half of the range to one rank there.
/// So a rank sends log2 P messages, however many it has, and a byte travels half as often in the mean. For
/// many small messages; large ones go straight (MessageExchange).
///
/// Construction starts, progress() goes on with what has come, finish() waits. Collective.
/// Source: the crystal router of Fox et al. 1988, Solving Problems on Concurrent Processors, vol. 1, ch. 22.
class RoutedExchange {
 public:
  /// messages: any number for each rank, none to this one.
  RoutedExchange(const Communicator& comm, std::vector<Message> messages);
  RoutedExchange(const RoutedExchange&) = delete;
  RoutedExchange& operator=(const RoutedExchange&) = delete;

  void progress();
  /// Returns what was received, in order of the senders' ranks. Call once.
  std::vector<Message> finish();

 private:
  /// A message on its way.
  struct Packet {
    int from, to;
    Array<MessageBlock> blocks;
  };
  void begin_round();
  void end_round();
  void take(const Message& joined);

  const Communicator& comm_;
  std::vector<Packet> packets_;           ///< here, for ranks of the range
  int begin_ = 0, end_;                   ///< the range
  std::optional<MessageExchange> round_;  ///< under way; none: all have come
};

}  // namespace grove
