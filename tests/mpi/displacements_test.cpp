// Gaussian fields and what they displace.
#include "structure/displacements.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <tuple>
#include <vector>

#include "base/vec3.hpp"
#include "structure/gaussian_field.hpp"

namespace grove {
namespace {

constexpr double pi = std::numbers::pi;

double steep(double k) { return 5 * k / (1 + k * k * k * k); }

TEST(GaussianField, is_real_and_has_no_mean_nor_nyquist_modes) {
  const Communicator comm(MPI_COMM_WORLD), alone = comm.split(comm.rank());
  for (const int n : {7, 8}) {
    const MeshPart part = MeshTransform(alone, n).part();
    const Array<Complex> modes = gaussian_field(part, steep, 3, {.seed = 5});
    std::map<std::tuple<int, int, int>, Complex> all;
    part.for_each_mode([&](const Mode& m, std::size_t i) { all[{m.x, m.y, m.z}] = modes[i]; });
    for (const auto& [mode, value] : all) {
      const auto [x, y, z] = mode;
      const bool is_edge = 2 * x == n || 2 * y == n || 2 * z == n;
      EXPECT_EQ(value == Complex(0), is_edge || (x == 0 && y == 0 && z == 0));
      if (is_edge || z != 0) continue;
      EXPECT_EQ(value, std::conj(all[{-x, -y, -z}])) << "to the last bit";
    }
  }
}

TEST(GaussianField, has_the_same_long_modes_in_meshes_of_any_size_and_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone = comm.split(comm.rank());
  for (const NoiseParameters noise : {NoiseParameters{}, NoiseParameters{.fixed = true}}) {
    const MeshPart whole = MeshTransform(alone, 8).part(), part = MeshTransform(comm, 18).part();
    const Array<Complex> coarse = gaussian_field(whole, steep, 3, noise),
                         fine = gaussian_field(part, steep, 3, noise);
    Count found = 0;
    part.for_each_mode([&](const Mode& mode, std::size_t index) {
      whole.for_each_mode([&](const Mode& other, std::size_t i) {
        if (is_nyquist(whole, other) || mode.x != other.x || mode.y != other.y || mode.z != other.z) return;
        EXPECT_EQ(fine[index], coarse[i]);
        ++found;
      });
    });
    EXPECT_EQ(comm.sum(found), 7 * 7 * 4);
  }
}

TEST(GaussianField, has_the_spectrum) {
  const Communicator comm(MPI_COMM_WORLD);
  const double box = 3;
  const MeshPart part = MeshTransform(comm, 32).part();
  const Array<Complex> field = gaussian_field(part, steep, box, {.seed = 2});
  const Array<Complex> fixed = gaussian_field(part, steep, box, {.seed = 2, .fixed = true});
  const Array<Complex> pair = gaussian_field(part, steep, box, {.seed = 2, .fixed = true, .paired = true});
  // |delta|^2 over its mean is drawn from exp(-x): the mean of n of them has a scatter of 1 / sqrt(n), that
  // of their squares, which is 2, of sqrt(20 / n). Integers of 2^-20, so that ranks add up to the same.
  Count modes = 0;
  std::vector<Count> moments(2, 0);
  part.for_each_mode([&](const Mode& mode, std::size_t i) {
    if (mode.square() == 0 || is_nyquist(part, mode)) return;
    const double expected =
        steep(2 * pi / box * std::sqrt(static_cast<double>(mode.square()))) / std::pow(box, 3);
    const double ratio = std::norm(field[i]) / expected;
    ++modes;
    moments[0] += std::llround(std::ldexp(ratio, 20));
    moments[1] += std::llround(std::ldexp(ratio * ratio, 20));
    EXPECT_NEAR(std::norm(fixed[i]) / expected, 1, 1e-14);
    EXPECT_EQ(pair[i], -fixed[i]);
    EXPECT_NEAR(std::abs(field[i] / std::abs(field[i]) - fixed[i] / std::abs(fixed[i])), 0, 1e-14);
  });
  comm.sum(std::span<Count>(moments));
  const auto n = static_cast<double>(comm.sum(modes));
  EXPECT_NEAR(std::ldexp(static_cast<double>(moments[0]), -20) / n, 1, 4 / std::sqrt(n));
  EXPECT_NEAR(std::ldexp(static_cast<double>(moments[1]), -20) / n, 2, 4 * std::sqrt(20 / n));
}

/// Modes of a field of cosines of size `amplitude`, one for each mode number.
Array<Complex> cosines(const MeshPart& part, double amplitude, const std::vector<Mode>& waves) {
  Array<Complex> modes(part.modes());
  part.for_each_mode([&](const Mode& mode, std::size_t i) {
    modes[i] = 0;
    for (const Mode& wave : waves)
      if ((mode.x == wave.x && mode.y == wave.y && mode.z == wave.z) ||
          (mode.x == -wave.x && mode.y == -wave.y && mode.z == -wave.z))
        modes[i] = amplitude / 2;
  });
  return modes;
}

/// Calls check(q, index) for this rank's middles of cells.
template <class Check>
void for_each_middle(const MeshPart& part, double box, const Check& check) {
  std::size_t index = 0;
  const double cell = box / part.points;
  for (int x = part.planes.first; x < part.planes.last; ++x)
    for (int y = 0; y < part.points; ++y)
      for (int z = 0; z < part.points; ++z)
        check(Vec3d{(x + 0.5) * cell, (y + 0.5) * cell, (z + 0.5) * cell}, index++);
}

TEST(Displacements, of_waves_are_the_closed_ones) {
  const Communicator comm(MPI_COMM_WORLD);
  const double box = 10, a = 0.01;
  for (const int n : {12, 15}) {
    const MeshTransform transform(comm, n);
    // delta = a (cos k x + cos 2 k y): phi1 = -a (cos k x + cos(2 k y) / 4) / k^2, so first = -grad phi1 = -a
    // (sin k x, sin(2 k y) / 2) / k; phi1,xx phi1,yy = a^2 cos k x cos 2 k y and phi2 = -a^2 cos k x cos 2 k
    // y / (5 k^2).
    const Displacements all(transform, cosines(transform.part(), a, {{1, 0, 0}, {0, 2, 0}}), box, true);
    const double k = 2 * pi / box;
    const Array<double> first[] = {all.first(0), all.first(1), all.first(2)};
    const Array<double> second[] = {all.second(0), all.second(1), all.second(2)};
    // Roundings: some 1e-16 of the largest times the logarithm of n^3, in six passes.
    const double near = 1e-14 * a / k, nearer = near * a;
    for_each_middle(transform.part(), box, [&](const Vec3d& q, std::size_t i) {
      EXPECT_NEAR(first[0][i], -a / k * std::sin(k * q.x), near);
      EXPECT_NEAR(first[1][i], -a / (2 * k) * std::sin(2 * k * q.y), near);
      EXPECT_NEAR(first[2][i], 0, near);
      EXPECT_NEAR(second[0][i], a * a / (5 * k) * std::sin(k * q.x) * std::cos(2 * k * q.y), nearer);
      EXPECT_NEAR(second[1][i], 2 * a * a / (5 * k) * std::cos(k * q.x) * std::sin(2 * k * q.y), nearer);
      EXPECT_NEAR(second[2][i], 0, nearer);
    });
  }
}

TEST(Displacements, have_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone = comm.split(comm.rank());
  const MeshTransform transform(comm, 10), whole(alone, 10);
  const auto of = [&](const MeshTransform& t) {
    return Displacements(t, gaussian_field(t.part(), steep, 3, {}), 3, true);
  };
  const Displacements mine = of(transform), expected = of(whole);
  const auto before = static_cast<std::size_t>(transform.part().planes.first) * 100;
  for (int axis = 0; axis < 3; ++axis)
    for (const bool is_first : {true, false}) {
      const Array<double> some = is_first ? mine.first(axis) : mine.second(axis);
      const Array<double> all = is_first ? expected.first(axis) : expected.second(axis);
      if (some.empty()) continue;
      EXPECT_EQ(std::memcmp(some.data(), &all[before], some.size() * sizeof(double)), 0);
    }
}

}  // namespace
}  // namespace grove
