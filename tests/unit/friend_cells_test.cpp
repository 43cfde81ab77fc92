// The cells in which GPUs link friends, on the host: each thread and each lane of a warp one after the other.
#include "kernels/math/friend_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "base/hash.hpp"
#include "support/friend_sets.hpp"

namespace grove {
namespace {

using test::FriendSet;

struct LanesInTurn {
  template <class Predicate>
  unsigned ballot(const Predicate& predicate) const {
    unsigned bits = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) bits |= predicate(lane) ? 1u << lane : 0;
    return bits;
  }
  template <class Bounds>
  NeighbourBounds united(const Bounds& bounds) const {
    NeighbourBounds all;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) all.add(bounds(lane));
    return all;
  }
  template <class Action>
  auto once(const Action& action) const {
    return action();
  }
};

struct Corners {
  Vec3d low, high;
};

Corners corners_of(const std::vector<Vec3d>& place) {
  NeighbourBounds bounds;
  for (const Vec3d& p : place) bounds.add(p, 0);
  return {bounds.low, bounds.high};
}

/// Particles in the order of their cells, and these.
class SortedCells {
 public:
  SortedCells(const std::vector<Vec3d>& place, double length, const NearestImage& nearest)
      : grid_(corners_of(place).low, corners_of(place).high, length, nearest), order_(place.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    const auto key = [&](std::uint32_t i) { return grid_.key(grid_.cell(place[i])); };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    for (std::uint32_t s = 0; s < order_.size(); ++s) {
      position_.push_back(place[order_[s]]);
      if (s == 0 || !(grid_.cell(position_[s]) == grid_.cell(position_[s - 1]))) {
        begin_.push_back(s);
        key_.push_back(key(order_[s]));
      }
      cell_of_.push_back(static_cast<std::uint32_t>(begin_.size() - 1));
    }
    begin_.push_back(static_cast<std::uint32_t>(order_.size()));
    sets_.emplace(key_.size());
    cells_ = {key_.data(),      begin_.data(), static_cast<std::uint32_t>(key_.size()),
              position_.data(), grid_,         nearest,
              length,           sets_->view()};
  }
  SortedCells(const SortedCells&) = delete;

  const FriendCells& cells() const { return *cells_; }

  /// In any order, as threads come.
  void link(std::mt19937& random) {
    std::vector<std::uint32_t> all(cells_->count), crowded;
    std::iota(all.begin(), all.end(), 0u);
    std::copy_if(all.begin(), all.end(), std::back_inserter(crowded),
                 [&](std::uint32_t cell) { return cells_->is_crowded(cell); });
    std::shuffle(all.begin(), all.end(), random);
    for (const std::uint32_t cell : all) link_sparse_cell(*cells_, cell);
    std::vector<NeighbourTarget> box;
    for (const std::uint32_t cell : crowded) box.push_back(box_of_cell(*cells_, cell, LanesInTurn{}));
    const CrowdedCells crowds{crowded.data(), box.data(), static_cast<std::uint32_t>(crowded.size())};
    std::vector<std::uint32_t> numbers(crowded.size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::shuffle(numbers.begin(), numbers.end(), random);
    for (const std::uint32_t k : numbers) link_crowded_cell(*cells_, crowds, k, LanesInTurn{});
  }

  /// The least number of each particle's group.
  std::vector<std::uint32_t> groups() {
    std::vector<std::uint32_t> least(cells_->count, ~0u), groups(order_.size());
    for (std::uint32_t s = 0; s < order_.size(); ++s) {
      std::uint32_t& of_set = least[sets_->root(cell_of_[s])];
      of_set = std::min(of_set, order_[s]);
    }
    for (std::uint32_t s = 0; s < order_.size(); ++s) groups[order_[s]] = least[sets_->root(cell_of_[s])];
    return groups;
  }

 private:
  FriendGrid grid_;
  std::vector<std::uint32_t> order_, begin_, cell_of_;
  std::vector<std::uint64_t> key_;
  std::vector<Vec3d> position_;
  std::optional<DisjointSets> sets_;
  std::optional<FriendCells> cells_;
};

struct FriendVariant {
  FriendSet set;
  double length, period;
};
class FriendsInCells : public testing::TestWithParam<FriendVariant> {};

TEST_P(FriendsInCells, are_those_of_brute_force) {
  const auto [set, length, period] = GetParam();
  constexpr std::uint64_t count = 4096;
  std::vector<Vec3d> place;
  for (std::uint64_t i = 0; i < count; ++i) place.push_back(test::friend_place(set, i, count));
  const NearestImage nearest = NearestImage::of(Images{period});
  SortedCells sorted(place, length, nearest);
  std::mt19937 random(1);
  sorted.link(random);
  EXPECT_EQ(sorted.groups(), test::friends_by_brute_force(place, length, nearest));
}

// From one cell to 10^9 on an axis; in periodic boxes 4, 5, 6, 7, 8 and more.
INSTANTIATE_TEST_SUITE_P(
    All, FriendsInCells,
    testing::Values(FriendVariant{FriendSet::uniform, 0.0125, 1}, FriendVariant{FriendSet::uniform, 0.055, 1},
                    FriendVariant{FriendSet::uniform, 0.055, 0}, FriendVariant{FriendSet::uniform, 2, 0},
                    FriendVariant{FriendSet::clumps, 0.0125, 1}, FriendVariant{FriendSet::clumps, 0.0125, 0},
                    FriendVariant{FriendSet::clumps, 1e-7, 1}, FriendVariant{FriendSet::clumps, 0.003, 0},
                    FriendVariant{FriendSet::chain, 0.005, 0}, FriendVariant{FriendSet::coincident, 1e-9, 1},
                    FriendVariant{FriendSet::coincident, 0.045, 0}, FriendVariant{FriendSet::crowds, 0.02, 0},
                    FriendVariant{FriendSet::crowds, 0.0245, 1}, FriendVariant{FriendSet::crowds, 0.0221, 1},
                    FriendVariant{FriendSet::crowds, 0.03, 1}, FriendVariant{FriendSet::lattice, 0.0625, 1},
                    FriendVariant{FriendSet::lattice, 0.0626, 1}, FriendVariant{FriendSet::lattice, 0.125, 0},
                    FriendVariant{FriendSet::aliases, 1e-7, 0}, FriendVariant{FriendSet::aliases, 1e-7, 1},
                    FriendVariant{FriendSet::far, 0.0125, 0}, FriendVariant{FriendSet::far, 0.1, 0}));

/// Few particles, so that no group fills the box.
TEST(FriendGrid, finds_friends_across_faces_of_boxes_of_few_cells) {
  std::vector<Vec3d> place;
  for (std::uint64_t i = 0; i < 12; ++i) place.push_back(test::place(test::Shape::uniform, i));
  const NearestImage nearest = NearestImage::of(Images{1});
  std::mt19937 random(1);
  for (const double length : {0.499, 0.43, 0.36, 0.33, 0.29, 0.28, 0.25, 0.24, 0.22, 0.2, 0.17, 0.1})
    for (std::uint64_t shift = 0; shift < 100; ++shift) {
      std::vector<Vec3d> shifted;
      for (const Vec3d& p : place) {
        Vec3d q = p + test::place(test::Shape::uniform, 1000 + shift);
        for (int axis = 0; axis < 3; ++axis) q[axis] -= std::floor(q[axis]);
        shifted.push_back(q);
      }
      SortedCells sorted(shifted, length, nearest);
      sorted.link(random);
      ASSERT_EQ(sorted.groups(), test::friends_by_brute_force(shifted, length, nearest)) << length;
    }
}

/// Some edges outside of a periodic box, on its faces, and at -0; in open space on both sides of 0.
TEST(FriendGrid, takes_places_outside_of_the_box_and_on_its_faces) {
  constexpr std::uint64_t count = 600;
  std::mt19937 random(1);
  for (const double period : {0.0, 1.0})
    for (const double length : {0.4, 0.27, 0.1, 0.01, 1e-7}) {
      std::vector<Vec3d> place;
      for (std::uint64_t i = 0; i < count; ++i) {
        const Vec3d near_face = 0.3 * length * (test::place(test::Shape::uniform, i) - Vec3d{0.5, 0.5, 0.5});
        Vec3d p = i % 3 == 0 ? Vec3d{-0.0, 0, -0.0} : near_face;
        p[i % 2] += 0.7 * length * static_cast<double>(i % 7);
        for (int axis = 0; axis < 3; ++axis)
          p[axis] += static_cast<double>(mixed(3 * i + static_cast<std::uint64_t>(axis)) % 5) - 2;
        place.push_back(p);
      }
      const NearestImage nearest = NearestImage::of(Images{period});
      SortedCells sorted(place, length, nearest);
      sorted.link(random);
      ASSERT_EQ(sorted.groups(), test::friends_by_brute_force(place, length, nearest)) << length;
    }
}

/// Two crowds, of which one particle each, at any place in its cell's order, is a friend of the other's.
TEST(FriendsInCells, link_crowds_by_a_single_pair) {
  constexpr std::uint32_t each = 70;
  std::mt19937 random(1);
  for (const std::uint32_t first : {0u, 1u, 31u, 32u, 63u, 64u, 69u})
    for (const std::uint32_t second : {0u, 31u, 32u, 69u}) {
      std::vector<Vec3d> place;
      for (std::uint32_t i = 0; i < each; ++i) place.push_back({i == first ? 0.5 : 0, 0, 0});
      for (std::uint32_t i = 0; i < each; ++i) place.push_back({i == second ? 1.499 : 1.7, 0, 0});
      SortedCells sorted(place, 1, NearestImage{});
      ASSERT_EQ(sorted.cells().count, 2u);
      sorted.link(random);
      EXPECT_EQ(sorted.groups(), std::vector<std::uint32_t>(2 * each, 0)) << first << " and " << second;
    }
}

/// The diagonal of a cell is shorter than the length, so that all within it are friends however rounded.
TEST(FriendGrid, parts_the_ends_of_a_diagonal_of_the_length) {
  for (const double period : {0.0, 1.0})
    for (const double length : {0.31, 0.2, 0.013, 1e-7}) {
      const FriendGrid grid({0, 0, 0}, {1, 1, 1}, length, NearestImage::of(Images{period}));
      const double side = length / std::sqrt(3.0);
      EXPECT_FALSE(grid.cell({0, 0, 0}) == grid.cell({side, side, side})) << length;
    }
}

TEST(FriendGrid, has_friends_alone_in_a_cell_and_all_friends_in_reach) {
  for (const double period : {0.0, 1.0})
    for (const double length : {0.49, 0.3461, 0.31, 0.288, 0.2, 0.013, 1e-7}) {
      const NearestImage nearest = NearestImage::of(Images{period});
      const FriendGrid grid({0, 0, 0}, {1, 1, 1}, length, nearest);
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const Vec3d a = test::place(test::Shape::uniform, i),
                    u = i % 4 == 0 ? Vec3d{1, 0, 0}
                                   : test::place(test::Shape::uniform, 5000 + i) - Vec3d{0.5, 0.5, 0.5};
        Vec3d b = a + length * (i % 2 == 0 ? 0.9999999 / norm(u) : 0.5) * u;
        for (int axis = 0; axis < 3; ++axis) b[axis] -= period > 0 ? std::floor(b[axis]) : 0;
        const bool are_friends = squared_length(nearest(a - b)) < length * length;
        if (grid.cell(a) == grid.cell(b)) {
          EXPECT_TRUE(are_friends);
        }
        bool is_near = false;
        const FriendGrid::Cell place = grid.place(grid.key(grid.cell(a)));
        for (int dz = -grid.reach(); dz <= grid.reach(); ++dz)
          for (int dy = -grid.reach(); dy <= grid.reach(); ++dy)
            for (const int part : {0, 1}) {
              const CellRun run = grid.near(place, dy, dz, part);
              is_near =
                  is_near || (run.first <= grid.key(grid.cell(b)) && grid.key(grid.cell(b)) <= run.last);
            }
        EXPECT_TRUE(is_near || !are_friends) << length;
      }
    }
}

TEST(FriendGrid, says_when_places_are_too_far_apart) {
  EXPECT_TRUE(FriendGrid::resolves(1e8, 1e-3));
  EXPECT_FALSE(FriendGrid::resolves(1e9, 1e-3));
  EXPECT_FALSE(FriendGrid::resolves(1e300, 1e-300));
}

/// Coincident particles share a cell, but are no friends if the square of the length is 0.
TEST(FriendGrid, says_when_a_length_has_no_square) {
  for (const double length : {1e-310, 1e-200, 1e200}) EXPECT_FALSE(FriendGrid::resolves(0, length)) << length;
  EXPECT_TRUE(FriendGrid::resolves(0, 1e-100));
}

}  // namespace
}  // namespace grove
