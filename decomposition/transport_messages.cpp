#include "decomposition/transport_messages.hpp"

#include <climits>
#include <stdexcept>

#include "comm/point_to_point.hpp"

namespace grove {
namespace {

/// One message: a head and a body of any length.
template <Wire Head>
void send(const Communicator& comm, int to, Tag tag, const Head& head, std::span<const std::byte> body) {
  Bytes message(sizeof(Head) + body.size());
  if (message.size() > INT_MAX)
    throw std::runtime_error("a service's message exceeds 2 GiB: too many cells at once");
  std::memcpy(message.data(), &head, sizeof(Head));
  if (!body.empty()) std::memcpy(message.data() + sizeof(Head), body.data(), body.size());
  send_message(comm, to, tag, message);
}

template <Wire Head>
Head receive(const Communicator& comm, int from, Tag tag, Bytes& body) {
  const Bytes message = receive_message(comm, from, tag);
  Head head;
  std::memcpy(&head, message.data(), sizeof(Head));
  body.assign(message.begin() + sizeof(Head), message.end());
  return head;
}

}  // namespace

MessageTransport::MessageTransport(const Communicator& comm) : comm_(comm) {
  // Descends from the set of all ranks to the one that this rank heads.
  int head = 0, end = comm.size();
  while (true) {
    const int middle =
        head + 1 + (end - head - 1 + 1) / 2;  // (head, middle) and [middle, end) go to children
    const bool two = middle < end;
    if (head == comm.rank()) {
      if (head + 1 < end) children_.push_back(head + 1);
      if (two) children_.push_back(middle);
      return;
    }
    parent_ = head;
    if (two && comm.rank() >= middle)
      head = middle;
    else
      head += 1, end = two ? middle : end;
  }
}

void MessageTransport::spread(std::int32_t& service, Bytes& input) {
  if (parent_ >= 0) service = receive<std::int32_t>(comm_, parent_, Tag::service_call, input);
  for (const int child : children_) send(comm_, child, Tag::service_call, service, input);
}

void MessageTransport::collect(const ServiceEntry& service, Bytes& answer, bool& failed) {
  for (const int child : children_) {
    Bytes other;
    const auto head = receive<AnswerHeader>(comm_, child, Tag::service_answer, other);
    failed = failed || head.failed != 0;
    if (!failed) service.combine(answer, other);
  }
  if (parent_ >= 0)
    send(comm_, parent_, Tag::service_answer, AnswerHeader{failed ? 1 : 0},
         failed ? std::span<const std::byte>{} : std::span<const std::byte>(answer));
}

}  // namespace grove
