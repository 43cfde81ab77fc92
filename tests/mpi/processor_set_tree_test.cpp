#include "decomposition/processor_set_tree.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/errors.hpp"

namespace grove {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// These services need no data.
struct Nothing {};

/// Adds what each rank makes of the inputs.
struct Add {
  static constexpr std::string_view name = "add";
  struct Input {
    std::int32_t factor;
  };
  struct Output {
    std::int64_t sum;
  };
  static void run(Nothing&, std::span<const Input> input, std::span<Output> answer) {
    for (std::size_t i = 0; i < input.size(); ++i) answer[i].sum = input[i].factor * (world_rank() + 1);
  }
  static void combine(Output& answer, const Output& other) { answer.sum += other.sum; }
};

/// Rank r answers with r + 1 copies of its number.
struct Gather {
  static constexpr std::string_view name = "gather";
  struct Input {
    std::int32_t unused;
  };
  struct Output {
    std::int32_t rank;
  };
  static void run(Nothing&, std::span<const Input>, std::vector<Output>& answer) {
    answer.assign(static_cast<std::size_t>(world_rank()) + 1, {world_rank()});
  }
};

/// Fails on the ranks from `rank` on.
struct Fail {
  static constexpr std::string_view name = "fail";
  struct Input {
    std::int32_t rank;
  };
  struct Output {
    std::int32_t unused;
  };
  static void run(Nothing&, std::span<const Input> input, std::span<Output>) {
    if (world_rank() >= input[0].rank) throw InputError("broken on rank " + std::to_string(world_rank()));
  }
  static void combine(Output&, const Output&) {}
};

/// The same for a service that gathers.
struct FailGathering {
  static constexpr std::string_view name = "fail gathering";
  struct Input {
    std::int32_t rank;
  };
  struct Output {
    std::int32_t unused;
  };
  static void run(Nothing&, std::span<const Input> input, std::vector<Output>&) {
    if (world_rank() >= input[0].rank) throw InputError("broken on rank " + std::to_string(world_rank()));
  }
};

/// Has no memory for its answer, on any rank.
struct TooLarge {
  static constexpr std::string_view name = "too large";
  struct Input {
    std::int32_t unused;
  };
  struct Output {
    std::int32_t unused;
  };
  static std::size_t answer_size(std::span<const Input>) { throw std::bad_alloc(); }
  static void run(Nothing&, std::span<const Input>, std::span<Output>) {}
  static void combine(Output&, const Output&) {}
};

std::vector<ServiceEntry> services(Nothing& own) {
  return {service_entry<Add>(own), service_entry<Gather>(own), service_entry<Fail>(own),
          service_entry<FailGathering>(own), service_entry<TooLarge>(own)};
}

class ProcessorSetTreeTest : public testing::TestWithParam<Transport> {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
  Nothing own_;
  DecompositionReport report_;
  ProcessorSetTree tree_{comm_, GetParam(), services(own_), report_};

  template <class S>
  void expect_failure_ends_the_script() {
    for (std::int32_t rank = 0; rank < comm_.size(); ++rank) {
      bool went_on = false;
      try {
        tree_.run([&] {
          tree_.call<S>({{rank}});
          went_on = true;
        });
        FAIL() << "no error";
      } catch (const Agreed<InputError>& error) {
        EXPECT_EQ(std::string(error.what()), "broken on rank " + std::to_string(rank));
      }
      EXPECT_FALSE(went_on);
    }
    tree_.run([&] { EXPECT_EQ(tree_.call<Add>({{1}}).size(), 1u); });
  }
};

TEST_P(ProcessorSetTreeTest, combines_the_answers_of_all_ranks) {
  // 3000 inputs do not fit into the block of a collective call that goes first.
  std::vector<Add::Input> input(3000);
  for (std::size_t i = 0; i < input.size(); ++i) input[i].factor = static_cast<std::int32_t>(i);
  tree_.run([&] {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, input.size()}) {
      const auto answer = tree_.call<Add>(std::span<const Add::Input>(input).first(size));
      ASSERT_EQ(answer.size(), size);
      const std::int64_t ranks = comm_.size();
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(answer[i].sum, static_cast<std::int64_t>(i) * ranks * (ranks + 1) / 2);
    }
  });
  EXPECT_EQ(report_.collectives, 3);
}

TEST_P(ProcessorSetTreeTest, gathers_in_rank_order) {
  tree_.run([&] {
    const auto answer = tree_.call<Gather>({{0}});
    std::vector<std::int32_t> ranks, expected;
    for (const auto& output : answer) ranks.push_back(output.rank);
    for (std::int32_t r = 0; r < comm_.size(); ++r)
      expected.insert(expected.end(), static_cast<std::size_t>(r) + 1, r);
    EXPECT_EQ(ranks, expected);
  });
}

TEST_P(ProcessorSetTreeTest, a_failing_service_ends_the_call_on_all_ranks) {
  expect_failure_ends_the_script<Fail>();
}

TEST_P(ProcessorSetTreeTest, a_failing_gather_ends_the_call_on_all_ranks) {
  expect_failure_ends_the_script<FailGathering>();
}

TEST_P(ProcessorSetTreeTest, an_answer_without_memory_is_not_taken_for_an_error_that_ranks_agreed_on) {
  // In a program the rank aborts all others, which would wait for its answer.
  EXPECT_THROW(tree_.run([&] { tree_.call<TooLarge>({{0}}); }), std::bad_alloc);
}

TEST_P(ProcessorSetTreeTest, an_error_of_the_script_reaches_all_ranks) {
  const auto script = [] { throw std::runtime_error("the script is wrong"); };
  EXPECT_THROW(tree_.run(script), Agreed<std::runtime_error>);
}

INSTANTIATE_TEST_SUITE_P(Transports, ProcessorSetTreeTest,
                         testing::Values(Transport::messages, Transport::collectives), [](const auto& test) {
                           return test.param == Transport::messages ? "messages" : "collectives";
                         });

}  // namespace
}  // namespace grove
