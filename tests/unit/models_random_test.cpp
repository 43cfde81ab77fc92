#include <gtest/gtest.h>

#include <cmath>

#include "particles/models/random.hpp"

namespace grove {
namespace {

using Block = std::array<std::uint32_t, 4>;

TEST(Philox, gives_the_known_answers) {
  // The three vectors that Random123 publishes for philox4x32-10 (file kat_vectors).
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t all = 0xffffffff;
  EXPECT_EQ(philox4x32({all, all, all, all}, {all, all}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, moments_are_those_of_its_distributions) {
  constexpr int n = 100000;
  double uniform = 0, uniform2 = 0, normal = 0, normal2 = 0;
  Vec3d direction{0, 0, 0};
  for (int i = 0; i < n; ++i) {
    RandomStream random(7, static_cast<std::uint64_t>(i));  // successive particles, as models use it
    const double u = random.uniform() - 0.5, g = random.normal();
    uniform += u / n;
    uniform2 += u * u / n;
    normal += g / n;
    normal2 += g * g / n;
    direction += random.isotropic(1) * (1.0 / n);
  }
  // Four standard errors: variances of u, u^2, g, g^2 are 1/12, 1/180, 1, 2; of a direction's component 1/3.
  const double error = 4 / std::sqrt(n);
  EXPECT_NEAR(uniform, 0, error * std::sqrt(1.0 / 12));
  EXPECT_NEAR(uniform2, 1.0 / 12, error * std::sqrt(1.0 / 180));
  EXPECT_NEAR(normal, 0, error);
  EXPECT_NEAR(normal2, 1, error * std::sqrt(2.0));
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(direction[axis], 0, error * std::sqrt(1.0 / 3));
}

TEST(RandomStream, depends_on_seed_and_particle) {
  const double reference = RandomStream(1, 1).uniform();
  EXPECT_EQ(RandomStream(1, 1).uniform(), reference);
  EXPECT_NE(RandomStream(2, 1).uniform(), reference);
  EXPECT_NE(RandomStream(1, 2).uniform(), reference);
  EXPECT_NE(RandomStream(1ull << 32, 1).uniform(), RandomStream(0, 1).uniform()) << "high word of the seed";
}

}  // namespace
}  // namespace grove
