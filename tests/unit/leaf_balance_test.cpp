#include "decomposition/leaf_balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "base/hash.hpp"
#include "decomposition/leaf_runs.hpp"

namespace grove {
namespace {

using Runs = std::vector<std::int32_t>;

TEST(RankSpeeds, are_medians_of_the_last_longest_steps) {
  RankSpeeds speeds;
  const auto step = [&](double first, double second) {
    speeds.add(std::vector<RankSteps>{{{100, 100 / first}}, {{50, 50 / second}}});
  };
  step(10, 20);
  step(11, 20);
  EXPECT_FALSE(speeds.are_known());
  step(1, 21);
  EXPECT_TRUE(speeds.are_known());
  EXPECT_DOUBLE_EQ(speeds.typical()[0], 10);
  EXPECT_DOUBLE_EQ(speeds.typical()[1], 20);
  step(12, 22);
  EXPECT_DOUBLE_EQ(speeds.typical()[0], 11);
  EXPECT_DOUBLE_EQ(speeds.typical()[1], 21);
}

TEST(RankSpeeds, of_an_idle_rank_are_those_of_others_in_the_end) {
  RankSpeeds speeds;
  speeds.add(std::vector<RankSteps>{{{10, 1}}, {{10, 1}}, {}});
  EXPECT_DOUBLE_EQ(speeds.seen().front()[2], 10) << "nothing was known";
  speeds.add(std::vector<RankSteps>{{{10, 1}}, {{10, 1}}, {{1, 1}}});
  speeds.add(std::vector<RankSteps>{{{10, 1}}, {{10, 1}}, {}});
  EXPECT_LT(speeds.seen().front()[2], 2);
  for (int i = 0; i < 100; ++i) speeds.add(std::vector<RankSteps>{{{10, 1}}, {{10, 1}}, {}});
  // The error, a factor of 10, is forgotten by an eighth each time: (7/8)^100 ln 10 = 4e-6.
  EXPECT_NEAR(speeds.seen().front()[2], 10, 1e-4);
  const RankSpeeds before = speeds;
  speeds.add(std::vector<RankSteps>(3));
  EXPECT_EQ(speeds.seen(), before.seen()) << "nobody has walked";
  speeds.add(std::vector<RankSteps>{{{10, 0}}, {{20, 0}}, {{30, 0}}});
  EXPECT_EQ(speeds.seen(), before.seen()) << "nobody knows how long";
}

/// A run of 256 leaves on four ranks that are as fast as one likes. Speeds are interactions per second; a
/// leaf has a million, so a longest step takes a second where all is even.
class Cluster {
 public:
  static constexpr std::size_t ranks = 4;
  using Speeds = std::function<double(std::size_t rank, int step)>;

  explicit Cluster(MoveRates rates = {1e-3, 1e-7}, std::size_t leaves = 256)
      : balance(ranks, rates), particles(leaves, 4096) {
    for (std::size_t rank = 0; rank <= ranks; ++rank)
      runs.push_back(static_cast<std::int32_t>(leaves * rank / ranks));
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
      work.push_back(static_cast<Count>(500000 + mixed(leaf) % 1000000));
    balance.decomposed(0);
  }

  /// Another longest step; returns how long it took.
  double step(const Speeds& speed) {
    std::vector<RankSteps> walked;
    double longest = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const Count own = std::accumulate(work.begin() + runs[rank], work.begin() + runs[rank + 1], Count{0});
      // Other work of a machine: up to one per cent.
      const double noise = 1 + 1e-5 * static_cast<double>(mixed(1000 * steps + rank) % 1000);
      const Count updated =
          std::accumulate(particles.begin() + runs[rank], particles.begin() + runs[rank + 1], Count{0});
      walked.push_back({{own, noise * static_cast<double>(own) / speed(rank, steps)},
                        updated,
                        per_particle * static_cast<double>(updated)});
      longest = std::max(longest, walked.back().walk.seconds + walked.back().other_seconds);
    }
    ++steps;
    balance.stepped(walked);
    if (!balance.may_pay(steps)) return longest;
    ++searches;
    if (const auto chosen = balance.choose(work, particles, runs, steps)) {
      ++moves;
      runs = *chosen;
    }
    return longest;
  }
  void go(int count, const Speeds& speed) {
    for (int i = 0; i < count; ++i) step(speed);
  }

  LeafBalance balance;
  std::vector<Count> work, particles;
  Runs runs;
  double per_particle = 0;  ///< seconds of a step beside its walk
  int steps = 0, moves = 0, searches = 0;
};

constexpr double alike = 64e6;

TEST(LeafBalance, takes_leaves_from_a_slow_rank_and_gives_them_back) {
  Cluster cluster;
  cluster.go(20, [](std::size_t, int) { return alike; });
  const int at_first = cluster.moves;
  EXPECT_LE(at_first, 1) << "equal numbers of leaves are not quite equal work";
  const Cluster::Speeds slow = [](std::size_t rank, int) { return rank == 1 ? alike / 2 : alike; };
  EXPECT_GT(cluster.step(slow), 1.9);
  // Two of the last three steps have to be slow ones for the median, all three for the move.
  cluster.go(2, slow);
  EXPECT_EQ(cluster.moves, at_first + 1);
  // Work of 3.5 ranks' speed: 1.14 s, half a per cent for the runs, one for the noise, and a leaf of one and
  // a half millions, on the slow rank.
  EXPECT_LT(cluster.step(slow), 1.015 * 4 / 3.5 + 1.5e6 / (alike / 2));
  cluster.go(50, slow);
  EXPECT_EQ(cluster.moves, at_first + 1) << "it does not swing";
  cluster.go(50, [](std::size_t, int) { return alike; });
  EXPECT_EQ(cluster.moves, at_first + 2);
  EXPECT_LT(cluster.step([](std::size_t, int) { return alike; }), 1.015 + 1.5e6 / alike);
}

TEST(LeafBalance, takes_no_notice_of_single_slow_steps) {
  Cluster cluster;
  cluster.go(20, [](std::size_t, int) { return alike; });
  const int at_first = cluster.moves;
  // Every third step is ten times as slow, on one rank or another.
  cluster.go(60, [](std::size_t rank, int step) {
    return step % 3 == 0 && rank == static_cast<std::size_t>(step / 3) % 4 ? alike / 10 : alike;
  });
  EXPECT_EQ(cluster.moves, at_first);
}

TEST(LeafBalance, of_work_that_costs_more_time_in_some_leaves_ends_in_equal_times) {
  // The speed is that of a rank's leaves: those of the first quarter take twice as long.
  Cluster cluster;
  const Cluster::Speeds of_leaves = [&](std::size_t rank, int) {
    double own = 0, seconds = 0;
    for (auto leaf = static_cast<std::size_t>(cluster.runs[rank]);
         leaf < static_cast<std::size_t>(cluster.runs[rank + 1]); ++leaf) {
      own += static_cast<double>(cluster.work[leaf]);
      seconds += static_cast<double>(cluster.work[leaf]) / (leaf < 64 ? alike / 2 : alike);
    }
    return seconds > 0 ? own / seconds : alike;
  };
  cluster.go(60, of_leaves);
  EXPECT_LE(cluster.moves, 4);
  // All takes 5 / 4 s on each rank. A thirty-second is left alone; the rest as above.
  EXPECT_LT(cluster.step(of_leaves), 1.25 * 1.015 * (1 + 1.0 / 31) + 1.5e6 / (alike / 2));
}

/// Half of the leaves have three times as many particles as the others, which take as long as the walk does:
/// ranks with equal interactions take 3/4 s or 5/4 s for both. What a particle costs is learnt from steps,
/// and is in force from the next decomposition on.
TEST(LeafBalance, knows_what_particles_cost_beside_walks) {
  Cluster cluster;
  for (std::size_t leaf = 0; leaf < cluster.particles.size(); ++leaf)
    cluster.particles[leaf] = leaf < 128 ? 2048 : 6144;
  cluster.per_particle = 1.0 / (64 * 4096);
  const Cluster::Speeds all_alike = [](std::size_t, int) { return alike; };
  EXPECT_EQ(cluster.balance.particle_cost(), 0) << "not known";
  cluster.go(10, all_alike);
  EXPECT_GT(cluster.step(all_alike), 2.4) << "not in force";
  const int at_first = cluster.moves;
  // A million interactions take as long as 4096 particles, but for the noise of walks, up to 1%.
  const auto cost = static_cast<double>(cluster.balance.particle_cost());
  EXPECT_NEAR(cost, 1e6 / 4096, 0.01 * 1e6 / 4096 + 1);
  cluster.per_particle *= 1.2;
  cluster.go(3, all_alike);
  EXPECT_EQ(static_cast<double>(cluster.balance.particle_cost()), cost) << "a change by less than a quarter";
  cluster.per_particle /= 1.2;
  cluster.go(20, all_alike);
  EXPECT_LE(cluster.moves - at_first, 3);
  // 2 s on each rank, of which a thirty-second is left alone; and the work of the largest leaf at an end.
  EXPECT_LT(cluster.step(all_alike), 2 * 1.01 * (1 + 1.0 / 31) + 1.5e6 / alike + 6144 * cluster.per_particle);
}

TEST(LeafBalance, does_not_move_what_costs_more_than_it_saves) {
  const Cluster::Speeds slow = [](std::size_t rank, int) { return rank == 1 ? alike / 2 : alike; };
  // Seconds: what has to move has 26 leaves and more, so a hundred of them, and 0.8 are saved each step.
  Cluster dear({1e-3, 1e-3});
  dear.go(60, slow);
  EXPECT_EQ(dear.moves, 0);
  dear.go(200, slow);
  EXPECT_EQ(dear.moves, 1) << "where nothing else shares leaves out it pays in the end";

  Cluster often({1e-3, 1e-5});  // one second
  for (int cuts = 0; cuts < 20; ++cuts) {
    often.step(slow);
    often.balance.decomposed(often.steps);
  }
  EXPECT_EQ(often.moves, 0) << "the next decomposition does it";
}

TEST(LeafBalance, learns_what_moves_cost) {
  Cluster cluster({1e-3, 1e-7});
  for (int i = 0; i < 20; ++i) cluster.balance.moved(100000, 110);  // ten thousand times as long as guessed
  cluster.go(60, [](std::size_t rank, int) { return rank == 1 ? alike / 2 : alike; });
  EXPECT_EQ(cluster.moves, 0);
}

TEST(LeafBalance, gives_decompositions_the_speeds) {
  Cluster cluster;
  const auto speeds = [&] {
    std::vector<double> relative;
    for (const std::uint32_t speed : cluster.balance.speeds_of_shares())
      relative.push_back(static_cast<double>(speed) / (1 << 20));
    return relative;
  };
  const std::vector<double> equal(4, 1.0);
  EXPECT_EQ(speeds(), equal) << "nothing is known";
  cluster.go(10, [](std::size_t, int) { return alike; });
  EXPECT_EQ(speeds(), equal) << "noise is none of their business";
  cluster.go(3, [](std::size_t rank, int) { return rank == 3 ? alike / 4 : alike; });
  const std::vector<double> found = speeds();
  // Each of the two has up to one per cent of noise.
  EXPECT_NEAR(found[3], 0.25, 0.25 * 0.02);
  EXPECT_EQ(*std::max_element(found.begin(), found.end()), 1);
}

TEST(LeafBalance, does_not_search_in_vain_each_time) {
  // Nine leaves of four ranks: one rank has three of them, whoever it is, where 2.25 would be perfect.
  Cluster cluster({1e-3, 1e-7}, 9);
  std::fill(cluster.work.begin(), cluster.work.end(), 1000000);
  const Cluster::Speeds even = [](std::size_t, int) { return alike; };
  cluster.go(200, even);
  EXPECT_EQ(cluster.moves, 0);
  EXPECT_EQ(cluster.searches, 8) << "at 3, 4, 6, 10, ... 130";
  // The rank that has three leaves becomes slow; it has been for three longest steps at the third, but
  // typical speeds have changed at the second.
  const Cluster::Speeds slow = [](std::size_t rank, int) { return rank == 3 ? alike / 2 : alike; };
  cluster.go(3, slow);
  EXPECT_EQ(cluster.moves, 1) << "what has changed is searched at once";
  cluster.go(60, slow);
  EXPECT_EQ(cluster.moves, 1);
  EXPECT_EQ(cluster.searches, 8 + 2 + 6) << "after a move pauses begin anew: 1, 2, 4, 8, 16";
}

TEST(LeafBalance, looks_again_after_a_decomposition) {
  Cluster cluster({1e-3, 1e-7}, 9);
  std::fill(cluster.work.begin(), cluster.work.end(), 1000000);
  cluster.go(50, [](std::size_t, int) { return alike; });
  const int before = cluster.searches;
  cluster.balance.decomposed(cluster.steps);
  cluster.step([](std::size_t, int) { return alike; });
  EXPECT_EQ(cluster.searches, before + 1);
}

TEST(LeafBalance, leaves_slow_ranks_what_others_have_no_room_for) {
  // Three of four make a hundredth: the fast one would get 97 %, in moves as in decompositions.
  Cluster cluster;
  cluster.go(10, [](std::size_t rank, int) { return rank == 1 ? alike : alike / 100; });
  EXPECT_EQ(cluster.runs[2] - cluster.runs[1], 96) << "half as many again as 64";
  const std::vector<std::uint32_t> speeds = cluster.balance.speeds_of_shares();
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  // 3/8, but for the rounding of four speeds, of which the largest is a million.
  EXPECT_NEAR(speeds[1] / all, 0.375, 4e-6);
}

}  // namespace
}  // namespace grove
