#include "kernels/kokkos/bisection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "kernels/kokkos/bisection_avx512.hpp"
#include "kernels/kokkos/bisection_leaf.hpp"
#include "kernels/kokkos/bisection_orb.hpp"
#include "support/naive_bisection.hpp"

namespace grove {
namespace {

using namespace testing;

struct Sample {
  std::string name;
  Records records;
  std::vector<ParticleId> id;  // by index; neither sorted nor dense
};

Sample sample(std::string name, std::size_t count,
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

Coordinate any(std::mt19937_64& random) { return static_cast<Coordinate>(random()); }

/// Steep towards one point, as the centre of a galaxy.
IntegerPosition cusp(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const double r = 2e9 * std::pow(std::abs(uniform(random)), 6.0);
  const auto c = [&] { return static_cast<Coordinate>(2.1e9 + r * uniform(random)); };
  const Coordinate x = c(), y = c();
  return {x, y, c()};
}

std::vector<Sample> samples(std::size_t count) {
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

// --- The code under test on either instruction set.

struct Path {
  const char* name;
  std::vector<Cell> (*to_leaves)(const CutScheme&, const Cell&, std::span<Record>, const ParticleId*,
                                 const std::uint32_t*);
  void (*leaf)(Record*, std::int32_t, const ParticleId*, LocalCell*);
};

const Path paths[] = {
    {"portable", bisection::cut_to_leaves<bisection::Portable>, bisection::cut_leaf<bisection::Portable>},
#ifdef GROVE_BISECTION_AVX512
    {"avx512", bisection::cut_to_leaves<bisection::Avx512>, bisection::cut_leaf<bisection::Avx512>},
#endif
};

void sort_by_id(Records& records, const std::vector<ParticleId>& id) {
  std::sort(records.begin(), records.end(), [&](auto& a, auto& b) { return id[a.index] < id[b.index]; });
}

Cell root_of(const CutScheme& scheme, std::size_t count, Count weight, std::int32_t leaves) {
  Cell root{};
  root.first = 1000;  // as of a cell in the midst of a tree
  root.first_leaf = 50;
  root.count = static_cast<Count>(count);
  root.weight = weight;
  root.leaves = scheme.rule == CutRule::middle ? scheme.leaves_of(root.count) : leaves;
  return root;
}

void expect_tight(const IntegerPosition& low, const IntegerPosition& high, std::span<const Record> part) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto [least, most] =
        std::minmax_element(part.begin(), part.end(), [=](auto& p, auto& q) { return p[axis] < q[axis]; });
    EXPECT_EQ(low[axis], (*least)[axis]);
    EXPECT_EQ(high[axis], (*most)[axis]);
  }
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
    const auto cells = path.to_leaves(scheme, root_of(scheme, records.size(), total, leaves), records,
                                      s.id.data(), weighted ? weight.data() : nullptr);
    expect_consistent(cells, records, s, weight);
    std::vector<Records> found(wanted.size());
    for (const Cell& cell : cells)
      if (cell.is_leaf()) {
        const auto begin = records.begin() + (cell.first - 1000);
        Records& leaf = found.at(static_cast<std::size_t>(cell.first_leaf - 50));
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
    expect_leaves(s, {CutRule::middle, 4096}, 0, Weights(s.records.size(), 1), false);
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
    }
  }
}

TEST(Bisection, middle_sums_weights_but_cuts_by_counts) {
  Weights weight(2000);
  std::iota(weight.begin(), weight.end(), 4000000000u);
  for (const Sample& s : samples(weight.size())) expect_leaves(s, {CutRule::middle, 64}, 0, weight, true);
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

TEST(Bisection, leaf_order_is_that_of_a_naive_sort) {
  std::vector<std::size_t> counts(70);
  std::iota(counts.begin(), counts.end(), 1);
  counts.insert(counts.end(), {95, 96, 97, 128, 255, 256, 257, 1000, 4095, 4096});
  for (const std::size_t count : counts)
    for (const Sample& s : samples(count)) {
      const Records wanted = naive_leaf_order(s.records, s.id);
      for (const Path& path : paths) {
        SCOPED_TRACE(s.name + " " + path.name + " " + std::to_string(count));
        Records records = s.records;
        std::vector<LocalCell> cells(static_cast<std::size_t>(local_cells(static_cast<std::int32_t>(count))));
        path.leaf(records.data(), static_cast<std::int32_t>(count), s.id.data(), cells.data());
        EXPECT_TRUE(records == wanted);
        for (const LocalCell& cell : cells)
          expect_tight(cell.low, cell.high,
                       std::span(records).subspan(static_cast<std::size_t>(cell.first),
                                                  static_cast<std::size_t>(cell.count)));
      }
    }
}

TEST(Bisection, leaf_cells_nest_and_are_stored_depth_first) {
  const std::int32_t count = 1003;
  Sample s = samples(static_cast<std::size_t>(count))[1];
  std::vector<LocalCell> cells(static_cast<std::size_t>(local_cells(count)));
  cut_leaf(s.records.data(), count, s.id.data(), cells.data());
  std::int32_t buckets = 0, next = 1;
  const std::function<void(std::int32_t)> visit = [&](std::int32_t index) {
    const LocalCell cell = cells[static_cast<std::size_t>(index)];
    EXPECT_EQ(cell.is_bucket(), cell.count <= bucket_size);
    if (cell.is_bucket()) {
      EXPECT_EQ(cell.first, buckets++ * bucket_size);
      EXPECT_EQ(cell.count, std::min(bucket_size, count - cell.first));
      return;
    }
    EXPECT_EQ(cell.child, next);
    next += 2;
    const LocalCell *left = &cells[static_cast<std::size_t>(cell.child)], *right = left + 1;
    EXPECT_EQ(left->first, cell.first);
    EXPECT_EQ(right->first, cell.first + left->count);
    EXPECT_EQ(left->count + right->count, cell.count);
    visit(cell.child);
    visit(cell.child + 1);
  };
  visit(0);
  EXPECT_EQ(next, local_cells(count));
  EXPECT_EQ(cells[0].count, count);
}

TEST(Bisection, final_order_does_not_depend_on_the_order_given) {
  for (const Sample& s : samples(20000)) {
    std::vector<ParticleId> orders[2];
    for (int shuffled = 0; shuffled < 2; ++shuffled) {
      Records records = s.records;
      std::vector<ParticleId> id = s.id;
      if (shuffled) {
        std::mt19937_64 random(11);
        std::shuffle(records.begin(), records.end(), random);
        for (std::uint32_t i = 0; i < records.size(); ++i) {  // other indices, too
          id[i] = s.id[records[i].index];
          records[i].index = i;
        }
      }
      const CutScheme scheme{CutRule::middle, 1024};
      std::vector<Count> begin, cell_begin{0};
      for (const Cell& cell :
           cut_to_leaves(scheme, root_of(scheme, records.size(), 0, 0), records, id.data(), nullptr))
        if (cell.is_leaf()) begin.push_back(cell.first - 1000);
      begin.push_back(static_cast<Count>(records.size()));
      std::sort(begin.begin(), begin.end());
      for (std::size_t leaf = 0; leaf + 1 < begin.size(); ++leaf)
        cell_begin.push_back(cell_begin[leaf] +
                             local_cells(static_cast<std::int32_t>(begin[leaf + 1] - begin[leaf])));
      std::vector<LocalCell> cells(static_cast<std::size_t>(cell_begin.back()));
      cut_leaves(begin, records.data(), id.data(), cell_begin, cells.data());
      for (const Record& r : records) orders[shuffled].push_back(id[r.index]);
    }
    EXPECT_TRUE(orders[0] == orders[1]) << s.name;
  }
}

TEST(Bisection, records_hold_the_coordinates_of_the_box) {
  const Box box = Box::around({-3, -2, 1}, {4, 1, 2});
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Vec3d> position{box.low, {std::nextafter(box.low.x + box.edge, 0), box.low.y, box.low.z}};
  for (int i = 0; i < 1001; ++i)
    position.push_back(box.low + Vec3d{uniform(random), uniform(random), uniform(random)} * box.edge);
  Records records(position.size());
  make_records(box, position.data(), position.size(), records.data());
  for (std::size_t i = 0; i < position.size(); ++i) {
    const IntegerPosition c = box.coordinates(position[i]);
    EXPECT_EQ(records[i], (Record{c.x, c.y, c.z, static_cast<std::uint32_t>(i)}));
  }
}

TEST(CutRule, middle_gives_full_quanta) {
  EXPECT_EQ(middle_left_count(9, 1, 8), 8) << "between one and two quanta the right part is short";
  EXPECT_EQ(middle_left_count(15, 14, 8), 8);
  EXPECT_EQ(middle_left_count(16, 16, 8), 8);
  EXPECT_EQ(middle_left_count(23, 23, 8), 8) << "the right part keeps a whole quantum";
  EXPECT_EQ(middle_left_count(32, 20, 8), 24) << "halfway: the larger";
  EXPECT_EQ(middle_left_count(32, 19, 8), 16);
  EXPECT_EQ(middle_left_count(32, 1, 8), 8);
  EXPECT_EQ(middle_left_count(32, 0, 8), 16) << "one point is halved by number";
}

TEST(CutRule, spatial_middle_is_strictly_inside) {
  EXPECT_EQ(spatial_middle(0, 1), 1u);
  EXPECT_EQ(spatial_middle(0, 2), 1u);
  EXPECT_EQ(spatial_middle(7, 7), 7u);
  EXPECT_EQ(spatial_middle(0, ~0u), 0x80000000u);
  EXPECT_EQ(spatial_middle(~0u - 1, ~0u), ~0u);
}

TEST(CutRule, halves_make_an_array_heap) {
  // In an array heap of 2d - 1 nodes the left subtree's nodes are 1, 3, 4, 7, 8, 9, 10, ...
  for (std::int32_t d = 2; d < 600; ++d) {
    std::int32_t nodes = 0;
    for (std::int32_t first = 1, width = 1; first < 2 * d - 1; first = 2 * first + 1, width *= 2)
      nodes += std::min(width, 2 * d - 1 - first);
    EXPECT_EQ(2 * halves_left_leaves(d) - 1, nodes) << d;
  }
}

TEST(CutRule, halves_bound_does_not_overflow) {
  const std::int32_t leaves = 1000000007;
  const Count weight = 9000000000000000000;
  const auto wanted = static_cast<Count>(static_cast<__int128>(weight) * halves_left_leaves(leaves) / leaves);
  EXPECT_EQ(halves_target(Count{1} << 40, weight, leaves).weight, wanted);
}

}  // namespace
}  // namespace grove
