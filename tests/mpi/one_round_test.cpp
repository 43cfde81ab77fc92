// Decompositions in one round, after a first one by the master's script: the tree that the script makes, bit
// for bit, whatever the particles do in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decomposition/check.hpp"
#include "decomposition/cube_shares.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/known_cells.hpp"
#include "decomposition/segments.hpp"
#include "decomposition/whole_cells.hpp"
#include "support/particle_motions.hpp"
#include "support/whole_domain.hpp"
#include "support/whole_particles.hpp"

namespace grove {
namespace {

using test::domains;
using test::make_particles;
using test::Motion;
using test::Shape;

class OneRound : public testing::Test {
 protected:
  /// Decomposes on all ranks, and on each alone by the script; both trees are the same.
  void decompose_beside_script(const DecompositionParameters& p) {
    report_ = {};
    domain_ = decompose(comm_, particles_, p, domain_, report_);
    DecompositionParameters reference = p;
    reference.schedule = Schedule::master;
    reference.speeds.clear();
    DecompositionReport unused;
    domain_alone_ = decompose(alone_, particles_alone_, reference, domain_alone_, unused);
    EXPECT_EQ(check_domain(comm_, particles_, p, domain_), "");
    EXPECT_EQ(tree_hash(comm_, particles_, domain_), tree_hash(alone_, particles_alone_, domain_alone_));
    decompose_with_known_cells(p);
  }
  /// The same where ranks get no more cells than they need to know.
  void decompose_with_known_cells(DecompositionParameters p) {
    p.all_cells = false;
    DecompositionReport report;
    known_ = decompose(comm_, particles_known_, p, known_, report);
    EXPECT_FALSE(known_.is_whole);
    EXPECT_EQ(report.collectives, report_.collectives);
    const Domain whole = test::whole_domain(comm_, known_);
    EXPECT_EQ(whole.cells, domain_.cells);
    EXPECT_EQ(whole.leaf_cell, domain_.leaf_cell);
    EXPECT_EQ(whole.owners, domain_.owners);
    EXPECT_EQ(whole.leaf_begin, domain_.leaf_begin);
    const KnownCells known = known_cells(known_, comm_.rank());
    const KnownCells expected = known_cells(domain_, comm_.rank());
    EXPECT_EQ(known.cover, expected.cover);
    EXPECT_EQ(known_.cells, expected.pruned) << "that is all it has";
    EXPECT_TRUE(known.pruned.empty());
  }
  void start(Shape shape, std::uint64_t count, bool weighted, const DecompositionParameters& p) {
    particles_ = make_particles(comm_, shape, count, weighted);
    particles_alone_ = make_particles(alone_, shape, count, weighted);
    particles_known_ = particles_;
    domain_ = domain_alone_ = known_ = {};
    decompose_beside_script(p);
  }
  void go(Motion motion, int round, const DecompositionParameters& p) {
    move(particles_, motion, round);
    move(particles_alone_, motion, round);
    move(particles_known_, motion, round);
    decompose_beside_script(p);
  }
  /// Half a domain cell, or what else is light, at each end of what a rank has.
  void expect_equal_shares() const {
    std::vector<Count> own;  // weights of leaves
    for (std::int32_t leaf = 0; leaf < domain_.own.size(); ++leaf)
      own.push_back(domain_.leaf(domain_.own.leaf(leaf)).weight);
    Count largest = 0;
    for (const Count weight : WholeCells(domain_).sums(own)) largest = std::max(largest, weight);
    largest = comm_.max(largest);
    const Count most = comm_.max(std::accumulate(own.begin(), own.end(), Count{0}));
    EXPECT_LE(most, domain_.cells[0].weight / comm_.size() + 2 * largest);
  }
  /// The script was not needed: no service was called.
  bool was_one_round() const { return report_.rounds == 0 && !report_.timers.all().contains("init"); }

  Communicator comm_{MPI_COMM_WORLD}, alone_{MPI_COMM_SELF};
  Particles particles_, particles_alone_, particles_known_;
  Domain domain_, domain_alone_, known_;
  DecompositionReport report_;
};

TEST_F(OneRound, makes_the_tree_of_the_script) {
  for (const bool weighted : {false, true})
    for (const DecompositionParameters& p : {domains(64, 500), domains(32, 32), domains(16, 4000)}) {
      start(Shape::uniform, 12000, weighted, p);
      int round = 0;
      for (const Motion motion : {Motion::none, Motion::small, Motion::small, Motion::swap_axes,
                                  Motion::into_a_corner, Motion::small, Motion::back}) {
        SCOPED_TRACE(round);
        go(motion, ++round, p);
        EXPECT_TRUE(was_one_round());
        // Who comes, what there is, who goes on in a joined cell, and the cells of all.
        EXPECT_LE(report_.collectives, 4);
      }
    }
}

TEST_F(OneRound, makes_it_of_clumps_and_of_particles_in_one_place) {
  for (const Shape shape : {Shape::cusp, Shape::pairs, Shape::lattice, Shape::plane, Shape::equal}) {
    const DecompositionParameters p = domains(20, 150);
    start(shape, 5000, true, p);
    go(Motion::none, 0, p);
    EXPECT_TRUE(was_one_round());
  }
}

TEST_F(OneRound, makes_it_of_clusters_that_grow) {
  const DecompositionParameters p = domains(16, 100);
  start(Shape::uniform, 5000, true, p);
  int round = 0;
  for (const Motion motion : {Motion::into_two_clusters, Motion::grow_clusters, Motion::grow_clusters}) {
    go(motion, ++round, p);
    EXPECT_TRUE(was_one_round());
  }
}

/// The same cells as where particles already are where they will be, in the same cube.
TEST_F(OneRound, makes_it_of_places_that_particles_will_have) {
  DecompositionParameters p = domains(64, 500);
  start(Shape::uniform, 12000, false, p);
  for (const double lead : {0.01, -0.02}) {
    for (Particles* all : {&particles_, &particles_alone_, &particles_known_})
      for (std::size_t i = 0; i < all->size(); ++i)
        all->velocity[i] = Vec3d{1, -2, 0.5} - all->position[i] * (1 + static_cast<double>(all->id[i] % 3));
    Particles later = particles_alone_;
    for (std::size_t i = 0; i < later.size(); ++i)
      later.position[i] = later.position[i] + lead * later.velocity[i];
    p.lead = lead;
    decompose_beside_script(p);
    EXPECT_TRUE(was_one_round());
    DecompositionReport unused;
    const Domain expected = decompose(alone_, later, domains(64, 500), domain_alone_, unused);
    ASSERT_EQ(expected.box, domain_.box);
    EXPECT_EQ(expected.cells, domain_alone_.cells);
  }
}

/// The segments of particles in the parts of a domain.
std::vector<Segment> segments_of(const Particles& particles, const Domain& before) {
  const std::vector<IntegerPosition> parts = geometric_parts(before);
  std::vector<std::optional<Segment>> found(parts.size());
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const IntegerPosition place = before.box.coordinates(particles.position[i]);
    const ParticleId id = particles.id[i];
    const Segment own{place, place, 1, 1, {id, id, id}, 0};
    auto& segment = found[part_of(parts.data(), parts.size(), place)];
    segment = segment ? joined(std::vector{*segment, own}) : own;
  }
  std::vector<Segment> segments;
  for (const auto& segment : found)
    if (segment) segments.push_back(*segment);
  return segments;
}

/// Particles go where no domain cell was, and the tree above domain cells still follows from how many are now
/// in the geometric cells of before.
TEST_F(OneRound, follows_above_domain_cells_from_geometric_parts_of_before) {
  for (const Shape shape : {Shape::uniform, Shape::cusp}) {
    const DecompositionParameters p = domains(16, 100);
    start(shape, 5000, false, p);
    int round = 0;
    for (const Motion motion : {Motion::small, Motion::into_two_clusters, Motion::none, Motion::grow_clusters,
                                Motion::grow_clusters, Motion::back}) {
      SCOPED_TRACE(round);
      const Domain before = domain_alone_;
      go(motion, ++round, p);
      ASSERT_EQ(before.box, domain_alone_.box);
      const TopOfSegments top = top_of(segments_of(particles_alone_, before),
                                       {.rule = CutRule::domains, .quantum = 16, .domain_cell = 100}, 0, 1);
      std::vector<std::pair<std::int32_t, std::int32_t>> pairs{{0, 0}};  // of cells of both
      while (!pairs.empty()) {
        const auto [in_top, in_tree] = pairs.back();
        pairs.pop_back();
        const Cell &found = top.cells[static_cast<std::size_t>(in_top)],
                   &cell = domain_alone_.cells[static_cast<std::size_t>(in_tree)];
        EXPECT_EQ(found.count, cell.count);
        EXPECT_EQ(found.low, cell.low);
        EXPECT_EQ(found.high, cell.high);
        if (found.is_leaf()) continue;
        ASSERT_EQ(found.cut, cell.cut);
        for (const int side : {0, 1}) pairs.push_back({found.child + side, cell.child + side});
      }
    }
  }
}

/// So few particles are left in what were many domain cells that they are one, of several ranks: the lower
/// half of the cube, of which a rank half as fast as the others has some.
TEST_F(OneRound, joins_domain_cells_over_ranks) {
  DecompositionParameters p = domains(16, 200);
  for (int rank = 0; rank < comm_.size(); ++rank) p.speeds.push_back(rank == 0 ? 1 : 2);
  start(Shape::uniform, 3000, false, p);
  for (int round = 1; round < 3; ++round) {
    go(Motion::most_into_a_corner, round, p);
    EXPECT_TRUE(was_one_round());
    const bool moves_twice = round == 1 && comm_.size() > 1;
    EXPECT_EQ(report_.collectives, comm_.size() == 1 ? 0 : moves_twice ? 4 : 3);
  }
}

/// All particles go to one rank, and with the next decomposition to all.
TEST_F(OneRound, shares_out_anew_what_has_gathered_on_one_rank) {
  const DecompositionParameters p = domains(16, 64);
  start(Shape::uniform, 6000, true, p);
  for (const Motion motion : {Motion::into_a_corner, Motion::none}) go(motion, 1, p);
  EXPECT_TRUE(was_one_round());
  expect_equal_shares();
}

TEST_F(OneRound, keeps_all_fields_of_all_particles) {
  const DecompositionParameters p = domains(32, 300);
  start(Shape::uniform, 6000, true, p);
  go(Motion::swap_axes, 1, p);
  move(particles_, Motion::swap_axes, 2);
  test::expect_whole_particles_once(comm_, particles_, Shape::uniform, 6000, true);
}

/// Its cells have other axes, or it was made by another rule: ranks own other parts, which they find by
/// weighing.
TEST_F(OneRound, shares_the_cube_out_anew_for_other_cells) {
  for (const Shape shape : {Shape::uniform, Shape::cusp})
    for (const bool weighted : {false, true}) {
      DecompositionParameters p = domains(16, 64), other = p;
      other.rule = CutRule::middle;
      start(shape, 6000, weighted, other);
      for (const std::uint32_t epoch : {0, 1, 2}) {
        p.epoch = epoch;
        go(Motion::none, 1, p);
        EXPECT_TRUE(was_one_round());
        expect_equal_shares();
      }
    }
}

/// Deep rungs in a 64th of the cube, with half of all work: in one run each a rank would have them all. Ranks
/// have several runs then, and keep them while cells are the same.
TEST_F(OneRound, shares_out_the_steps_of_deep_rungs) {
  constexpr int rung = 6;
  constexpr std::uint32_t work = 1 << rung;
  DecompositionParameters p = domains(16, 40);
  start(Shape::uniform, 12000, true, p);
  for (Particles* all : {&particles_, &particles_alone_, &particles_known_})
    for (std::size_t i = 0; i < all->size(); ++i) {
      const IntegerPosition place = domain_.box.coordinates(all->position[i]);
      const auto is_inside = [](Coordinate c) { return c >> 30 == 2; };
      const bool is_deep = is_inside(place.x) && is_inside(place.y) && is_inside(place.z);
      all->rung[i] = is_deep ? rung : 0;
      all->work[i] = is_deep ? work : 1;
    }
  p.epoch = 1;
  const Count deep = std::count(particles_.rung.begin(), particles_.rung.end(), rung), all = comm_.sum(deep);
  p.rungs[0] = 12000 - all;
  p.rungs[rung] = all;
  go(Motion::none, 1, p);
  EXPECT_TRUE(was_one_round());
  const Count own = std::count(particles_.rung.begin(), particles_.rung.end(), rung);
  EXPECT_GT(all, 100);
  if (comm_.size() == 1) return;
  // A domain cell has at most 40 of them, and each end of what a rank has is that of one.
  EXPECT_LE(own, all / comm_.size() + 40);
  const std::size_t runs = domain_.owners.runs().size();
  EXPECT_GT(runs, static_cast<std::size_t>(comm_.size()));
  go(Motion::none, 2, p);
  EXPECT_EQ(domain_.owners.runs().size(), runs);
  go(Motion::small, 3, p);
}

TEST_F(OneRound, is_left_to_the_script_by_another_cube) {
  const DecompositionParameters p = domains(64, 500);
  start(Shape::uniform, 4000, false, p);
  for (Particles* all : {&particles_, &particles_alone_, &particles_known_})
    for (std::size_t i = 0; i < all->size(); ++i)
      if (all->velocity[i].x == 17) all->position[i] = {50, 0, 0};
  decompose_beside_script(p);
  EXPECT_EQ(was_one_round(), comm_.size() == 1);
  EXPECT_TRUE(domain_.box.contains({50, 0, 0}));
}

/// Every place belongs to one rank, particles to that of their leaf; the cells of a cover lie within their
/// part.
TEST_F(OneRound, places_have_one_owner) {
  start(Shape::cusp, 8000, false, domains(32, 100));
  const KeyRanges ranges(domain_);
  const PlaceFinder finder(ranges, comm_.rank());
  std::size_t near = 0;
  for (const Vec3d& position : particles_.position)
    EXPECT_GE(finder.find(domain_.box.coordinates(position), near), 0);
  const std::vector<GeometricCell> cover = ranges.cover(comm_.rank());
  EXPECT_EQ(cover.size(), finder.own_cells());
  EXPECT_TRUE(std::is_sorted(cover.begin(), cover.end(), [](const GeometricCell& a, const GeometricCell& b) {
    return comes_before(a.high(), b.low);
  }));
  std::vector<int> owners;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto any = [&](std::uint64_t k) { return static_cast<Coordinate>(mixed(3 * i + k)); };
    const IntegerPosition place{any(0), any(1), any(2)};
    const std::int32_t found = finder.find(place, near);
    std::size_t fresh = 0;
    EXPECT_EQ(finder.find(place, fresh), found) << "wherever the last one was";
    owners.push_back(found >= 0 ? comm_.rank() : -1 - found);
    if (found >= 0) {
      const GeometricCell& cell = cover[static_cast<std::size_t>(found)];
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_GE(place[axis], cell.low[axis]);
        EXPECT_LE(place[axis], cell.high()[axis]);
      }
    }
  }
  std::vector<int> of_all = owners;
  comm_.max(std::span<int>(of_all));
  EXPECT_EQ(owners, of_all) << "these are the greatest, so all ranks have the same";
}

/// Three of four places lie in a cube of 2^-20 of the edge. A bin that has 8 samples of 512 in a share holds
/// 31 +- 11 particles of 2000; what a rank has misses its share by half of one at each end: 62 is 3 sigma.
TEST(CubeShares, are_even_where_matter_is_clustered) {
  const Communicator comm(MPI_COMM_WORLD);
  constexpr Count own = 2000;
  std::mt19937 random(static_cast<unsigned>(comm.rank()));
  std::vector<IntegerPosition> places;
  for (Count i = 0; i < own; ++i) {
    const auto coordinate = [&] {
      const auto any = static_cast<Coordinate>(random());
      return i % 4 == 0 ? any : 0x40000000U + (any >> 20);
    };
    places.push_back({coordinate(), coordinate(), coordinate()});
  }
  int rounds = 0;
  CubeSharing sharing;
  sharing.sample = [&](const SampleRates& rates) {
    std::vector<PlaceSample> samples;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (rates.takes(i + 1000000 * static_cast<std::size_t>(comm.rank()), 0))
        samples.push_back({places[i].x, places[i].y, places[i].z, 0});
    EXPECT_LT(samples.size(), places.size() / 2);
    return samples;
  };
  sharing.weigh = [&](std::span<const IntegerPosition> begin) {
    ++rounds;
    std::vector<PartWork> parts(begin.size());
    for (const IntegerPosition& place : places) {
      PartWork& part = parts[part_of(begin.data(), begin.size(), place)];
      ++part.particles;
      ++part.work[0];
    }
    return parts;
  };
  sharing.speeds.assign(static_cast<std::size_t>(comm.size()), 1);
  sharing.particles[0] = own * comm.size();
  const KeyRanges ranges = share_out_cube(comm, sharing);
  EXPECT_EQ(rounds, 1);
  std::vector<IntegerPosition> begin;
  for (const KeyRanges::Part& part : ranges.parts()) begin.push_back(part.begin);
  std::vector<Count> weights(static_cast<std::size_t>(comm.size()), 0);
  for (const IntegerPosition& place : places)
    ++weights[static_cast<std::size_t>(ranges.parts()[part_of(begin.data(), begin.size(), place)].rank)];
  comm.sum(std::span<Count>(weights));
  for (const Count weight : weights) EXPECT_NEAR(weight, own, 2 * (own / 64));
}

}  // namespace
}  // namespace grove
