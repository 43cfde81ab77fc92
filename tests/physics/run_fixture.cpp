#include "physics/run_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace grove::testing {

Particles share_of(const Communicator& comm, const Particles& all) {
  const std::size_t n = all.size(), ranks = static_cast<std::size_t>(comm.size());
  const std::size_t rank = static_cast<std::size_t>(comm.rank());
  std::vector<std::uint32_t> order(n * (rank + 1) / ranks - n * rank / ranks);
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(n * rank / ranks));
  Particles share = all;
  share.reorder(order);
  return share;
}

void expect_same(const Particles& actual, const Particles& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  ASSERT_EQ(actual.has_gas, expected.has_gas);
  for_each_field([&](const auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    if (!actual.holds(field.info)) return;
    EXPECT_EQ(
        std::memcmp((actual.*field.array).data(), (expected.*field.array).data(), actual.size() * sizeof(T)),
        0)
        << field.info.name;
  });
}

double lagrange_radius(const Particles& all, const Vec3d& centre, double fraction) {
  std::vector<double> radii;
  for (const Vec3d& x : all.position) radii.push_back(norm(x - centre));
  const auto nth = radii.begin() + static_cast<std::ptrdiff_t>(fraction * static_cast<double>(radii.size()));
  std::nth_element(radii.begin(), nth, radii.end());
  return *nth;
}

}  // namespace grove::testing
