#pragma once

#include <cstddef>
#include <span>

#include "base/array.hpp"
#include "comm/communicator.hpp"

namespace grove {

/// Sends a message of at most 2^31 bytes. Returns when `message` may change.
void send_message(const Communicator& comm, int to, Tag tag, std::span<const std::byte> message);

/// Waits for a message of any length.
Array<std::byte> receive_message(const Communicator& comm, int from, Tag tag);

/// Sends to one rank and receives as much from another at the same time. send, receive: that many bytes, at
/// most 2^31, of any memory that MPI takes.
void exchange_messages(const Communicator& comm, Tag tag, int to, const void* send, int from, void* receive,
                       std::size_t bytes);

}  // namespace grove
