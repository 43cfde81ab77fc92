// Properties of finished decompositions. Every rank starts with some of the particles; what comes out is
// counted again from scratch (check_domain) and compared with the tree that one rank alone cuts by the
// reference schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "decomposition/check.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/host_rank.hpp"
#include "support/particle_motions.hpp"
#include "support/whole_particles.hpp"

namespace grove {
namespace {

using test::domains;
using test::make_particles;
using test::Shape;

Communicator world() { return Communicator(MPI_COMM_WORLD); }
Communicator alone() { return Communicator(MPI_COMM_SELF); }

DecompositionParameters middle(Count leaf_size) {
  DecompositionParameters p;
  p.rule = CutRule::middle;
  p.leaf_size = leaf_size;
  return p;
}

DecompositionParameters halves(Count leaves) {
  DecompositionParameters p;
  p.rule = CutRule::halves;
  p.leaves = leaves;
  return p;
}

DecompositionParameters centre(Count leaf_size) {
  DecompositionParameters p;
  p.rule = CutRule::centre;
  p.leaf_size = leaf_size;
  return p;
}

Domain decomposed(const Communicator& comm, Particles& particles, const DecompositionParameters& p) {
  DecompositionReport report;
  return decompose(comm, particles, p, {}, report);
}

std::uint64_t checked_hash(const Communicator& comm, Particles particles, const DecompositionParameters& p) {
  const Domain domain = decomposed(comm, particles, p);
  EXPECT_EQ(check_domain(comm, particles, p, domain), "");
  return tree_hash(comm, particles, domain);
}

std::uint64_t reference_hash(Shape shape, std::uint64_t count, bool weighted, DecompositionParameters p) {
  p.schedule = Schedule::master;
  p.method = CutMethod::bisection;
  return checked_hash(alone(), make_particles(alone(), shape, count, weighted), p);
}

std::string name_of(const DecompositionParameters& p) {
  return std::string(p.rule == CutRule::middle    ? "middle"
                     : p.rule == CutRule::halves  ? "halves"
                     : p.rule == CutRule::domains ? "domains"
                                                  : "centre") +
         (p.schedule == Schedule::master ? ", master" : ", straddling") +
         (p.method == CutMethod::bisection ? ", bisection" : ", histogram") +
         (p.transport == Transport::messages ? ", messages" : ", collectives");
}

/// All ways to cut give the same tree, and it is right.
void expect_one_tree(Shape shape, std::uint64_t count, bool weighted, DecompositionParameters p) {
  const Communicator comm = world();
  const std::uint64_t reference = reference_hash(shape, count, weighted, p);
  for (p.schedule = Schedule::straddling;; p.schedule = Schedule::master) {
    p.method = CutMethod::histogram, p.transport = Transport::collectives;
    EXPECT_EQ(checked_hash(comm, make_particles(comm, shape, count, weighted), p), reference) << name_of(p);
    p.method = CutMethod::bisection, p.transport = Transport::messages;
    EXPECT_EQ(checked_hash(comm, make_particles(comm, shape, count, weighted), p), reference) << name_of(p);
    if (p.schedule == Schedule::master) break;
  }
}

TEST(Decomposition, is_the_same_tree_on_any_ranks_by_any_way) {
  for (const bool weighted : {false, true})
    for (const Shape shape : {Shape::uniform, Shape::cusp}) {
      expect_one_tree(shape, 20000, weighted, middle(256));
      expect_one_tree(shape, 20000, weighted, halves(61));
      expect_one_tree(shape, 20000, weighted, centre(256));
      expect_one_tree(shape, 20000, weighted, domains(64, 600));
    }
}

TEST(Decomposition, cuts_elsewhere_in_another_epoch) {
  DecompositionParameters later = middle(256);
  later.epoch = 3;
  expect_one_tree(Shape::cusp, 20000, false, later);
  EXPECT_NE(reference_hash(Shape::cusp, 20000, false, later),
            reference_hash(Shape::cusp, 20000, false, middle(256)));
}

TEST(Decomposition, gives_ranks_work_in_the_ratio_of_their_speeds_and_cuts_the_same_tree) {
  const Communicator comm = world();
  for (const std::uint32_t most : {7U, 1U << 20})
    for (DecompositionParameters p : {middle(64), halves(200), centre(64)}) {
      const std::uint64_t reference = reference_hash(Shape::cusp, 20000, true, p);
      for (int rank = 0; rank < comm.size(); ++rank) p.speeds.push_back(rank % 2 == 0 ? most : 1);
      EXPECT_EQ(checked_hash(comm, make_particles(comm, Shape::cusp, 20000, true), p), reference)
          << name_of(p);

      Particles particles = make_particles(comm, Shape::cusp, 20000, true);
      const Domain domain = decomposed(comm, particles, p);
      Count weight = 0, largest = 0;
      for (std::int32_t leaf = 0; leaf < domain.leaves(); ++leaf) {
        largest = std::max(largest, domain.leaf(leaf).weight);
        if (domain.owners.owner(leaf) == comm.rank()) weight += domain.leaf(leaf).weight;
      }
      const double own = p.speeds[static_cast<std::size_t>(comm.rank())],
                   all = std::accumulate(p.speeds.begin(), p.speeds.end(), 0.0);
      EXPECT_NEAR(static_cast<double>(weight), own / all * static_cast<double>(domain.cells[0].weight),
                  static_cast<double>(largest))
          << "half a leaf at each end";
    }
}

/// A set with ids of all 64 bits and many particles at each point.
Particles with_long_ids(const Communicator& comm) {
  Particles particles = make_particles(comm, Shape::lattice, 3000, true);
  for (ParticleId& id : particles.id) id = mixed(id);
  return particles;
}

TEST(Decomposition, methods_and_transports_mix_and_ids_have_64_bits) {
  const Communicator comm = world();
  const std::uint64_t reference = checked_hash(alone(), with_long_ids(alone()), halves(16));
  for (const CutMethod method : {CutMethod::bisection, CutMethod::histogram})
    for (const Transport transport : {Transport::messages, Transport::collectives})
      for (const std::int32_t candidates : {1, 3, 16}) {
        DecompositionParameters p = halves(16);
        p.method = method, p.transport = transport, p.candidates = candidates;
        EXPECT_EQ(checked_hash(comm, with_long_ids(comm), p), reference) << name_of(p);
      }
}

TEST(Decomposition, is_exact_for_equal_coordinates) {
  for (const bool weighted : {false, true})
    for (const Shape shape : {Shape::equal, Shape::plane, Shape::pairs, Shape::lattice}) {
      expect_one_tree(shape, 10000, weighted, middle(300));
      expect_one_tree(shape, 10000, weighted, halves(33));
      expect_one_tree(shape, 10000, weighted, centre(300));
      expect_one_tree(shape, 10000, weighted, domains(100, 450));
    }
}

/// Leaves so small that cells of a 16th of a rank's particles have many.
DecompositionParameters small_leaves(CutRule rule) {
  if (rule == CutRule::domains) return domains(4, 30);
  return rule == CutRule::middle ? middle(4) : rule == CutRule::halves ? halves(700) : centre(4);
}

TEST(Decomposition, delegates_cells_and_makes_the_same_tree) {
  const Communicator comm = world();
  constexpr std::uint64_t count = 6000;
  for (const CutRule rule : {CutRule::middle, CutRule::halves, CutRule::centre, CutRule::domains}) {
    bool delegates = false;
    for (const bool weighted : {false, true})
      for (const Shape shape : {Shape::uniform, Shape::cusp, Shape::equal, Shape::plane, Shape::lattice}) {
        const std::uint64_t reference = reference_hash(shape, count, weighted, small_leaves(rule));
        for (const int first_rank : {0, comm.size() - 1}) {
          Particles particles = make_particles(comm, shape, count, weighted, first_rank);
          DecompositionReport report;
          const Domain domain = decompose(comm, particles, small_leaves(rule), {}, report);
          EXPECT_EQ(check_domain(comm, particles, small_leaves(rule), domain), "");
          EXPECT_EQ(tree_hash(comm, particles, domain), reference);
          test::expect_whole_particles_once(comm, particles, shape, count, weighted);
          if (report.timers.all().contains("delegate")) delegates = true;
        }
      }
    // Rank boundaries may hit cuts, but not in all of these.
    EXPECT_EQ(delegates, comm.size() > 1);
  }
}

/// Delegates cells of so many particles or fewer.
class DelegatingRank : public HostRank {
 public:
  DelegatingRank(Count most, Particles& particles, DecompositionReport& report)
      : HostRank(particles, report), most_(most) {}
  Count most_delegated(const CutScheme&, Count) const override { return most_; }

 private:
  Count most_;
};

/// From none to the root.
TEST(Decomposition, delegates_cells_of_any_size) {
  const Communicator comm = world();
  constexpr std::uint64_t count = 4000;
  for (const DecompositionParameters& p : {middle(10), halves(400), centre(10), domains(10, 70)})
    for (const Shape shape : {Shape::cusp, Shape::equal})
      for (const bool weighted : {false, true}) {
        const std::uint64_t reference = reference_hash(shape, count, weighted, p);
        for (const Count most : {0, 40, 900, 4000}) {
          Particles particles = make_particles(comm, shape, count, weighted);
          DecompositionReport report;
          DelegatingRank delegating(most, particles, report);
          const Domain domain = decompose(comm, delegating, p, {}, report);
          EXPECT_EQ(check_domain(comm, particles, p, domain), "");
          EXPECT_EQ(tree_hash(comm, particles, domain), reference) << most;
        }
      }
}

TEST(Decomposition, loses_nothing_when_ranks_start_empty) {
  const Communicator comm = world();
  for (const bool weighted : {false, true})
    for (const DecompositionParameters& p :
         {middle(128), halves(40), middle(3), centre(128), domains(32, 200)}) {
      const std::uint64_t reference = reference_hash(Shape::cusp, 5000, weighted, p);
      Particles particles = make_particles(comm, Shape::cusp, 5000, weighted, comm.size() - 1);
      EXPECT_EQ(checked_hash(comm, std::move(particles), p), reference);
    }
}

TEST(Decomposition, leaves_ranks_idle_that_are_more_than_leaves) {
  const Communicator comm = world();
  for (const Schedule schedule : {Schedule::straddling, Schedule::master}) {
    DecompositionParameters p = middle(60);
    p.schedule = schedule;
    const std::uint64_t reference = reference_hash(Shape::uniform, 100, false, p);
    EXPECT_EQ(checked_hash(comm, make_particles(comm, Shape::uniform, 100), p), reference);
    p = halves(1);
    p.schedule = schedule;
    EXPECT_EQ(checked_hash(comm, make_particles(comm, Shape::uniform, 1), p),
              reference_hash(Shape::uniform, 1, false, p));
  }
}

TEST(Decomposition, brings_every_particle_with_all_its_fields_exactly_once) {
  const Communicator comm = world();
  constexpr std::uint64_t count = 9000;
  for (const bool weighted : {false, true}) {
    Particles particles = make_particles(comm, Shape::cusp, count, weighted);
    const Domain domain = decomposed(comm, particles, middle(128));
    test::expect_whole_particles_once(comm, particles, Shape::cusp, count, weighted);
    Count in_leaves = 0;
    for (std::int32_t leaf = 0; leaf < domain.leaves(); ++leaf) in_leaves += domain.leaf(leaf).count;
    EXPECT_EQ(in_leaves, static_cast<Count>(count));
  }
}

TEST(Decomposition, leaves_are_full_under_middle) {
  const Communicator comm = world();
  for (const Shape shape : {Shape::uniform, Shape::equal, Shape::plane, Shape::pairs}) {
    Particles particles = make_particles(comm, shape, 10000);
    const Domain domain = decomposed(comm, particles, middle(96));
    ASSERT_EQ(domain.leaves(), 105);  // 104 full ones and 10000 - 104 * 96 = 16 particles
    for (std::int32_t leaf = 0; leaf < 105; ++leaf) EXPECT_EQ(domain.leaf(leaf).count, leaf < 104 ? 96 : 16);
  }
}

/// A number along Morton's curve, z before y before x.
__extension__ using Wide = unsigned __int128;
Wide morton(const IntegerPosition& p) {
  Wide key = 0;
  for (int bit = 31; bit >= 0; --bit)
    for (const int axis : {2, 1, 0}) key = key << 1 | (p[axis] >> bit & 1);
  return key;
}

/// Cells of the halved cube are intervals of it, one behind the other: no leaf reaches into another's.
TEST(Decomposition, leaves_are_cells_of_the_halved_cube_under_centre) {
  const Communicator comm = world();
  for (const Shape shape : {Shape::cusp, Shape::uniform})
    for (const double offset : {0.0, 1e9})
      for (const std::uint64_t count : {std::uint64_t{2}, std::uint64_t{10000}}) {
        if (shape == Shape::cusp && offset > 0) continue;  // many would coincide
        const DecompositionParameters p = centre(count == 2 ? 1 : 96);
        Particles particles = make_particles(comm, shape, count);
        for (Vec3d& x : particles.position) x += Vec3d{offset, -offset, 0};
        const Domain domain = decomposed(comm, particles, p);
        EXPECT_EQ(check_domain(comm, particles, p, domain), "");
        EXPECT_GE(domain.leaves(), static_cast<std::int32_t>(count) / p.leaf_size);
        Wide end = 0;
        for (std::int32_t leaf = 0; leaf < domain.leaves(); ++leaf) {
          const Wide low = morton(domain.leaf(leaf).low), high = morton(domain.leaf(leaf).high);
          Wide size = 1;
          while (low / size != high / size) size *= 2;
          EXPECT_GE(low / size * size, end) << leaf;
          end = (low / size + 1) * size;
        }
      }
}

TEST(Decomposition, halves_is_an_array_heap_of_equal_leaves) {
  const Communicator comm = world();
  for (const std::int32_t leaves : {1, 2, 3, 5, 8, 13, 64, 100}) {
    Particles particles = make_particles(comm, Shape::uniform, 5000);
    const Domain domain = decomposed(comm, particles, halves(leaves));
    ASSERT_EQ(domain.cells.size(), static_cast<std::size_t>(2 * leaves - 1));
    for (std::size_t c = 0; c < domain.cells.size(); ++c) {
      const bool is_inner = static_cast<std::int32_t>(c) < leaves - 1;
      EXPECT_EQ(domain.cells[c].child, is_inner ? static_cast<std::int32_t>(2 * c + 1) : -1);
    }
    // Each cut loses less than one particle of each child's share, and there are at most log2(d) + 1 above a
    // leaf.
    const double depth = std::ceil(std::log2(leaves)) + 1;
    for (std::int32_t leaf = 0; leaf < leaves; ++leaf)
      EXPECT_NEAR(static_cast<double>(domain.leaf(leaf).count), 5000.0 / leaves, depth);
  }
}

TEST(Decomposition, cuts_seven_particles_into_three_leaves_as_by_hand) {
  // Three leaves: two go left, d_left = min(3 - 1, 2) = 2. The longest prefix w with 3 w <= 2 * 7 has 4
  // particles: cut on x, the longest side, ids 4 1 6 2 | 0 5 3. Those on the left span 3 in x, 5 in y: cut on
  // y, 2 and 2: 6 4 | 2 1.
  const std::vector<Vec3d> positions = {{4, 0, 0}, {1, 5, 0}, {3, 4, 1}, {9, 1, 1},
                                        {0, 2, 0}, {6, 3, 0}, {2, 0, 1}};
  const Communicator comm = world();
  for (const CutMethod method : {CutMethod::bisection, CutMethod::histogram})
    for (const Schedule schedule : {Schedule::straddling, Schedule::master}) {
      Particles particles;
      for (std::size_t i = 0; i < positions.size(); ++i) {
        if (static_cast<int>(i) % comm.size() != comm.rank()) continue;
        const std::size_t at = particles.size();
        particles.resize(at + 1);
        test::set_particle(particles, at, Shape::uniform, i, false);
        particles.position[at] = positions[i];
        particles.id[at] = i;
      }
      DecompositionParameters p = halves(3);
      p.method = method, p.schedule = schedule;
      const Domain domain = decomposed(comm, particles, p);
      ASSERT_EQ(domain.cells.size(), 5u);
      std::vector<Count> counts;
      for (const Cell& cell : domain.cells) counts.push_back(cell.count);
      EXPECT_EQ(counts, (std::vector<Count>{7, 4, 3, 2, 2}));
      EXPECT_EQ(domain.cells[0].cut.axis, 0);
      EXPECT_EQ(domain.cells[0].cut.id, 0u) << "the first to go right is particle 0, at x = 4";
      EXPECT_EQ(domain.cells[0].cut.coordinate, domain.box.coordinates(positions[0]).x);
      EXPECT_EQ(domain.cells[1].cut.axis, 1);
      EXPECT_EQ(domain.cells[1].cut.id, 2u);
      EXPECT_EQ(domain.leaf_cell, (std::vector<std::int32_t>{3, 4, 2}));

      const std::vector<std::vector<ParticleId>> expected = {{4, 6}, {1, 2}, {0, 3, 5}};
      for (std::size_t own = 0; own + 1 < domain.leaf_begin.size(); ++own) {
        std::vector<ParticleId> ids(particles.id.begin() + domain.leaf_begin[own],
                                    particles.id.begin() + domain.leaf_begin[own + 1]);
        std::sort(ids.begin(), ids.end());
        EXPECT_EQ(ids, expected[static_cast<std::size_t>(domain.own.leaf(static_cast<std::int32_t>(own)))]);
      }
    }
}

TEST(Decomposition, weighted_cuts_are_within_one_particle_of_the_target) {
  const Communicator comm = world();
  Particles particles = make_particles(comm, Shape::cusp, 20000, true);
  const std::uint32_t heaviest = comm.max(*std::max_element(particles.work.begin(), particles.work.end()));
  const Domain domain = decomposed(comm, particles, halves(50));
  for (const Cell& cell : domain.cells) {
    if (cell.is_leaf()) continue;
    const Cell& left = domain.cells[static_cast<std::size_t>(cell.child)];
    const double target = static_cast<double>(cell.weight) * left.leaves / cell.leaves;
    EXPECT_LE(static_cast<double>(left.weight), target);
    EXPECT_GT(static_cast<double>(left.weight) + heaviest, target);
  }
}

TEST(Decomposition, ranks_get_equal_work_to_within_a_leaf) {
  const Communicator comm = world();
  Particles particles = make_particles(comm, Shape::cusp, 20000, true);
  const Domain domain = decomposed(comm, particles, middle(128));
  Count heaviest = 0;
  std::vector<Count> weight(static_cast<std::size_t>(comm.size()), 0);
  for (std::int32_t leaf = 0; leaf < domain.leaves(); ++leaf) {
    heaviest = std::max(heaviest, domain.leaf(leaf).weight);
    weight[static_cast<std::size_t>(domain.owners.owner(leaf))] += domain.leaf(leaf).weight;
  }
  const Count most = *std::max_element(weight.begin(), weight.end());
  // A leaf belongs to the rank that holds its middle: half a leaf at most sticks out at either end.
  EXPECT_LE(most, domain.cells[0].weight / comm.size() + heaviest);
  EXPECT_NEAR(imbalance(domain),
              static_cast<double>(most) * comm.size() / static_cast<double>(domain.cells[0].weight), 1e-12);
}

}  // namespace
}  // namespace grove
