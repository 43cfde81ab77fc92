#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "support/naive_bisection.hpp"

/// Records to cut, of all kinds that may be hard, and what tests of either level of cuts check.
namespace grove::testing {

struct Sample {
  std::string name;
  Records records;
  std::vector<ParticleId> id;  // by index; neither sorted nor dense
};

inline Sample sample(std::string name, std::size_t count,
                     const std::function<IntegerPosition(std::mt19937_64&)>& make) {
  Sample s{std::move(name), {}, {}};
  std::mt19937_64 random(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const IntegerPosition p = make(random);
    s.records.push_back({p.x, p.y, p.z, static_cast<std::uint32_t>(i)});
    s.id.push_back(7 * i + (1ULL << 40));
  }
  std::shuffle(s.id.begin(), s.id.end(), random);
  return s;
}

inline Coordinate any(std::mt19937_64& random) { return static_cast<Coordinate>(random()); }

/// Steep towards one point, as the centre of a galaxy.
inline IntegerPosition cusp(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const double r = 2e9 * std::pow(std::abs(uniform(random)), 6.0);
  const auto c = [&] { return static_cast<Coordinate>(2.1e9 + r * uniform(random)); };
  const Coordinate x = c(), y = c();
  return {x, y, c()};
}

inline std::vector<Sample> samples(std::size_t count) {
  using Random = std::mt19937_64;
  return {
      sample("uniform", count,
             [](Random& g) {
               return IntegerPosition{any(g), any(g), any(g)};
             }),
      sample("cusp", count, cusp),
      sample("one_point", count,
             [](Random&) {
               return IntegerPosition{~0u, 5, 0};
             }),
      sample("planar", count,
             [](Random& g) {
               return IntegerPosition{any(g), 77, any(g)};
             }),
      sample("few_values", count,
             [](Random& g) {
               return IntegerPosition{any(g) % 3, any(g) % 5, any(g) % 2};
             }),
      sample("one_value_dominates", count,
             [](Random& g) {
               return g() % 8 ? IntegerPosition{9, 9, 9} : IntegerPosition{any(g), any(g), any(g)};
             }),
      sample("faces_of_the_cube", count,
             [](Random& g) {
               return IntegerPosition{g() % 2 ? ~0u : 0u, any(g), 0};
             }),
  };
}

inline void expect_tight(const IntegerPosition& low, const IntegerPosition& high,
                         std::span<const Record> part) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto [least, most] =
        std::minmax_element(part.begin(), part.end(), [=](auto& p, auto& q) { return p[axis] < q[axis]; });
    EXPECT_EQ(low[axis], (*least)[axis]);
    EXPECT_EQ(high[axis], (*most)[axis]);
  }
}

/// Not 0, as of a cell in the midst of a tree.
inline constexpr Count first_of_root = 1000;
inline constexpr std::int32_t first_leaf_of_root = 50;

inline Cell root_of(const CutScheme& scheme, std::size_t count, Count weight, std::int32_t leaves) {
  Cell root{};
  root.first = first_of_root;
  root.first_leaf = first_leaf_of_root;
  root.count = static_cast<Count>(count);
  root.weight = weight;
  root.leaves = scheme.rule == CutRule::halves ? leaves : scheme.leaves_of(root.count);
  return root;
}

}  // namespace grove::testing
