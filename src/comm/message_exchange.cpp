#include "comm/message_exchange.hpp"

#include <algorithm>
#include <utility>

#include "comm/counted.hpp"

namespace grove {

MessageExchange::MessageExchange(const Communicator& comm, std::vector<Message> messages,
                                 std::vector<int> senders, std::size_t piece_bytes, Tag tag)
    : comm_(comm),
      tag_(tag),
      outgoing_(std::move(messages)),
      piece_blocks_(std::max<std::size_t>(1, piece_bytes / sizeof(MessageBlock))) {
  for (const int rank : senders) incoming_.push_back({{rank, {}}, false});
  send();
}

MessageExchange::MessageExchange(const Communicator& comm, std::vector<Message> messages,
                                 std::vector<Renewed> renewed, std::size_t piece_bytes)
    : comm_(comm),
      tag_(Tag::let_payload),
      outgoing_(std::move(messages)),
      piece_blocks_(std::max<std::size_t>(1, piece_bytes / sizeof(MessageBlock))) {
  for (Renewed& known : renewed) {
    Message& message = incoming_.emplace_back(Incoming{std::move(known.message), true}).message;
    for_pieces(known.first, message.blocks.size(), [&](std::size_t first, std::size_t bytes) {
      GROVE_MPI(MPI_Irecv(message.blocks.data() + first, static_cast<int>(bytes), MPI_BYTE, message.rank,
                          static_cast<int>(tag_), comm_.get(), &requests_.emplace_back(MPI_REQUEST_NULL)));
    });
  }
  send();
}

/// Calls take(first block, bytes) for the pieces in which blocks travel.
template <class Take>
void MessageExchange::for_pieces(std::size_t first, std::size_t end, const Take& take) const {
  for (; first <= end; first += piece_blocks_)
    take(first, std::min(piece_blocks_, end - first) * sizeof(MessageBlock));
}

void MessageExchange::send() {
  for (Message& message : outgoing_)
    for_pieces(0, message.blocks.size(), [&](std::size_t first, std::size_t bytes) {
      count_message(bytes);
      GROVE_MPI(MPI_Isend(message.blocks.data() + first, static_cast<int>(bytes), MPI_BYTE, message.rank,
                          static_cast<int>(tag_), comm_.get(), &requests_.emplace_back(MPI_REQUEST_NULL)));
    });
}

/// A piece that is not the last one is waited for, as the next one may move the message in memory.
void MessageExchange::receive(Incoming& incoming, MPI_Message piece, const MPI_Status& status) {
  int bytes = 0;
  GROVE_MPI(MPI_Get_count(&status, MPI_BYTE, &bytes));
  Array<MessageBlock>& blocks = incoming.message.blocks;
  const std::size_t first = blocks.size(), some = static_cast<std::size_t>(bytes) / sizeof(MessageBlock);
  blocks.resize(first + some);
  incoming.is_known = some < piece_blocks_;
  if (incoming.is_known)
    GROVE_MPI(MPI_Imrecv(blocks.data() + first, bytes, MPI_BYTE, &piece,
                         &requests_.emplace_back(MPI_REQUEST_NULL)));
  else
    GROVE_MPI(MPI_Mrecv(blocks.data() + first, bytes, MPI_BYTE, &piece, MPI_STATUS_IGNORE));
}

bool MessageExchange::progress() {
  for (Incoming& incoming : incoming_)
    for (int is_there = 1; is_there && !incoming.is_known;) {
      MPI_Message piece;
      MPI_Status status;
      GROVE_MPI(MPI_Improbe(incoming.message.rank, static_cast<int>(tag_), comm_.get(), &is_there, &piece,
                            &status));
      if (is_there) receive(incoming, piece, status);
    }
  int done = 0;
  GROVE_MPI(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE));
  return done != 0 && std::all_of(incoming_.begin(), incoming_.end(),
                                  [](const Incoming& incoming) { return incoming.is_known; });
}

std::vector<Message> MessageExchange::finish() {
  progress();
  std::vector<Message> messages;
  for (Incoming& incoming : incoming_)
    while (!incoming.is_known) {
      MPI_Message piece;
      MPI_Status status;
      GROVE_MPI(MPI_Mprobe(incoming.message.rank, static_cast<int>(tag_), comm_.get(), &piece, &status));
      receive(incoming, piece, status);
    }
  GROVE_MPI(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
  outgoing_.clear();
  for (Incoming& incoming : incoming_) messages.push_back(std::move(incoming.message));
  return messages;
}

}  // namespace grove
