#include "kernels/math/frame.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace grove {
namespace {

/// As exact as its comment says, far from the origin of the coordinates and at all distances.
TEST(SourceFrame, shifts_are_exact_to_single_precision) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Vec3d reference{1000, -2000, 500};
  const double per_length = std::ldexp(1.0, 23), edge = 1;
  for (int i = 0; i < 20000; ++i) {
    const double distance = edge * std::exp2(-i % 40);
    Vec3d a = reference, b = reference;
    for (int axis = 0; axis < 3; ++axis) {
      a[axis] += uniform(random) * edge / 4;
      b[axis] = a[axis] + uniform(random) * distance / 4;
    }
    const Vec3f shift = shift_between(SourceFrame::at(a, reference, per_length, 0, 0),
                                      SourceFrame::at(b, reference, per_length, 0, 0));
    for (int axis = 0; axis < 3; ++axis) {
      const double exact = (a[axis] - b[axis]) * per_length;
      EXPECT_LE(std::abs(shift[axis] - exact), 0x1p-23 * std::abs(exact) + 0x1p-25);
    }
  }
}

TEST(SourceFrame, shift_to_itself_is_none) {
  const SourceFrame frame = SourceFrame::at({0.1, 0.7, -0.3}, {0, 0, 0}, 1 << 23, 0, 0);
  EXPECT_EQ(shift_between(frame, frame), (Vec3f{0, 0, 0}));
}

}  // namespace
}  // namespace grove
