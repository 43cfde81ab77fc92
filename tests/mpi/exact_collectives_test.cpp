// Collectives that give the same bits on any number of ranks: each test deals the same items out in a way
// that depends on their number, and compares with what one rank computes alone from all items.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "base/activity.hpp"
#include "base/hash.hpp"
#include "comm/exact_sum.hpp"
#include "comm/radix_select.hpp"

namespace grove {
namespace {

/// Every rank's share of the items; rank 1 gets none if there are more than two.
template <class T>
std::vector<T> share(const Communicator& comm, const std::vector<T>& all) {
  std::vector<T> own;
  for (std::size_t i = 0; i < all.size(); ++i) {
    int rank = static_cast<int>(mixed(i) % static_cast<unsigned>(comm.size()));
    if (comm.size() > 2 && rank == 1) rank = 2;
    if (rank == comm.rank()) own.push_back(all[i]);
  }
  return own;
}

TEST(RadixSelect, finds_every_element_of_the_sorted_keys) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < 300; ++i)
    all.push_back(i % 3 == 0 ? 7 : static_cast<std::uint32_t>(mixed(i)));  // one key in three is the same
  all.push_back(UINT32_MAX);
  const auto own = share(comm, all);
  std::sort(all.begin(), all.end());
  for (std::size_t k = 0; k < all.size(); k += 4)
    EXPECT_EQ(select_key(comm, std::span<const std::uint32_t>(own), static_cast<Count>(k)), all[k]) << k;
}

TEST(RadixSelect, goes_through_all_digits_of_64_bits) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 64; ++i) all.push_back(std::uint64_t{1} << i), all.push_back(~all.back());
  const auto own = share(comm, all);
  std::sort(all.begin(), all.end());
  for (std::size_t k = 0; k < all.size(); ++k)
    EXPECT_EQ(select_key(comm, std::span<const std::uint64_t>(own), static_cast<Count>(k)), all[k]) << k;
}

TEST(Median, is_the_lower_one_of_all_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<float> all = {5e-30f, 3, 0, 1e30f, 2, 2.5f};
  EXPECT_EQ(median(comm, share(comm, all)), 2);
  all.push_back(1e-40f);  // a denormal
  EXPECT_EQ(median(comm, share(comm, all)), 2);
  all.push_back(7), all.push_back(8);
  EXPECT_EQ(median(comm, share(comm, all)), 2.5f);
  EXPECT_EQ(median(comm, {}), 0);
}

float without_last_bits(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) >> 11 << 11);
}

/// By any guess, of which some are near enough and some are at the ends of what is near, or beyond.
/// Neighbouring keys are a few bits apart, so that digits of all levels tell some from others.
TEST(RoughMedian, is_the_same_by_any_guess) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr std::uint32_t one = 0x3f800000, near = 1u << 21;
  for (const std::uint32_t spread : {1u, 1u << 10, 1u << 16, 1u << 20}) {
    std::vector<float> all;
    for (std::uint32_t i = 0; i < 101; ++i)
      all.push_back(std::bit_cast<float>(one + static_cast<std::uint32_t>(mixed(i) % (100 * spread))));
    const std::vector<float> own = share(comm, all);
    std::sort(all.begin(), all.end());
    const auto expected = std::bit_cast<std::uint32_t>(all[50]);
    for (const std::uint32_t guess :
         {0u, expected, one, expected - near - 1, expected - near, expected - near + 2048,
          expected + near - 2048, expected + near, expected + near + 1, 1u, ~0u}) {
      JointReduction joint;
      Count ranks = 1;
      joint.sum(ranks);
      EXPECT_EQ(rough_median(comm, own, std::bit_cast<float>(guess), joint), without_last_bits(all[50]))
          << spread << ", " << guess;
      EXPECT_EQ(ranks, comm.size());
    }
  }
  JointReduction joint;
  EXPECT_EQ(rough_median(comm, {}, 1.F, joint), 0);
}

/// One call in place of two.
TEST(RoughMedian, is_found_sooner_by_a_guess_that_is_near) {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<float> own = share(comm, std::vector<float>{1, 2, 3, 4, 5});
  const auto calls = [&](float guess) {
    JointReduction joint;
    const std::uint64_t before = activity().collectives;
    EXPECT_EQ(rough_median(comm, own, guess, joint), 3);
    return activity().collectives - before;
  };
  EXPECT_EQ(calls(0), 2u);
  EXPECT_EQ(calls(3.1F), 1u);
  EXPECT_EQ(calls(1e10F), 3u);
}

TEST(ExactSums, have_the_same_bits_however_the_terms_are_dealt_out) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  struct Row {
    double small, large, none;
  };
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<Row> all;
  // The power of two that makes integers of the small ones is beyond the range of double precision.
  for (int i = 0; i < 1000; ++i) all.push_back({1e-300 * normal(random), 1e300 * normal(random), 0});
  const auto terms = [](const std::vector<Row>& rows) {
    return std::span<const double>(rows.empty() ? nullptr : &rows[0].small, 3 * rows.size());
  };
  const auto own = share(comm, all);
  const auto sums = exact_sums(comm, terms(own), 3, 1000), expected = exact_sums(alone, terms(all), 3, 1000);

  std::vector<long double> plain(3, 0.0L);
  for (const Row& row : all) plain[0] += row.small, plain[1] += row.large;
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sums[s]), std::bit_cast<std::uint64_t>(expected[s])) << s;
    // 1000 terms, each rounded to 2^-52 of the largest (at most 5 sigma), by half a unit on the average.
    const double unit = s == 0 ? 1e-300 : 1e300;
    EXPECT_NEAR(sums[s] / unit, static_cast<double>(plain[s] / unit), 1000 * 5 * std::ldexp(1.0, -52));
  }
}

TEST(ExactSums, are_infinite_where_a_term_is_not_finite) {
  const Communicator comm(MPI_COMM_WORLD);
  const std::vector<double> terms = {NAN, comm.is_master() ? INFINITY : 1.0, 2.0};
  const auto sums = exact_sums(comm, terms, 3, comm.size());
  EXPECT_FALSE(std::isfinite(sums[0]));
  EXPECT_FALSE(std::isfinite(sums[1]));
  EXPECT_EQ(sums[2], 2.0 * comm.size());
}

}  // namespace
}  // namespace grove
