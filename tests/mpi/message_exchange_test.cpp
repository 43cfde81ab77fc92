#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <vector>

#include "base/activity.hpp"
#include "comm/message_exchange.hpp"
#include "comm/routed_exchange.hpp"

namespace grove {
namespace {

/// The message that every rank expects from another one: of a length and contents that only they have.
Message make_message(int from, int to, int rank_field) {
  Message message{rank_field, {}};
  message.blocks.resize(static_cast<std::size_t>(100 * from + 10 * to + 1));
  for (std::size_t i = 0; i < message.blocks.size(); ++i)
    std::memset(message.blocks[i].bytes,
                static_cast<int>((i + static_cast<std::size_t>(7 * from + to)) % 251), sizeof(MessageBlock));
  return message;
}

/// Only some pairs talk: of two ranks the lower one sends, and rank 2 is silent.
bool talks(int from, int to) { return from < to && from != 2; }

void expect_same(const std::vector<Message>& received, const std::vector<Message>& expected) {
  ASSERT_EQ(received.size(), expected.size());
  for (std::size_t m = 0; m < expected.size(); ++m) {
    EXPECT_EQ(received[m].rank, expected[m].rank);
    ASSERT_EQ(received[m].blocks.size(), expected[m].blocks.size());
    EXPECT_EQ(std::memcmp(received[m].blocks.data(), expected[m].blocks.data(),
                          expected[m].blocks.size() * sizeof(MessageBlock)),
              0);
  }
}

TEST(MessageExchange, delivers_every_message_in_pieces_of_any_size) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const std::size_t piece_bytes :
       {std::size_t{1}, std::size_t{640}, MessageExchange::default_piece_bytes}) {
    std::vector<Message> messages;
    for (int to = comm.size() - 1; to >= 0; --to)
      if (talks(comm.rank(), to)) messages.push_back(make_message(comm.rank(), to, to));
    std::vector<int> senders;
    for (int from = 0; from < comm.size(); ++from)
      if (talks(from, comm.rank())) senders.push_back(from);
    MessageExchange exchange(comm, std::move(messages), senders, piece_bytes);
    for (int i = 0; i < comm.rank(); ++i) exchange.progress();  // some look more often than others
    const std::vector<Message> received = exchange.finish();

    std::vector<Message> expected;
    for (int from = 0; from < comm.size(); ++from)
      if (talks(from, comm.rank())) expected.push_back(make_message(from, comm.rank(), from));
    expect_same(received, expected);
  }
}

/// Each receives only what has changed, into the messages that it has.
TEST(MessageExchange, renews_the_ends_of_messages_of_before) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr std::size_t kept = 1;
  for (const std::size_t piece_bytes : {std::size_t{640}, MessageExchange::default_piece_bytes}) {
    std::vector<Message> ends;
    std::vector<MessageExchange::Renewed> renewed;
    for (int other = 0; other < comm.size(); ++other) {
      if (talks(comm.rank(), other)) {
        const Message whole = make_message(comm.rank(), other, other);
        Message& end = ends.emplace_back(Message{other, {}});
        end.blocks.resize(whole.blocks.size() - kept);
        std::copy(whole.blocks.begin() + kept, whole.blocks.end(), end.blocks.begin());
      }
      if (!talks(other, comm.rank())) continue;
      Message before = make_message(other, comm.rank(), other);
      for (std::size_t i = kept; i < before.blocks.size(); ++i) before.blocks[i] = {};
      renewed.push_back({std::move(before), kept});
    }
    MessageExchange exchange(comm, std::move(ends), std::move(renewed), piece_bytes);
    exchange.progress();
    std::vector<Message> expected;
    for (int from = 0; from < comm.size(); ++from)
      if (talks(from, comm.rank())) expected.push_back(make_message(from, comm.rank(), from));
    expect_same(exchange.finish(), expected);
  }
}

TEST(MessageExchange, may_be_followed_by_another_at_once) {
  const Communicator comm(MPI_COMM_WORLD);
  const int right = (comm.rank() + 1) % comm.size(), left = (comm.rank() + comm.size() - 1) % comm.size();
  if (comm.size() == 1) {
    EXPECT_TRUE(MessageExchange(comm, {}, std::vector<int>{}).finish().empty());
    return;
  }
  for (int round = 1; round <= 20; ++round) {
    Message message{right, {}};
    message.blocks.resize(static_cast<std::size_t>(round));
    std::vector<Message> messages(1);
    messages[0] = std::move(message);
    const std::vector<Message> received =
        MessageExchange(comm, std::move(messages), std::vector{left}).finish();
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].rank, left);
    EXPECT_EQ(received[0].blocks.size(), static_cast<std::size_t>(round));
  }
}

/// Those of some pairs, several for one pair, to all and to none; and the next ones at once.
TEST(RoutedExchange, delivers_every_message) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto all = [](int from, int to) { return from == to ? 0 : 1; };
  const auto several = [](int from, int to) { return from == to ? 0 : (from + 2 * to) % 3; };
  const auto of_one = [](int from, int to) { return from != to && (from == 0 || to == 1) ? 2 : 0; };
  const auto none = [](int, int) { return 0; };
  for (const std::function<int(int, int)>& number :
       {std::function<int(int, int)>(all), {several}, {of_one}, {none}}) {
    std::vector<Message> messages, expected;
    for (int other = comm.size() - 1; other >= 0; --other)
      for (int i = 0; i < number(comm.rank(), other); ++i)
        messages.push_back(make_message(comm.rank() + i, other, other));
    for (int other = 0; other < comm.size(); ++other)
      for (int i = 0; i < number(other, comm.rank()); ++i)
        expected.push_back(make_message(other + i, comm.rank(), other));
    const Activity before = activity();
    RoutedExchange exchange(comm, std::move(messages));
    for (int i = 0; i < comm.rank(); ++i) exchange.progress();
    expect_same(exchange.finish(), expected);
    // A round halves ranges, rounded up; the last rank of an odd one sends and may get nothing.
    EXPECT_LE((activity() - before).messages,
              static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(comm.size()) - 1)));
  }
}

}  // namespace
}  // namespace grove
