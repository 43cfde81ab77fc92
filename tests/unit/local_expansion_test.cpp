#include "kernels/math/local_expansion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/math/lanes.hpp"

namespace grove {
namespace {

using E = ExpansionTerm;

/// A cell of mass m at R, with raw second moments.
struct Cell {
  Vec3d place;
  double mass;
  double xx, yy, zz, xy, xz, yz;
  Octupole<double> octupole;

  double trace() const { return xx + yy + zz; }
};

/// Which moments a cell is to have.
enum class Moments { all, mass, second, third };

Cell with(Moments moments, Cell cell) {
  const Octupole<double> none{};
  if (moments == Moments::all) return cell;
  if (moments != Moments::mass) cell.mass = 0;
  if (moments != Moments::second) cell.xx = cell.yy = cell.zz = cell.xy = cell.xz = cell.yz = 0;
  if (moments != Moments::third) cell.octupole = none;
  return cell;
}

/// Some cells at this distance from the origin, made of bodies within `extent`.
std::vector<Cell> cells_at(double distance, double extent) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.2, 1);
  std::vector<Cell> cells;
  for (int i = 0; i < 20; ++i) {
    Vec3d place{normal(random), normal(random), normal(random)};
    if (i < 3) place = {i == 0 ? 1. : 0., i == 1 ? -1. : 0., i == 2 ? 1. : 0.};
    Cell cell{place * (distance / norm(place)), uniform(random), 0, 0, 0, 0, 0, 0, {}};
    ThirdMoments third;
    for (int k = 0; k < 3; ++k) {
      Vec3d d{normal(random), normal(random), normal(random)};
      d *= extent / norm(d);
      const double m = cell.mass / 3;
      cell.xx += m * d.x * d.x, cell.yy += m * d.y * d.y, cell.zz += m * d.z * d.z;
      cell.xy += m * d.x * d.y, cell.xz += m * d.x * d.z, cell.yz += m * d.y * d.z;
      third.add(m, d);
    }
    cell.octupole = third.octupole();
    cells.push_back(cell);
  }
  return cells;
}

template <Order order, class T>
void add_terms(const Cell& c, double radius, T (&l)[E::count(order)]) {
  const auto cell = FarCell<T>::of({T(c.place.x), T(c.place.y), T(c.place.z)}, T(c.mass), T(c.xx - c.zz),
                                   T(c.yy - c.zz), T(c.xy), T(c.xz), T(c.yz), T(radius));
  const auto fourth = FourthOrder<T>::of(cell.direction);
  const auto fifth = FifthOrder<T>::of(cell.direction);
  T high[E::high], low[E::low];
  high_terms(cell, fourth, fifth, high);
  low_terms(cell, fourth, low);
  if constexpr (order == Order::octupole) {
    const Octupole<double>& o = c.octupole;
    add_octupole_terms(
        cell,
        FarOctupole<T>::of({T(o.xxx), T(o.xxy), T(o.xyy), T(o.yyy), T(o.xxz), T(o.xyz), T(o.yyz)}, T(1.F),
                           cell, T(1 / radius)),
        fourth, fifth, low);
    T last[E::fifth];
    fifth_terms(cell, fifth, last);
    for (int k = 0; k < E::fifth; ++k) l[E::xxxxx + k] += last[k];
  }
  for (int k = 0; k < E::high; ++k) l[k] += high[k];
  for (int k = 0; k < E::low; ++k) l[E::one + k] += low[k];
}

template <Order order>
Accumulator<double> expanded(const double (&l)[E::count(order)], double radius, const Vec3d& target) {
  Accumulator<double> sum{{0, 0, 0}, 0};
  add_expansion<order>(l, target * (1 / radius), 1 / radius, sum);
  return sum;
}

/// The force of the monopole, the quadrupole, and with octupoles that of these.
template <Order order>
struct Exact {
  Accumulator<double> force{{0, 0, 0}, 0};

  void add(const Cell& c, const Vec3d& target) {
    const Vec3d d = c.place - target;
    const double r = norm(d), r3 = r * r * r, r5 = r3 * r * r;
    const Vec3d q = 3 * Vec3d{c.xx * d.x + c.xy * d.y + c.xz * d.z, c.xy * d.x + c.yy * d.y + c.yz * d.z,
                              c.xz * d.x + c.yz * d.y + c.zz * d.z} -
                    c.trace() * d;
    const double dq = dot(d, q);
    force.potential += c.mass / r + dq / 2 / r5;
    force.acceleration += (c.mass / r3 + 2.5 * dq / r5 / (r * r)) * d - (1 / r5) * q;
    if constexpr (order == Order::octupole) add_octupole(d, CellSource{}, c.octupole, 1.0, force);
  }
};

/// Left out are the terms of s^5 and beyond of the monopole: for the potential at most m s^n / R^(n+1), for
/// the acceleration n s^(n-1) times that; and of s^4 and beyond of the second moments, which are at most
/// (n + 2)(n + 1) / 2 tr M s^n / R^(n+3): mixed terms of the series of 1/|R + s - y| are at most
/// (n + k)! / (n! k!) s^n y^k / R^(n+k+1). The sums of these are geometric but for a factor of 1.2 at s = 0.1
/// R. With a term of the monopole missing or wrong the force would err by ten times as much; terms of second
/// moments show in the next test.
TEST(LocalExpansion, leaves_out_what_it_says) {
  constexpr double distance = 50, radius = 5, extent = 4;
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  for (const Cell& cell : cells_at(distance, extent)) {
    double l[E::count(Order::quadrupole)] = {};
    add_terms<Order::quadrupole>(cell, radius, l);
    for (int i = 0; i < 30; ++i) {
      Vec3d s{normal(random), normal(random), normal(random)};
      s *= radius / norm(s);
      Exact<Order::quadrupole> exact;
      exact.add(cell, s);
      const auto found = expanded<Order::quadrupole>(l, radius, s);
      const double x = radius / distance, trace = cell.trace() / (distance * distance);
      const double of_mass = cell.mass * std::pow(x, 5), of_moments = 15 * trace * std::pow(x, 4);
      EXPECT_LE(std::abs(found.potential - exact.force.potential), 1.2 * (of_mass + of_moments) / distance);
      EXPECT_LE(norm(found.acceleration - exact.force.acceleration),
                1.5 * (5 * of_mass + 4 * of_moments) / (x * distance * distance));
    }
  }
}

/// The largest error of the acceleration at this radius, of cells with these moments.
template <Order order>
double largest_error(Moments moments, double radius) {
  double error = 0;
  for (const Cell& all : cells_at(50, 4)) {
    const Cell cell = with(moments, all);
    double l[E::count(order)] = {};
    add_terms<order>(cell, radius, l);
    for (const Vec3d& direction : {Vec3d{0.48, -0.6, 0.64}, Vec3d{-0.8, 0, 0.6}, Vec3d{0.6, 0.8, 0}}) {
      const Vec3d s = radius * direction;
      Exact<order> exact;
      exact.add(cell, s);
      error = std::max(error, norm(expanded<order>(l, radius, s).acceleration - exact.force.acceleration));
    }
  }
  return error;
}

/// A tenth of the radius makes the error smaller by 10^k, s^k being the first that is left out of the
/// acceleration, so each order is there; the next order is a tenth of it at most, and doubles the error at
/// worst. Roundings of 1e-16 are 1e-3 of what is left at most.
TEST(LocalExpansion, has_its_orders) {
  const auto expect = [](double coarse, double fine, int k) {
    EXPECT_LT(fine, 2 * std::pow(0.1, k) * coarse);
  };
  constexpr Order quadrupole = Order::quadrupole, octupole = Order::octupole;
  constexpr double radius = 5, tenth = 0.5;
  expect(largest_error<quadrupole>(Moments::mass, radius), largest_error<quadrupole>(Moments::mass, tenth),
         4);
  expect(largest_error<quadrupole>(Moments::second, radius),
         largest_error<quadrupole>(Moments::second, tenth), 3);
  expect(largest_error<octupole>(Moments::mass, radius), largest_error<octupole>(Moments::mass, tenth), 5);
  expect(largest_error<octupole>(Moments::second, radius), largest_error<octupole>(Moments::second, tenth),
         3);
  expect(largest_error<octupole>(Moments::third, radius), largest_error<octupole>(Moments::third, tenth), 2);
}

/// The force is the gradient of the potential; the latter, sum_n L_n s^n / n!, has the terms of the former
/// but for L_0. Central differences err by h^2 / 6 of third derivatives, 1e-7 of a force near 1e-3 here, and
/// rounding 1e-16 / h.
TEST(LocalExpansion, has_a_potential_whose_gradient_is_the_force) {
  constexpr double radius = 5, h = 1e-3;
  double l[E::count(Order::octupole)] = {};
  for (const Cell& cell : cells_at(50, 4)) add_terms<Order::octupole>(cell, radius, l);
  for (const Vec3d s : {Vec3d{2.4, -3, 3.2}, Vec3d{-4, 0.5, 3}})
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d up = s, down = s;
      up[axis] += h, down[axis] -= h;
      const double slope = (expanded<Order::octupole>(l, radius, up).potential -
                            expanded<Order::octupole>(l, radius, down).potential) /
                           (2 * h);
      EXPECT_NEAR(slope, expanded<Order::octupole>(l, radius, s).acceleration[axis], 1e-9);
    }
}

/// Lanes do what single numbers do, to some forty roundings of terms of L_n, which are at most 1, 1, 3, 15,
/// 105 and 945 times m / R^(n + 1) and some times that for the other moments, of 9/400 and 27/8000 here.
TEST(LocalExpansion, adds_up_in_lanes_as_in_numbers) {
  constexpr int count = E::count(Order::octupole);
  double expected[count] = {};
  Lanes found[count];
  for (Lanes& term : found) term = Lanes(0.F);
  const auto cells = cells_at(20, 3);
  for (const Cell& cell : cells) {
    add_terms<Order::octupole>(cell, 4, expected);
    add_terms<Order::octupole>(cell, 4, found);
  }
  double mass = 0;
  for (const Cell& cell : cells) mass += cell.mass;
  for (int k = 0; k < count; ++k) {
    const int order = k >= E::xxxxx ? 5
                      : k < E::xxxx ? 3
                      : k < E::one  ? 4
                      : k == E::one ? 0
                      : k < E::xx   ? 1
                                    : 2;
    constexpr double coefficient[] = {1, 1, 3, 15, 105, 945};
    const double size = 2 * mass * coefficient[order] / std::pow(5, order + 1);
    float value[lane_count];
    found[k].store(value);
    for (const float lane : value) EXPECT_NEAR(lane, expected[k], 40 * 0x1p-24 * size) << k;
  }
}

TargetBounds bounds(float half, float inverse_tolerance, float softening) {
  return {{-half, -half, -half}, {half, half, half}, inverse_tolerance, softening};
}

TEST(ExpansionFrame, takes_what_is_far_beside_the_tolerance) {
  const TargetBounds targets = bounds(1, 2, 0);
  const ExpansionFrame frame = ExpansionFrame::of(targets, 4, Order::quadrupole);
  EXPECT_EQ(frame.middle.x, 0);
  EXPECT_FLOAT_EQ(frame.radius, std::sqrt(3.F));
  // 4 m radius^4 = |a| Delta d^6, where 1 / (Delta |a|) = 2^2.5.
  const double third_power = 4 * 0.25 * 9 * std::pow(2, 2.5), least = std::cbrt(third_power);
  EXPECT_TRUE(frame.expands(0.25F, 0, static_cast<float>(least * 1.001)));
  EXPECT_FALSE(frame.expands(0.25F, 0, static_cast<float>(least * 0.999)));
  // 4 m radius^5 = |a| Delta d^7, where 1 / (Delta |a|) = 2^3.
  const ExpansionFrame of_octupoles = ExpansionFrame::of(targets, 4, Order::octupole);
  const double least7 = std::pow(4 * 0.25 * std::pow(3, 2.5) * 8, 2. / 7);
  EXPECT_TRUE(of_octupoles.expands(0.25F, 0, static_cast<float>(least7 * 1.001)));
  EXPECT_FALSE(of_octupoles.expands(0.25F, 0, static_cast<float>(least7 * 0.999)));
  // Not within the group's ball, however light it is.
  EXPECT_FALSE(frame.expands(1e-20F, 0, 2.99F));
  EXPECT_TRUE(frame.expands(1e-20F, 0, 3.01F));
}

TEST(ExpansionFrame, takes_nothing_that_softening_reaches) {
  for (const bool of_targets : {true, false}) {
    const ExpansionFrame frame =
        ExpansionFrame::of(bounds(1, 1e-3F, of_targets ? 2 : 0), 4, Order::quadrupole);
    const float of_cell = of_targets ? 0 : 2;
    EXPECT_FALSE(frame.expands(1e-9F, of_cell, 5.599F * 5.599F));
    EXPECT_TRUE(frame.expands(1e-9F, of_cell, 5.601F * 5.601F));
  }
}

/// Lengths of walks reach from 2^-25 to 2^25. Masses and distances in units of the group mean the same at
/// any size: |a| is as 1 / radius^2, and inverse_tolerance is its power of -0.4.
TEST(ExpansionFrame, does_not_depend_on_the_unit_of_length) {
  for (const int power : {-24, -12, 0, 12, 24}) {
    const float unit = std::ldexp(1.F, power), tolerance = static_cast<float>(20 * std::pow(unit, 0.8));
    const ExpansionFrame frame = ExpansionFrame::of(bounds(unit, tolerance, 0), 4, Order::quadrupole);
    // (d / radius)^6 = 4 m 20^2.5 / radius^2
    const double m = 0.01, x = std::cbrt(4 * m * std::pow(20, 2.5) / 3), least = 3 * x * unit * unit;
    EXPECT_TRUE(frame.expands(0.01F, 0, static_cast<float>(least * 1.001))) << power;
    EXPECT_FALSE(frame.expands(0.01F, 0, static_cast<float>(least * 0.999))) << power;
  }
}

TEST(ExpansionFrame, takes_nothing_where_everything_is_to_be_exact) {
  constexpr float far = 0x1p50F, least = 0x1p-149F;
  const ExpansionFrame never = ExpansionFrame::of(bounds(1, 1e-3F, 0), no_expansion, Order::quadrupole);
  // Without any tolerance everything is opened, and bodies of no extent are not expanded.
  const ExpansionFrame exact = ExpansionFrame::of(bounds(1, 1e30F, 0), 4, Order::quadrupole);
  for (const float mass : {0.F, least, 1.F}) {
    EXPECT_FALSE(never.expands(mass, 0, far)) << mass;
    EXPECT_FALSE(exact.expands(mass, 0, far)) << mass;
  }
  // A group in one place has a radius all the same.
  EXPECT_GT(ExpansionFrame::of(bounds(0, 1, 0), 4, Order::quadrupole).radius, 0);
}

}  // namespace
}  // namespace grove
