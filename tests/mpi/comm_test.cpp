#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/errors.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "comm/tell_some.hpp"

namespace grove {
namespace {

TEST(Communicator, gathers_arrays_of_unequal_length_in_rank_order) {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<int> mine(static_cast<std::size_t>(comm.rank()), comm.rank());
  const std::vector<int> all = comm.all_gather_arrays(std::span<const int>(mine));
  std::vector<int> expected;
  for (int r = 0; r < comm.size(); ++r) expected.insert(expected.end(), static_cast<std::size_t>(r), r);
  EXPECT_EQ(all, expected);
}

TEST(Communicator, together_gives_every_rank_the_error_of_the_lowest) {
  const Communicator comm(MPI_COMM_WORLD);
  const int last = comm.size() - 1;
  try {
    comm.together([&] {
      if (comm.rank() == last) throw InputError("from rank " + std::to_string(last));
    });
    FAIL() << "no error on rank " << comm.rank();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), "from rank " + std::to_string(last));
  }
  EXPECT_NO_THROW(comm.together([] {}));
}

/// Rank r has r values, more than `few` on the highest ones, then none; then one of the ranks fails, the one
/// with most to tell included.
TEST(Communicator, gathers_results_of_work_in_one_message_or_two_unless_it_fails_anywhere) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto values = [&](int rank) {
    std::vector<int> own;
    for (int i = 0; i < rank; ++i) own.push_back(100 * rank + i);
    return own;
  };
  std::vector<int> all;
  std::vector<Count> counts;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::vector<int> own = values(rank);
    all.insert(all.end(), own.begin(), own.end());
    counts.push_back(rank);
  }
  for (const std::size_t few : {0U, 2U, 100U}) {
    const auto told = comm.gather_few_together<int>([&] { return values(comm.rank()); }, few);
    EXPECT_EQ(told.values, all);
    EXPECT_EQ(told.counts, counts);
    const auto nothing = comm.gather_few_together<int>([] { return std::vector<int>(); }, few);
    EXPECT_TRUE(nothing.values.empty());
    for (const int failing : {0, comm.size() - 1}) {
      const auto work = [&]() -> std::vector<int> {
        if (comm.rank() == failing) throw InputError("no");
        return values(comm.rank());
      };
      EXPECT_THROW(comm.gather_few_together<int>(work, few), InputError);
    }
  }
}

TEST(TellSome, brings_each_value_to_its_rank_and_is_done_when_all_are_there) {
  const Communicator comm(MPI_COMM_WORLD);
  // Round k: rank r tells rank s something if r + s + k is a multiple of 3; in each third round ranks are
  // late.
  for (int k = 0; k < 30; ++k) {
    const auto tells = [&](int r, int s) { return r != s && (r + s + k) % 3 == 0; };
    std::vector<Told<std::array<int, 3>>> told, expected;
    for (int s = comm.size() - 1; s >= 0; --s)
      if (tells(comm.rank(), s)) told.push_back({s, {k, comm.rank(), s}});
    for (int r = 0; r < comm.size(); ++r)
      if (tells(r, comm.rank())) expected.push_back({r, {k, r, comm.rank()}});
    if (k % 3 == 0 && comm.rank() % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // In every other round two numbers travel along, the largest of which other ranks have each time.
    std::vector<Count> maxima, largest;
    if (k % 2 == 1) {
      maxima = {(comm.rank() + k) % comm.size(), -((comm.rank() + k) % comm.size())};
      largest = {comm.size() - 1, 0};
    }
    const auto heard =
        tell_some(comm, std::span<const Told<std::array<int, 3>>>(told), std::span<Count>(maxima));
    EXPECT_EQ(maxima, largest) << "of round " << k;
    ASSERT_EQ(heard.size(), expected.size());
    for (std::size_t i = 0; i < heard.size(); ++i) {
      EXPECT_EQ(heard[i].rank, expected[i].rank);
      EXPECT_EQ(heard[i].value, expected[i].value) << "of round " << k;
    }
  }
}

TEST(ExchangePlan, is_the_same_made_with_others_and_where_it_is_known) {
  const Communicator comm(MPI_COMM_WORLD);
  std::array<std::vector<Count>, 2> counts;
  std::vector<Count> received;
  for (int other = 0; other < comm.size(); ++other) {
    counts[0].push_back(3 * comm.rank() + other);
    counts[1].push_back((comm.rank() + other) % 2);
    received.push_back(3 * other + comm.rank());
  }
  const std::vector<ExchangePlan> plans = ExchangePlan::several(comm, counts);
  ASSERT_EQ(plans.size(), counts.size());
  const auto expect_same = [](const ExchangePlan& one, const ExchangePlan& other) {
    EXPECT_TRUE(std::ranges::equal(one.send_offsets(), other.send_offsets()));
    EXPECT_TRUE(std::ranges::equal(one.receive_offsets(), other.receive_offsets()));
  };
  for (std::size_t i = 0; i < plans.size(); ++i) expect_same(plans[i], ExchangePlan(comm, counts[i]));
  expect_same(plans[0],
              ExchangePlan(comm, std::span<const Count>(counts[0]), std::span<const Count>(received)));
  Count most = comm.rank();
  expect_same(plans[0], ExchangePlan::with_largest(comm, counts[0], most));
  EXPECT_EQ(most, comm.size() - 1);
}

TEST(ExchangePlan, brings_every_element_to_its_rank_in_rounds_of_any_size) {
  const Communicator comm(MPI_COMM_WORLD);
  // Rank r sends (r + s) % 4 elements to rank s, so some pairs exchange nothing.
  std::vector<Count> counts;
  std::vector<std::uint64_t> send;
  for (int s = 0; s < comm.size(); ++s) {
    counts.push_back((comm.rank() + s) % 4);
    for (Count i = 0; i < counts.back(); ++i)
      send.push_back(static_cast<std::uint64_t>(comm.rank() * 10000 + s * 100 + i));
  }
  std::vector<std::uint64_t> expected;
  for (int s = 0; s < comm.size(); ++s)
    for (int i = 0; i < (comm.rank() + s) % 4; ++i)
      expected.push_back(static_cast<std::uint64_t>(s * 10000 + comm.rank() * 100 + i));

  for (const std::size_t round_bytes :
       {std::size_t{1}, std::size_t{8}, std::size_t{20}, ExchangePlan::default_round_bytes}) {
    const ExchangePlan plan(comm, counts, round_bytes);
    Array<std::uint64_t> field(send.begin(), send.end());
    plan.apply(field);
    EXPECT_EQ(std::vector<std::uint64_t>(field.begin(), field.end()), expected);

    std::vector<int> packed(send.size(), 0);
    Array<std::uint64_t> received(expected.size());
    const auto pack = [&](std::size_t begin, std::span<std::uint64_t> piece) {
      EXPECT_LE(piece.size_bytes(), std::max(round_bytes, sizeof(std::uint64_t)));
      for (std::size_t i = 0; i < piece.size(); ++i) {
        piece[i] = send.at(begin + i);
        ++packed.at(begin + i);
      }
    };
    plan.apply(pack, std::span<std::uint64_t>(received));
    EXPECT_EQ(received, field);
    EXPECT_EQ(packed, std::vector<int>(send.size(), 1)) << "each element is packed once";
  }
}

}  // namespace
}  // namespace grove
