// From the root to the leaves.
#include "kernels/host/bisection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/host/bisection_avx512.hpp"
#include "kernels/host/bisection_orb.hpp"
#include "support/bisection_samples.hpp"
#include "support/naive_bisection.hpp"

namespace grove {
namespace {

using namespace testing;

/// The code under test on either instruction set.
struct Path {
  const char* name;
  std::vector<Cell> (*cut)(const CutScheme&, const Cell&, std::span<Record>, const ParticleId*,
                           const std::uint32_t*);
};

const Path paths[] = {
    {"portable", bisection::cut_to_leaves<bisection::Portable>},
#ifdef GROVE_BISECTION_AVX512
    {"avx512", bisection::cut_to_leaves<bisection::Avx512>},
#endif
};

void sort_by_id(Records& records, const std::vector<ParticleId>& id) {
  std::sort(records.begin(), records.end(), [&](auto& a, auto& b) { return id[a.index] < id[b.index]; });
}

/// Everything that the header promises of the cells of one subtree.
void expect_consistent(const std::vector<Cell>& cells, std::span<const Record> records, const Sample& s,
                       const Weights& weight) {
  EXPECT_EQ(cells.size(), 2 * static_cast<std::size_t>(cells[0].leaves) - 1);
  for (const Cell& cell : cells) {
    const auto part = records.subspan(static_cast<std::size_t>(cell.first - cells[0].first),
                                      static_cast<std::size_t>(cell.count));
    expect_tight(cell.low, cell.high, part);
    Count sum = 0;
    for (const Record& r : part) sum += weight[r.index];
    EXPECT_EQ(cell.weight, sum);
    if (cell.is_leaf()) {
      EXPECT_EQ(cell.leaves, 1);
      continue;
    }
    const Cell &left = cells[static_cast<std::size_t>(cell.child)], &right = (&left)[1];
    EXPECT_EQ(left.first, cell.first);
    EXPECT_EQ(right.first, cell.first + left.count);
    EXPECT_EQ(left.count + right.count, cell.count);
    EXPECT_EQ(left.first_leaf, cell.first_leaf);
    EXPECT_EQ(right.first_leaf, cell.first_leaf + left.leaves);
    EXPECT_EQ(left.leaves + right.leaves, cell.leaves);
    bool cut_is_a_particle = false;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Coordinate c = part[i][cell.cut.axis];
      const ParticleId id = s.id[part[i].index];
      EXPECT_EQ(cell.cut.is_left(c, id), static_cast<Count>(i) < left.count);
      cut_is_a_particle = cut_is_a_particle || (c == cell.cut.coordinate && id == cell.cut.id);
    }
    EXPECT_TRUE(cut_is_a_particle);
  }
}

/// Cuts by both paths and compares cells, and leaves as sets of particles, with the naive ones.
void expect_leaves(const Sample& s, const CutScheme& scheme, std::int32_t leaves, const Weights& weight,
                   bool weighted) {
  std::vector<Records> wanted;
  naive_leaves(s.records, scheme, leaves, weight, s.id, [&](Records leaf) {
    sort_by_id(leaf, s.id);
    wanted.push_back(leaf);
  });
  for (const Path& path : paths) {
    SCOPED_TRACE(s.name + " " + path.name + " " + std::to_string(s.records.size()));
    Records records = s.records;
    const Count total = std::accumulate(weight.begin(), weight.end(), Count{0});
    const auto cells = path.cut(scheme, root_of(scheme, records.size(), total, leaves), records, s.id.data(),
                                weighted ? weight.data() : nullptr);
    expect_consistent(cells, records, s, weight);
    std::vector<Records> found(wanted.size());
    for (const Cell& cell : cells)
      if (cell.is_leaf()) {
        const auto begin = records.begin() + (cell.first - first_of_root);
        Records& leaf = found.at(static_cast<std::size_t>(cell.first_leaf - first_leaf_of_root));
        leaf.assign(begin, begin + cell.count);
        sort_by_id(leaf, s.id);
      }
    EXPECT_TRUE(found == wanted);
  }
}

TEST(Bisection, middle_leaves_are_those_of_a_naive_sort) {
  for (const std::size_t count : {1, 63, 64, 65, 127, 128, 129, 191, 192, 1000, 5000})
    for (const Sample& s : samples(count))
      expect_leaves(s, {CutRule::middle, 64}, 0, Weights(count, 1), false);
}

TEST(Bisection, middle_leaves_of_many_particles_are_those_of_a_naive_sort) {
  for (const Sample& s : samples(60000))
    expect_leaves(s, {CutRule::middle, 4096, 5}, 0, Weights(s.records.size(), 1), false);
}

TEST(Bisection, leaves_do_not_depend_on_how_well_a_sample_represents_them) {
  // The search of large cells starts from evenly spaced records: here these lie apart from all others.
  std::size_t i = 0;
  const Sample s = sample("odd_one_in_200", 51200, [&](std::mt19937_64& g) {
    return i++ % 200 == 0 ? IntegerPosition{any(g) % 1000, 0, 0} : IntegerPosition{any(g) | 1u << 31, 0, 0};
  });
  expect_leaves(s, {CutRule::middle, 4096}, 0, Weights(51200, 1), false);
  expect_leaves(s, {CutRule::halves, 0}, 11, Weights(51200, 1), false);
}

TEST(Bisection, leaves_of_nearly_ordered_particles_are_those_of_a_naive_sort) {
  // As of a second step: in the order of the first tree, but moved a little, and some of them far.
  for (Sample& s : samples(40000)) {
    const CutScheme scheme{CutRule::middle, 1024};
    cut_to_leaves(scheme, root_of(scheme, s.records.size(), 0, 0), s.records, s.id.data(), nullptr);
    std::mt19937_64 random(2);
    for (const Count far : {0, 1000}) {
      for (Record& r : s.records) {
        r.x ^= any(random) % 4096;
        r.y ^= any(random) % 4096;
      }
      for (Count i = 0; i < far; ++i)
        std::swap(s.records[any(random) % s.records.size()].z, s.records[any(random) % s.records.size()].x);
      expect_leaves(s, scheme, 0, Weights(s.records.size(), 1), false);
      expect_leaves(s, {CutRule::halves, 0}, 7, Weights(s.records.size(), 1), false);
      expect_leaves(s, {CutRule::centre, 1024}, 0, Weights(s.records.size(), 1), false);
    }
  }
}

TEST(Bisection, middle_sums_weights_but_cuts_by_counts) {
  Weights weight(2000);
  std::iota(weight.begin(), weight.end(), 4000000000u);
  for (const Sample& s : samples(weight.size())) expect_leaves(s, {CutRule::middle, 64}, 0, weight, true);
}

TEST(Bisection, centre_leaves_are_those_of_a_naive_sort) {
  for (const std::size_t count : {1, 2, 63, 64, 65, 129, 1000, 5000})
    for (const Sample& s : samples(count)) {
      expect_leaves(s, {CutRule::centre, 64}, 0, Weights(count, 1), false);
      if (count <= 1000) expect_leaves(s, {CutRule::centre, 1}, 0, Weights(count, 1), false);
    }
  for (const Sample& s : samples(60000))
    expect_leaves(s, {CutRule::centre, 4096}, 0, Weights(s.records.size(), 1), false);
}

TEST(Bisection, domains_leaves_are_those_of_a_naive_sort) {
  for (const std::size_t count : {64, 200, 1000, 5000})
    for (const Sample& s : samples(count))
      for (const Count domain_cell : {64, 250, 1000})
        expect_leaves(s, {CutRule::domains, 64, 0, domain_cell}, 0, Weights(count, 1), false);
  for (const Sample& s : samples(60000))
    expect_leaves(s, {CutRule::domains, 1024, 0, 8192}, 0, Weights(s.records.size(), 1), false);
}

TEST(Bisection, centre_sums_weights_but_cuts_by_counts) {
  Weights weight(2000);
  std::iota(weight.begin(), weight.end(), 4000000000u);
  for (const Sample& s : samples(weight.size())) expect_leaves(s, {CutRule::centre, 64}, 0, weight, true);
}

TEST(Bisection, halves_leaves_are_those_of_a_naive_sort) {
  for (const std::int32_t leaves : {1, 2, 3, 5, 8, 13})
    for (const std::size_t count : {13, 14, 100, 1001})
      for (const Sample& s : samples(count))
        expect_leaves(s, {CutRule::halves, 0}, leaves, Weights(count, 1), false);
}

TEST(Bisection, halves_leaves_of_many_particles_are_those_of_a_naive_sort) {
  for (const Sample& s : samples(30000)) expect_leaves(s, {CutRule::halves, 0}, 9, Weights(30000, 1), false);
}

TEST(Bisection, halves_respect_weights) {
  std::mt19937_64 random(3);
  for (const std::size_t count : {13, 300}) {
    Weights spread(count), zero(count, 0), huge(count, ~0u);
    for (auto& w : spread) w = random() % 4 ? static_cast<std::uint32_t>(random() % 100) : 100000;
    for (const Weights& weight : {spread, zero, huge})
      for (const std::int32_t leaves : {2, 3, 7, 13})
        for (const Sample& s : samples(count)) expect_leaves(s, {CutRule::halves, 0}, leaves, weight, true);
  }
}

TEST(Bisection, halves_of_seven_particles_by_hand) {
  // x = 0 10 20 30 40 50 60; three leaves: two on the left take floor(7 * 2 / 3) = 4 particles, then 2 and 2.
  Records records;
  std::vector<ParticleId> id;
  for (std::uint32_t i = 0; i < 7; ++i) {
    records.push_back({60 - 10 * i, 0, 0, i});
    id.push_back(100 + i);
  }
  const CutScheme scheme{CutRule::halves, 0};
  Cell root{};
  root.count = root.weight = 7;
  root.leaves = 3;
  const auto cells = cut_to_leaves(scheme, root, records, id.data(), nullptr);
  ASSERT_EQ(cells.size(), 5u);
  EXPECT_EQ(cells[0].cut, (Cut{102, 40, 0}));
  EXPECT_EQ(cells[1].count, 4);
  EXPECT_EQ(cells[2].count, 3);
  EXPECT_EQ(cells[1].cut, (Cut{104, 20, 0}));
  EXPECT_EQ(cells[3].count, 2);
  EXPECT_EQ(cells[4].count, 2);
}

TEST(Bisection, records_hold_the_coordinates_of_the_box) {
  const Box box = Box::around({-3, -2, 1}, {4, 1, 2});
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Vec3d> position{box.low, {std::nextafter(box.low.x + box.edge, 0), box.low.y, box.low.z}};
  for (int i = 0; i < 1001; ++i)
    position.push_back(box.low + Vec3d{uniform(random), uniform(random), uniform(random)} * box.edge);
  Records records(position.size());
  make_records(box, {position.data()}, position.size(), records.data());
  for (std::size_t i = 0; i < position.size(); ++i) {
    const IntegerPosition c = box.coordinates(position[i]);
    EXPECT_EQ(records[i], (Record{c.x, c.y, c.z, static_cast<std::uint32_t>(i)}));
  }
}

}  // namespace
}  // namespace grove
