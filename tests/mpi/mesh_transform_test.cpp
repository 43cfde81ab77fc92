#include "fourier/mesh_transform.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "particles/models/random.hpp"

namespace grove {
namespace {

/// Also primes, and fewer points than ranks.
constexpr int sizes[] = {1, 2, 5, 6, 12, 17};

double value_at(int n, int x, int y, int z) {
  return RandomStream(7, static_cast<std::uint64_t>((x * n + y) * n + z)).uniform() - 0.5;
}

Array<double> values_of(const MeshPart& part) {
  Array<double> values;
  for (int x = part.planes.first; x < part.planes.last; ++x)
    for (int y = 0; y < part.points; ++y)
      for (int z = 0; z < part.points; ++z) values.push_back(value_at(part.points, x, y, z));
  return values;
}

/// By the definition.
Complex mode_of(int n, const Mode& mode) {
  Complex sum = 0;
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z)
        sum += value_at(n, x, y, z) *
               std::polar(1.0, -2 * std::numbers::pi * ((mode.x * x + mode.y * y + mode.z * z) % n) / n);
  return sum;
}

TEST(MeshTransform, is_the_sum_over_all_points) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const int n : {1, 2, 5, 6}) {
    const MeshTransform transform(comm, n);
    const Array<Complex> modes = transform.forward(values_of(transform.part()));
    ASSERT_EQ(modes.size(), transform.part().modes());
    // Sums of n^3 = 216 terms below 0.5 in either order: roundings of 216^2 / 2 x 1e-16 at worst.
    transform.part().for_each_mode([&](const Mode& mode, std::size_t index) {
      EXPECT_LT(std::abs(modes[index] - mode_of(n, mode)), 3e-12) << n << " " << mode.x << " " << mode.y;
    });
  }
}

TEST(MeshTransform, back_and_forth_is_a_factor) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const int n : sizes) {
    const MeshTransform transform(comm, n);
    const Array<double> values = values_of(transform.part());
    const Array<double> back = transform.backward(transform.forward(values));
    ASSERT_EQ(back.size(), values.size());
    const double factor = std::pow(n, 3);
    // Each of six stages rounds by some log2(n) x 1e-16 of the rms.
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(back[i] / factor, values[i], 1e-14);
  }
}

TEST(MeshTransform, has_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone = comm.split(comm.rank());
  for (const int n : sizes) {
    const MeshTransform transform(comm, n), whole(alone, n);
    const MeshPart& part = transform.part();
    const Array<Complex> modes = transform.forward(values_of(part));
    const Array<Complex> expected = whole.forward(values_of(whole.part()));
    const std::size_t row = static_cast<std::size_t>(part.half());
    const auto run = row * static_cast<std::size_t>(part.rows.count());
    for (int x = 0; run > 0 && x < n; ++x) {
      const auto place = static_cast<std::size_t>(x * n + part.rows.first) * row;
      EXPECT_EQ(
          std::memcmp(&modes[static_cast<std::size_t>(x) * run], &expected[place], run * sizeof(Complex)), 0);
    }
    const Array<double> back = transform.backward(modes), all = whole.backward(expected);
    const std::size_t before = static_cast<std::size_t>(part.planes.first * n * n);
    if (back.empty()) continue;
    EXPECT_EQ(std::memcmp(back.data(), &all[before], back.size() * sizeof(double)), 0);
  }
}

TEST(MeshTransform, names_modes_and_counts_their_images) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const int n : {5, 6}) {
    const MeshPart part = MeshTransform(comm, n).part();
    Count all = 0, squares = 0;
    part.for_each_mode([&](const Mode& mode, std::size_t) {
      all += part.copies(mode);
      squares += part.copies(mode) * mode.square();
    });
    EXPECT_EQ(comm.sum(all), n * n * n);
    // The squares on each axis: 0, 1, 4, 4, 1 and 0, 1, 4, 9, 4, 1.
    EXPECT_EQ(comm.sum(squares), 3 * n * n * (n == 5 ? 10 : 19));
  }
}

}  // namespace
}  // namespace grove
