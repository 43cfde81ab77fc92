#include "comm/message_exchange.hpp"

#include <algorithm>
#include <utility>

#include "comm/counted.hpp"

namespace grove {

MessageExchange::MessageExchange(const Communicator& comm, std::vector<Message> messages,
                                 std::size_t piece_bytes)
    : comm_(comm),
      outgoing_(std::move(messages)),
      piece_blocks_(std::max<std::size_t>(1, piece_bytes / sizeof(MessageBlock))),
      send_blocks_(static_cast<std::size_t>(comm.size()), 0),
      receive_blocks_(static_cast<std::size_t>(comm.size()), 0) {
  for (const Message& message : outgoing_)
    send_blocks_[static_cast<std::size_t>(message.rank)] = static_cast<Count>(message.blocks.size());
  comm_.count(sizeof(Count) * (send_blocks_.size() - 1));
  GROVE_MPI(MPI_Ialltoall(send_blocks_.data(), 1, mpi_type<Count>(), receive_blocks_.data(), 1,
                          mpi_type<Count>(), comm_.get(), &sizes_));
  for (Message& message : outgoing_)
    in_pieces(message, [&](void* data, int bytes, MPI_Request* request) {
      count_message(static_cast<std::size_t>(bytes));
      GROVE_MPI(MPI_Isend(data, bytes, MPI_BYTE, message.rank, static_cast<int>(Tag::let_payload),
                          comm_.get(), request));
    });
}

template <class Post>
void MessageExchange::in_pieces(Message& message, Post&& post) {
  const std::size_t size = message.blocks.size();
  for (std::size_t first = 0; first < size; first += piece_blocks_) {
    const std::size_t blocks = std::min(piece_blocks_, size - first);
    post(message.blocks.data() + first, static_cast<int>(blocks * sizeof(MessageBlock)),
         &requests_.emplace_back(MPI_REQUEST_NULL));
  }
}

void MessageExchange::post_receives() {
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const Count blocks = receive_blocks_[static_cast<std::size_t>(rank)];
    if (blocks == 0) continue;
    Message& message = incoming_.emplace_back(Message{rank, {}});
    message.blocks.resize(static_cast<std::size_t>(blocks));
    in_pieces(message, [&](void* data, int bytes, MPI_Request* request) {
      GROVE_MPI(
          MPI_Irecv(data, bytes, MPI_BYTE, rank, static_cast<int>(Tag::let_payload), comm_.get(), request));
    });
  }
}

void MessageExchange::progress() {
  int done = 0;
  if (sizes_ != MPI_REQUEST_NULL) {
    GROVE_MPI(MPI_Test(&sizes_, &done, MPI_STATUS_IGNORE));
    if (done) post_receives();
  }
  GROVE_MPI(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE));
}

std::vector<Message> MessageExchange::finish() {
  if (sizes_ != MPI_REQUEST_NULL) {
    GROVE_MPI(MPI_Wait(&sizes_, MPI_STATUS_IGNORE));
    post_receives();
  }
  GROVE_MPI(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
  outgoing_.clear();
  return std::move(incoming_);
}

}  // namespace grove
