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

/// Sends a message to each of some ranks and gets one from each of some others, while the caller computes.
/// Both ranks of a pair know that there is a message. The receiver need not know how long it is; where it
/// does, nothing is asked of MPI before the message is received.
///
/// Construction starts to send; progress(), called now and then, receives what has come; finish() waits. A
/// message goes in pieces of `piece_bytes` and a last one that is shorter, which may be empty.
class MessageExchange {
 public:
  static constexpr std::size_t default_piece_bytes = std::size_t{1} << 30;

  /// Not collective. messages: at most one for each rank, none to itself. senders: ranks from which one
  /// comes, each once.
  MessageExchange(const Communicator& comm, std::vector<Message> messages, std::vector<int> senders,
                  std::size_t piece_bytes = default_piece_bytes, Tag tag = Tag::let_payload);
  /// A message that came before, of which the blocks from `first` on come anew.
  struct Renewed {
    Message message;
    std::size_t first;
  };
  /// messages: what is new in those that were sent before. renewed: in order of the senders.
  MessageExchange(const Communicator& comm, std::vector<Message> messages, std::vector<Renewed> renewed,
                  std::size_t piece_bytes = default_piece_bytes);
  MessageExchange(const MessageExchange&) = delete;
  MessageExchange& operator=(const MessageExchange&) = delete;

  /// Gives MPI a chance to move messages on. Does not block. True if finish() will not have to wait.
  bool progress();

  /// Waits for everything and returns what was received, in order of the senders. Call once.
  std::vector<Message> finish();

 private:
  struct Incoming {
    Message message;
    bool is_known = false;  ///< its last piece is under way or here
  };
  void send();
  template <class Take>
  void for_pieces(std::size_t first, std::size_t end, const Take& take) const;
  void receive(Incoming& incoming, MPI_Message piece, const MPI_Status& status);

  const Communicator& comm_;
  Tag tag_;
  std::vector<Message> outgoing_;
  std::vector<Incoming> incoming_;
  std::size_t piece_blocks_;
  std::vector<MPI_Request> requests_;
};

}  // namespace grove
