#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "base/array.hpp"
#include "base/types.hpp"
#include "comm/communicator.hpp"

namespace grove {

/// The unit of messages: a cache line, so that arrays of any type inside a message can be aligned.
struct alignas(64) MessageBlock {
  std::byte bytes[64];
};

/// A message to or from another rank.
struct Message {
  int rank;  ///< receiver or sender
  Array<MessageBlock> blocks;
};

/// Sends at most one message from each rank to each other, while the caller computes.
///
/// Construction tells all ranks the sizes (one non-blocking all-to-all of 8 bytes per pair of ranks) and
/// starts to send; progress(), called now and then, posts the receives as soon as the sizes are known;
/// finish() waits. Messages go in pieces of at most `piece_bytes`.
class MessageExchange {
 public:
  static constexpr std::size_t default_piece_bytes = std::size_t{1} << 30;

  /// Collective. messages: at most one for each rank, none to itself.
  MessageExchange(const Communicator& comm, std::vector<Message> messages,
                  std::size_t piece_bytes = default_piece_bytes);
  MessageExchange(const MessageExchange&) = delete;
  MessageExchange& operator=(const MessageExchange&) = delete;

  /// Gives MPI a chance to move messages on. Does not block.
  void progress();

  /// Waits for everything and returns what was received, in order of the senders' ranks. Call once.
  std::vector<Message> finish();

 private:
  void post_receives();
  template <class Post>
  void in_pieces(Message& message, Post&& post);

  const Communicator& comm_;
  std::vector<Message> outgoing_, incoming_;
  std::size_t piece_blocks_;
  std::vector<Count> send_blocks_, receive_blocks_;  // for and from each rank
  MPI_Request sizes_ = MPI_REQUEST_NULL;
  std::vector<MPI_Request> requests_;
};

}  // namespace grove
