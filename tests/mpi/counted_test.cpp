// Known calls of other ranks are counted as such; the counts of a rank are its own.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/timers.hpp"
#include "comm/at_root.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "comm/joint_reduction.hpp"
#include "comm/message_exchange.hpp"
#include "comm/point_to_point.hpp"

namespace grove {
namespace {

class Counted : public testing::Test {
 protected:
  struct Expected {
    std::uint64_t collectives, messages, bytes;
  };
  void expect(const Expected& expected, const std::function<void()>& calls) {
    const Activity before = activity();
    calls();
    const Activity made = activity() - before;
    EXPECT_EQ(made.collectives, expected.collectives);
    EXPECT_EQ(made.messages, expected.messages);
    EXPECT_EQ(made.sent, expected.bytes);
    EXPECT_EQ(made.nccl_groups + made.host_waits + made.launches, 0);
  }
  /// Bytes that a rank alone sends to nobody.
  std::uint64_t of_several(std::uint64_t bytes) const { return comm_.size() > 1 ? bytes : 0; }
  std::uint64_t of(int rank, std::uint64_t bytes) const {
    return comm_.rank() == rank ? of_several(bytes) : 0;
  }

  const Communicator comm_{MPI_COMM_WORLD};
  const std::uint64_t others_ = static_cast<std::uint64_t>(comm_.size() - 1);
};

TEST_F(Counted, collectives_are_with_the_bytes_that_a_rank_gives) {
  expect({1, 0, 0}, [&] { comm_.barrier(); });
  expect({1, 0, of_several(8)}, [&] { comm_.sum(Count{1}); });
  std::vector<Count> three(3, 1);
  expect({1, 0, of_several(24)}, [&] { comm_.sum(std::span<Count>(three)); });
  expect({1, 0, of_several(8)}, [&] { comm_.exclusive_scan(Count{1}); });
  expect({1, 0, of_several(4)}, [&] { comm_.all_gather(1); });
  const std::vector<short> own(static_cast<std::size_t>(comm_.rank()), 1);
  expect({2, 0, of_several(8 + 2 * own.size())},
         [&] { comm_.all_gather_arrays(std::span<const short>(own)); });
  std::vector<Count> sizes(static_cast<std::size_t>(comm_.size()));
  std::iota(sizes.begin(), sizes.end(), Count{0});
  std::vector<short> all;
  expect({1, 0, of_several(2 * own.size())},
         [&] { all = comm_.all_gather_arrays(std::span<const short>(own), std::span<const Count>(sizes)); });
  EXPECT_EQ(all, comm_.all_gather_arrays(std::span<const short>(own)));
  expect({1, 0, of(0, 8)}, [&] { comm_.broadcast(1.0); });
  expect({2, 0, of(0, 8 + 5)}, [&] { comm_.broadcast(std::string("hello")); });
  expect({1, 0, of_several(4)}, [&] { comm_.together([] {}); });
}

TEST_F(Counted, what_goes_to_one_rank_is_sent_by_the_others) {
  const int root = comm_.size() - 1;
  const std::uint64_t sent = comm_.rank() == root ? 0 : 1;
  std::vector<Count> values(2, 1);
  expect({1, 0, 16 * sent}, [&] { sum_at(comm_, root, std::span<Count>(values)); });
  expect({1, 0, 4 * sent}, [&] { values_at(comm_, root, 1); });
  expect({2, 0, (4 + 16) * sent}, [&] { gather_at(comm_, root, std::span<const Count>(values)); });
}

TEST_F(Counted, messages_are_those_that_a_rank_sends) {
  const std::vector<Count> two_each(static_cast<std::size_t>(comm_.size()), 2);
  // Each count is told in a message of its own.
  const std::uint64_t rounds = comm_.size() > 1 ? 1 : 0;
  expect({rounds, 2 * others_, 8 * others_ + 2 * sizeof(int) * others_}, [&] {
    const ExchangePlan plan(comm_, two_each);
    Array<int> field(2 * two_each.size(), 1);
    plan.apply(field);
  });
  // One element at a time.
  expect({rounds, 3 * others_, 8 * others_ + 2 * sizeof(int) * others_}, [&] {
    const ExchangePlan plan(comm_, two_each, sizeof(int));
    Array<int> field(2 * two_each.size(), 1);
    plan.apply(field);
  });
  // Each rank sends to the next one, but for the last.
  const bool sends = comm_.rank() + 1 < comm_.size();
  expect({0, sends ? 1u : 0u, sends ? 3 * sizeof(MessageBlock) : 0}, [&] {
    std::vector<Message> messages;
    std::vector<int> senders;
    if (comm_.rank() > 0) senders.push_back(comm_.rank() - 1);
    if (sends) messages.push_back({comm_.rank() + 1, Array<MessageBlock>(3)});
    MessageExchange(comm_, std::move(messages), senders).finish();
  });
  expect({0, sends ? 1u : 0u, sends ? 5u : 0u}, [&] {
    const std::vector<std::byte> text(5);
    if (sends) send_message(comm_, comm_.rank() + 1, Tag::service_call, text);
    if (comm_.rank() == 0) return;
    EXPECT_EQ(receive_message(comm_, comm_.rank() - 1, Tag::service_call).size(), text.size());
  });
}

TEST_F(Counted, counts_are_those_of_the_phase_that_they_are_made_in) {
  PhaseTimers timers;
  {
    const auto timer = timers.time("outer");
    comm_.barrier();
    const auto inner = timers.time("inner");
    comm_.sum(Count{1});
    comm_.sum(Count{1});
  }
  comm_.barrier();
  EXPECT_EQ(timers.cost("outer").activity.collectives, 3u);
  EXPECT_EQ(timers.cost("inner").activity.collectives, 2u);
  EXPECT_EQ(timers.cost("inner").activity.sent, of_several(16));
  EXPECT_EQ(timers.cost("none").activity, Activity{});
}

TEST_F(Counted, joint_reduction_waits_until_all_ranks_are_ready) {
  const Count ranks = comm_.size();
  Count sum = 1;
  int most = comm_.rank();
  JointReduction joint;
  joint.sum(sum).max(most);
  expect({1, 0, of_several(8 * (2 + 1 + 1 + 1))},
         [&] { EXPECT_FALSE(joint.apply_if(comm_, comm_.rank() != comm_.size() - 1)); });
  EXPECT_EQ(sum, 1);
  EXPECT_EQ(most, comm_.rank());
  EXPECT_TRUE(joint.apply_if(comm_, true));
  EXPECT_EQ(sum, ranks);
  EXPECT_EQ(most, comm_.size() - 1);
}

TEST_F(Counted, joint_reduction_is_one_and_gives_what_single_ones_do) {
  const Count rank = comm_.rank();
  Count sum = rank + 1, most = -5 - rank;
  std::vector<std::uint64_t> sums{std::uint64_t{1} << 40, static_cast<std::uint64_t>(rank)};
  std::vector<double> doubles{-1.5 - static_cast<double>(rank), 1e-300 * static_cast<double>(rank), -0.25,
                              std::numeric_limits<double>::infinity()};
  float single = -2.5F + static_cast<float>(rank);
  int asked = comm_.rank() == comm_.size() - 1 ? 3 : -1;
  std::uint64_t unsigned_most = ~std::uint64_t{0} - static_cast<std::uint64_t>(rank);
  const auto expected = doubles;
  const Count ranks = comm_.size();
  std::uint64_t bits = std::uint64_t{1} << comm_.rank();
  expect({1, 0, of_several(8 * (2 + 3 + 1 + 8))}, [&] {
    JointReduction()
        .max(most)
        .sum(sum)
        .max(std::span<double>(doubles))
        .sum(std::span<std::uint64_t>(sums))
        .exclusive_or(bits)
        .max(single)
        .max(asked)
        .max(unsigned_most)
        .apply(comm_);
  });
  EXPECT_EQ(sum, ranks * (ranks + 1) / 2);
  EXPECT_EQ(most, -5);
  EXPECT_EQ(sums[0], static_cast<std::uint64_t>(ranks) << 40);
  EXPECT_EQ(sums[1], static_cast<std::uint64_t>(ranks * (ranks - 1) / 2));
  EXPECT_EQ(doubles, (std::vector{-1.5, 1e-300 * static_cast<double>(ranks - 1), -0.25, expected[3]}));
  EXPECT_EQ(single, -2.5F + static_cast<float>(ranks - 1));
  EXPECT_EQ(bits, (std::uint64_t{1} << ranks) - 1);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(unsigned_most, ~std::uint64_t{0});
}

}  // namespace
}  // namespace grove
