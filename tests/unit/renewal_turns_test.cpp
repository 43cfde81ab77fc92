#include "tuning/renewal_turns.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace grove {
namespace {

/// 1000 particles on rung 0, 100 on rung 1, 10 on rung 2.
constexpr RungCounts of_rungs{1000, 100, 10};

std::vector<std::optional<int>> turns(RenewalTurns turns, const std::vector<std::optional<int>>& from,
                                      bool follows_cuts = false) {
  std::vector<std::optional<int>> taken;
  for (const std::optional<int>& rung : from) taken.push_back(turns.next(rung, of_rungs, follows_cuts));
  return taken;
}

TEST(RenewalTurns, are_every_second_step_of_few) {
  const std::vector<std::optional<int>> steps(5, 2), halves{2, {}, 2, {}, 2};
  EXPECT_EQ(turns(RenewalTurns(10), steps), halves);
  EXPECT_EQ(turns(RenewalTurns(9), steps), steps) << "of more, every one";
  EXPECT_EQ(turns(RenewalTurns(0), steps), steps) << "of a host";
  EXPECT_EQ(turns(RenewalTurns(10), steps, true), steps) << "cuts that lead are no renewal";
}

TEST(RenewalTurns, count_those_that_had_these_particles) {
  const std::vector<std::optional<int>> shorter_first{2, 1, 2, 2}, kept{2, 1, {}, 2};
  EXPECT_EQ(turns(RenewalTurns(110), shorter_first), kept);
  const std::vector<std::optional<int>> refitted{2, {}, 2};
  EXPECT_EQ(turns(RenewalTurns(110), refitted), refitted) << "not the step before";
}

TEST(RenewalTurns, go_on_from_their_state) {
  RenewalTurns first(10), second(10);
  EXPECT_EQ(first.next(2, of_rungs, false), 2);
  second.restore(first.state());
  EXPECT_EQ(second.next(2, of_rungs, false), std::nullopt);
}

}  // namespace
}  // namespace grove
