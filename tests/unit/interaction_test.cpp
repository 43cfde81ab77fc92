#include "kernels/math/interaction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/math/lanes.hpp"
#include "kernels/math/moments.hpp"

namespace grove {
namespace {

struct Body {
  Vec3d position;
  double mass;
};

/// Some bodies within `size` of the origin.
std::vector<Body> cluster(double size) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Body> bodies;
  for (int i = 0; i < 8; ++i)
    bodies.push_back(
        {Vec3d{uniform(random), uniform(random), uniform(random)} * (size / std::sqrt(3.)), 0.1 + 0.1 * i});
  return bodies;
}

CellSource source_of(const std::vector<Body>& bodies, float softening) {
  std::vector<SourceParticle> particles;
  for (const Body& b : bodies) particles.push_back({b.position.as<float>(), static_cast<float>(b.mass)});
  const std::vector<float> softenings(particles.size(), softening);
  const MomentSum sum =
      bucket_moments(particles.data(), softenings.data(), static_cast<std::int32_t>(bodies.size()));
  return CellSource::of(sum.centre.as<float>(), static_cast<float>(sum.mass), node_moments(sum), softening,
                        softening * softening);
}

template <class Shape>
double scale_of(double softening) {
  if constexpr (std::is_same_v<Shape, Plummer>) return softening * softening;
  return 2.8 * softening * 2.8 * softening;
}

template <class Shape>
Accumulator<double> direct(const std::vector<Body>& bodies, const Vec3d& target, double scale) {
  Accumulator<double> sum{{0, 0, 0}, 0};
  for (const Body& b : bodies) add_particle(Shape{}, b.position - target, b.mass, scale, sum);
  return sum;
}

template <class Shape>
Accumulator<double> expanded(const CellSource& cell, const Vec3d& target, double scale) {
  Accumulator<double> sum{{0, 0, 0}, 0};
  add_quadrupole(Shape{}, cell.centre.as<double>() - target, cell, scale, sum);
  return sum;
}

template <class Shape>
class Softened : public ::testing::Test {};
using Shapes = ::testing::Types<Newton, Plummer, Spline>;
TYPED_TEST_SUITE(Softened, Shapes);

/// Central differences of step h err by h^2/6 of the third derivative, at most some 60 P/r^3 here (r > 0.5,
/// softening at least 0.3), and by rounding: 1e-16 P/h. With h = 1e-4: 1e-7 and 1e-12.
TYPED_TEST(Softened, accelerationIsTheGradientOfThePotential) {
  const auto bodies = cluster(0.2);
  const CellSource cell = source_of(bodies, 0.3F);
  const double scale = scale_of<TypeParam>(0.3), h = 1e-4;
  for (const Vec3d target : {Vec3d{0.5, 0.1, -0.2}, Vec3d{0.3, 0.5, 0.2}, Vec3d{-0.7, 0.4, 0.6}}) {
    const Accumulator<double> cells = expanded<TypeParam>(cell, target, scale);
    const Accumulator<double> points = direct<TypeParam>(bodies, target, scale);
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d up = target, down = target;
      up[axis] += h;
      down[axis] -= h;
      EXPECT_NEAR((expanded<TypeParam>(cell, up, scale).potential -
                   expanded<TypeParam>(cell, down, scale).potential) /
                      (2 * h),
                  cells.acceleration[axis], 2e-6);
      EXPECT_NEAR((direct<TypeParam>(bodies, up, scale).potential -
                   direct<TypeParam>(bodies, down, scale).potential) /
                      (2 * h),
                  points.acceleration[axis], 2e-6);
    }
  }
}

/// The error of a quadrupole is of third order in the size of the cluster: an eighth when it is halved,
/// and a sixteenth of fourth order. At d > 0.92 and x = size/d < 0.22 the remainder x^3 (4 - 3x)/(1 - x)^2
/// m/d^2 is 7 size^3 at the most; the softened force is at least (1 + 0.3^2/d^2)^(-3/2) = 0.86 of m/d^2.
/// Float moments round at 1e-7 of the force.
TYPED_TEST(Softened, quadrupoleErrsInThirdOrder) {
  double before = 0;
  for (const double size : {0.2, 0.1, 0.05}) {
    const auto bodies = cluster(size);
    double worst = 0;
    for (const Vec3d target : {Vec3d{0.9, 0.1, -0.2}, Vec3d{0.3, 0.9, 0.4}, Vec3d{-0.7, 0.4, 0.6}}) {
      const double scale = scale_of<TypeParam>(0.3);
      const Accumulator<double> exact = direct<TypeParam>(bodies, target, scale);
      const Accumulator<double> cell = expanded<TypeParam>(source_of(bodies, 0.3F), target, scale);
      worst = std::max(worst, norm(cell.acceleration - exact.acceleration) / norm(exact.acceleration));
    }
    if (before > 0) {
      EXPECT_LT(worst, before / 6 + 1e-6);
    }
    EXPECT_LT(worst, 7 / 0.86 * std::pow(size, 3) + 1e-6);
    before = worst;
  }
}

TEST(Spline, isNewtonianBeyondItsRadiusAndMinusOneOverSofteningAtTheCentre) {
  const double eps = 0.1, scale = scale_of<Spline>(eps);
  const auto centre = softened_pair(Spline{}, 0.0, scale);
  // A dozen roundings; at the edge of the spline of terms up to 130 times the result.
  EXPECT_NEAR(centre.potential, 1 / eps, 12 * 1e-16 / eps);
  for (const double r : {0.28, 0.3, 1.0}) {
    const auto far = softened_pair(Spline{}, r * r, scale);
    EXPECT_NEAR(far.potential, 1 / r, 130 * 12 * 1e-16 / r);
    EXPECT_NEAR(far.force, 1 / (r * r * r), 130 * 12 * 1e-16 / (r * r * r));
  }
}

/// psi_{n+1} = -(1/r) d psi_n/dr, by central differences, as far as their own error goes: h^2/6 f'''.
TEST(Spline, seriesAreDerivativesOfEachOther) {
  const double radius = 1, h = 1e-5;
  const auto psi = [&](double r) {
    const auto s = spline_series(r * r, 1 / r, 1 / radius);
    const double i = s.inverse, i2 = i * i;
    return std::array<double, 4>{s.c0 * i, s.c1 * i * i2, s.c2 * i * i2 * i2, s.c3 * i * i2 * i2 * i2};
  };
  for (const double r : {0.1, 0.3, 0.45, 0.55, 0.8, 0.95, 1.2})
    for (std::size_t n = 0; n < 3; ++n)
      EXPECT_NEAR(-(psi(r + h)[n] - psi(r - h)[n]) / (2 * h * r), psi(r)[n + 1],
                  1e-5 * (1 + std::abs(psi(r)[n + 1])));
}

/// One Newton step on an estimate of relative error 2^-14 or 1.5 x 2^-12 leaves 2.0e-7 at most; rounding adds
/// three units of 6e-8.
TEST(Lanes, inverseSquareRootIsAccurate) {
  for (float x = 1e-24F; x < 1e24F; x *= 1.37F) {
    float values[lane_count];
    inverse_sqrt(Lanes(x)).store(values);
    for (const float value : values) EXPECT_NEAR(value * std::sqrt(double{x}), 1, 4e-7);
  }
}

/// The same formula in registers and in single numbers: inverse roots to 4e-7, up to its seventh power, and a
/// dozen roundings.
TYPED_TEST(Softened, lanesAgreeWithNumbers) {
  const CellSource cell = source_of(cluster(0.2), 0.3F);
  const auto scale = static_cast<float>(scale_of<TypeParam>(0.3));
  for (const Vec3f d : {Vec3f{0.5F, 0.1F, -0.2F}, Vec3f{0.3F, 1.5F, 0.2F}, Vec3f{-0.7F, 0.4F, 0.6F}}) {
    Accumulator<float> one{{0, 0, 0}, 0};
    Accumulator<Lanes> many{{Lanes(0.F), Lanes(0.F), Lanes(0.F)}, Lanes(0.F)};
    const Vec3<Lanes> lanes{Lanes(d.x), Lanes(d.y), Lanes(d.z)};
    add_quadrupole(TypeParam{}, d, cell, scale, one);
    add_quadrupole(TypeParam{}, lanes, cell, Lanes(scale), many);
    add_particle(TypeParam{}, d, 2.F, scale, one);
    add_particle(TypeParam{}, lanes, Lanes(2.F), Lanes(scale), many);
    float x[lane_count], potential[lane_count];
    many.acceleration.x.store(x);
    many.potential.store(potential);
    for (int i = 0; i < lane_count; ++i) {
      EXPECT_NEAR(x[i], one.acceleration.x, 4e-6F * norm(one.acceleration));
      EXPECT_NEAR(potential[i], one.potential, 4e-6F * one.potential);
    }
  }
}

/// No power of a distance leaves the range of a float, near the least radius of a spline (2.24e-8) and far
/// away.
TYPED_TEST(Softened, staysFiniteAtExtremeDistances) {
  for (const double size : {2.3e-8, 1e-6, 1.0, 1e3, 2.9e7}) {
    const auto bodies = cluster(0.2 * size);
    const CellSource cell = source_of(bodies, static_cast<float>(0.3 * size));
    Accumulator<Lanes> sum{{Lanes(0.F), Lanes(0.F), Lanes(0.F)}, Lanes(0.F)};
    const Lanes scale(scale_of<TypeParam>(0.3 * size));
    add_quadrupole(TypeParam{}, {Lanes(static_cast<float>(size)), Lanes(0.F), Lanes(0.F)}, cell, scale, sum);
    float x[lane_count];
    sum.acceleration.x.store(x);
    const double expected = direct<TypeParam>(bodies, cell.centre.as<double>() - Vec3d{size, 0, 0},
                                              scale_of<TypeParam>(0.3 * size))
                                .acceleration.x;
    // As in quadrupoleErrsInThirdOrder.
    EXPECT_NEAR(x[0] / expected, 1, 7 / 0.86 * std::pow(0.2, 3));
  }
}

Octupole<double> octupole_of_bodies(const std::vector<Body>& bodies, const Vec3d& centre) {
  ThirdMoments third;
  for (const Body& body : bodies) third.add(body.mass, body.position - centre);
  return third.octupole();
}

Accumulator<double> with_octupole(const std::vector<Body>& bodies, const Vec3d& target) {
  const CellSource cell = source_of(bodies, 0);
  Accumulator<double> sum{{0, 0, 0}, 0};
  add_octupole(cell.centre.as<double>() - target, cell, octupole_of_bodies(bodies, cell.centre.as<double>()),
               1.0, sum);
  return sum;
}

/// As for quadrupoles: 1e-7 of truncation and 1e-12 of rounding, and moments of single precision in both.
TEST(Octupole, acceleration_is_the_gradient_of_the_potential) {
  const auto bodies = cluster(0.2);
  const double h = 1e-4;
  for (const Vec3d target : {Vec3d{0.5, 0.1, -0.2}, Vec3d{0.3, 0.5, 0.2}, Vec3d{-0.7, 0.4, 0.6}})
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d up = target, down = target;
      up[axis] += h;
      down[axis] -= h;
      EXPECT_NEAR((with_octupole(bodies, up).potential - with_octupole(bodies, down).potential) / (2 * h),
                  with_octupole(bodies, target).acceleration[axis], 2e-6);
    }
}

/// The error is of fourth order in the size of the cluster: a sixteenth when it is halved, a 32nd of fifth
/// order. At d > 0.92 and x = size/d < 0.22 the remainder x^4 (5 - 4 x)/(1 - x)^2 m/d^2 is 9.5 size^4 at
/// most. Float moments round at 1e-7 of the force.
TEST(Octupole, errs_in_fourth_order) {
  double before = 0;
  for (const double size : {0.2, 0.1, 0.05}) {
    const auto bodies = cluster(size);
    double worst = 0;
    for (const Vec3d target : {Vec3d{0.9, 0.1, -0.2}, Vec3d{0.3, 0.9, 0.4}, Vec3d{-0.7, 0.4, 0.6}}) {
      const Accumulator<double> exact = direct<Newton>(bodies, target, 0),
                                found = with_octupole(bodies, target);
      worst = std::max(worst, norm(found.acceleration - exact.acceleration) / norm(exact.acceleration));
      EXPECT_NEAR(found.potential / exact.potential, 1, 9.5 * std::pow(size, 4) + 1e-6);
    }
    if (before > 0) {
      EXPECT_LT(worst, before / 12 + 1e-6);
    }
    EXPECT_LT(worst, 9.5 * std::pow(size, 4) + 1e-6);
    before = worst;
  }
}

/// The third moments of two clusters from those of each about its own centre. A dozen roundings of terms of
/// mass 4 and size 8.
TEST(Octupole, of_two_clusters_follows_from_theirs) {
  auto left = cluster(0.4), right = cluster(0.3);
  for (Body& body : left) body.position += Vec3d{1, -2, 0.5};
  for (Body& body : right)
    body.position = Vec3d{-body.position.y, body.position.z, body.position.x} + Vec3d{-1, 0.5, 2};
  const Vec3d place{0.1, 0.2, 0.3};
  ThirdMoments moved;
  Octupole<double> below{};
  std::vector<Body> all;
  for (const auto& part : {left, right}) {
    MomentSum sum;
    for (const Body& b : part) sum.mass += b.mass, sum.centre += b.position * b.mass;
    sum.centre *= 1 / sum.mass;
    for (const Body& b : part) {
      const Vec3d d = b.position - sum.centre;
      sum.xx += b.mass * d.x * d.x, sum.yy += b.mass * d.y * d.y, sum.zz += b.mass * d.z * d.z;
      sum.xy += b.mass * d.x * d.y, sum.xz += b.mass * d.x * d.z, sum.yz += b.mass * d.y * d.z;
    }
    moved.add_moved(sum, sum.centre - place);
    moved.add(sum.mass, sum.centre - place);
    below = below + octupole_of_bodies(part, sum.centre);
    all.insert(all.end(), part.begin(), part.end());
  }
  const Octupole<double> found = moved.octupole() + below, expected = octupole_of_bodies(all, place);
  constexpr double rounding = 12 * 0x1p-53 * 4 * 8 * 2.5;
  EXPECT_NEAR(found.xxx, expected.xxx, rounding);
  EXPECT_NEAR(found.xxy, expected.xxy, rounding);
  EXPECT_NEAR(found.xyy, expected.xyy, rounding);
  EXPECT_NEAR(found.yyy, expected.yyy, rounding);
  EXPECT_NEAR(found.xxz, expected.xxz, rounding);
  EXPECT_NEAR(found.xyz, expected.xyz, rounding);
  EXPECT_NEAR(found.yyz, expected.yyz, rounding);
}

/// What is said of packing: half of a unit, of which the largest component has 64 or more, but where 127.5
/// and more become 127.
TEST(Octupole, is_packed_to_a_127th_of_its_largest_component) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const double size : {1e-34, 1e-10, 1.0, 3e20, 1e38})
    for (int trial = 0; trial < 300; ++trial) {
      double value[7], largest = 0;
      for (double& v : value) v = size * uniform(random), largest = std::max(largest, std::abs(v));
      const auto o =
          PackedOctupole::of({value[0], value[1], value[2], value[3], value[4], value[5], value[6]})
              .unpacked<double>();
      const double found[] = {o.xxx, o.xxy, o.xyy, o.yyy, o.xxz, o.xyz, o.yyz};
      for (int k = 0; k < 7; ++k) EXPECT_NEAR(found[k], value[k], largest / 127) << size;
    }
}

TEST(Octupole, packs_what_is_nothing_or_out_of_range_as_nothing) {
  for (const double value : {0.0, 1e-50, 1e60, std::numeric_limits<double>::quiet_NaN()}) {
    const PackedOctupole packed = PackedOctupole::of({value, value, 0, 0, 0, 0, value});
    EXPECT_EQ(packed.low | packed.high, 0U) << value;
    const auto o = packed.unpacked<float>();
    EXPECT_EQ(std::abs(o.xxx) + std::abs(o.xyy) + std::abs(o.yyz), 0) << value;
  }
}

/// As of quadrupoles: near the least radius of a spline and far away, with the packed octupole.
TEST(Octupole, stays_finite_at_extreme_distances) {
  for (const double size : {2.3e-8, 1e-6, 1.0, 1e3, 2.9e7}) {
    const auto bodies = cluster(0.2 * size);
    CellSource cell = source_of(bodies, 0);
    cell.octupole = PackedOctupole::of(octupole_of_bodies(bodies, cell.centre.as<double>()));
    Accumulator<Lanes> sum{{Lanes(0.F), Lanes(0.F), Lanes(0.F)}, Lanes(0.F)};
    const Octupole<float> o = cell.octupole.numbers();
    add_octupole(
        {Lanes(static_cast<float>(size)), Lanes(0.F), Lanes(0.F)}, cell,
        {Lanes(o.xxx), Lanes(o.xxy), Lanes(o.xyy), Lanes(o.yyy), Lanes(o.xxz), Lanes(o.xyz), Lanes(o.yyz)},
        Lanes(cell.octupole.unit()), sum);
    float x[lane_count];
    sum.acceleration.x.store(x);
    const double expected =
        direct<Newton>(bodies, cell.centre.as<double>() - Vec3d{size, 0, 0}, 0).acceleration.x;
    // As in errs_in_fourth_order, and a 127th of what a quadrupole leaves out.
    EXPECT_NEAR(x[0] / expected, 1, 9.5 * std::pow(0.2, 4) + 4 * std::pow(0.2, 3) / 127);
  }
}

}  // namespace
}  // namespace grove
