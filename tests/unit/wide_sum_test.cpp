#include "kernels/math/wide_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace grove {
namespace {

bool same(const WideSum& a, const WideSum& b) { return std::equal(a.limb, a.limb + WideSum::limbs, b.limb); }

TEST(WideSum, has_each_digit_of_terms_of_any_size) {
  for (const double term : {0.0, 1.0, 3.0, 0x1.fffffffffffffp62, 0x1.fffffffffffffp-44, 0x1p-96, 1 / 3.,
                            1e-12 / 3, 0x1.8p31, 0x1.fffffffffffffp31, 1e9 / 7}) {
    WideSum sum;
    sum.add(term);
    EXPECT_EQ(sum.value(), term);
  }
  WideSum cut;
  cut.add(0x1.fp-97);
  EXPECT_EQ(cut.value(), 0);
}

TEST(WideSum, does_not_depend_on_order_nor_on_parts) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponents(-60, 40);
  std::vector<double> terms(20000);
  for (double& term : terms) term = std::exp2(exponents(random));
  WideSum all, parts[3], joined;
  for (const double term : terms) all.add(term);
  std::shuffle(terms.begin(), terms.end(), random);
  for (std::size_t i = 0; i < terms.size(); ++i) parts[i % 3].add(terms[i]);
  for (const WideSum& part : parts)
    for (int i = 0; i < WideSum::limbs; ++i) joined.limb[i] += part.limb[i];
  EXPECT_TRUE(same(all, joined));
  std::sort(terms.begin(), terms.end());
  long double expected = 0;
  for (const double term : terms) expected += term;
  // Long doubles have 64 digits: 20,000 roundings of 2^-64 are 1e-15; four roundings of the value 4e-16.
  EXPECT_NEAR(all.value() / static_cast<double>(expected), 1, 2e-15);
}

TEST(WideSum, carries_between_its_integers) {
  WideSum sum;
  constexpr int terms = 1 << 20;
  for (int i = 0; i < terms; ++i) sum.add(0x1.fffffffffffffp-33);  // the largest of the third integer
  EXPECT_EQ(sum.value(), 0x1.fffffffffffffp-13);
}

}  // namespace
}  // namespace grove
