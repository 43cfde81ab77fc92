// Limits of a decomposition: what it keeps, refuses and reports.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "decomposition/check.hpp"
#include "decomposition/cut_search.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/migration.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

using test::make_particles;
using test::Shape;

DecompositionParameters leaves_of(Count leaf_size) {
  DecompositionParameters p;
  p.leaf_size = leaf_size;
  return p;
}

class DecompositionLimits : public testing::Test {
 protected:
  Domain run(Particles& particles, const DecompositionParameters& p, const Domain& previous = {},
             Array<Record>* records = nullptr) {
    report_ = {};
    return decompose(comm_, particles, p, previous, report_, records);
  }
  /// The message of the InputError that every rank must throw.
  std::string refusal(Particles particles, const DecompositionParameters& p) {
    try {
      run(particles, p);
    } catch (const Agreed<InputError>& error) {
      return error.what();
    }
    return "none";
  }

  Communicator comm_{MPI_COMM_WORLD};
  DecompositionReport report_;
};

TEST_F(DecompositionLimits, the_cube_stays_while_all_particles_fit) {
  Particles particles = make_particles(comm_, Shape::uniform, 3000);
  const Domain before = run(particles, leaves_of(100));
  const Box box = before.box;
  for (Vec3d& p : particles.position) p = 0.25 * p;
  EXPECT_EQ(run(particles, leaves_of(100), before).box, box);
  EXPECT_NE(run(particles, leaves_of(100)).box, box) << "a new cube around the smaller set";
  if (comm_.rank() == comm_.size() - 1 && !particles.empty()) particles.position[0].x = 100;
  const Domain moved = run(particles, leaves_of(100), before);
  EXPECT_TRUE(moved.box.contains({100, 0, 0}));
  EXPECT_EQ(check_domain(comm_, particles, leaves_of(100), moved), "");
}

TEST_F(DecompositionLimits, repeats_with_other_work_on_the_same_leaves) {
  Particles particles = make_particles(comm_, Shape::cusp, 8000);
  const Domain before = run(particles, leaves_of(64));
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles.work[i] = particles.id[i] % 7 == 0 ? 0 : static_cast<std::uint32_t>(particles.id[i] % 500);
  const Domain after = run(particles, leaves_of(64), before);
  EXPECT_EQ(check_domain(comm_, particles, leaves_of(64), after), "");
  ASSERT_EQ(before.cells.size(), after.cells.size());
  for (std::size_t c = 0; c < before.cells.size(); ++c) {
    EXPECT_EQ(before.cells[c].cut, after.cells[c].cut);
    EXPECT_EQ(before.cells[c].count, after.cells[c].count);
  }
}

TEST_F(DecompositionLimits, records_tell_the_order_of_particles) {
  for (const auto& [schedule, leaf_size] :
       {std::pair{Schedule::straddling, 64}, {Schedule::straddling, 5}, {Schedule::master, 64}}) {
    Particles particles = make_particles(comm_, Shape::cusp, 4000);
    DecompositionParameters p = leaves_of(leaf_size);
    p.schedule = schedule;
    Array<Record> records;
    const Domain domain = run(particles, p, {}, &records);
    ASSERT_EQ(records.size(), particles.size());
    Array<std::uint32_t> order;
    for (const Record& r : records) {
      const IntegerPosition c = domain.box.coordinates(particles.position[r.index]);
      EXPECT_EQ((Vec3<Coordinate>{r.x, r.y, r.z}), c);
      order.push_back(r.index);
    }
    particles.reorder(order);
    EXPECT_EQ(check_domain(comm_, particles, p, domain), "");
  }
}

TEST_F(DecompositionLimits, rounds_are_few_and_fewer_by_histogram) {
  // Two leaves: one cut of one cell. Bisection of the 32-bit interval takes at most 32 rounds, three
  // candidates halve their number, digits of 11 bits take 3 rounds; coordinates of 53 random bits have no
  // ties.
  DecompositionParameters p;
  p.rule = CutRule::halves;
  p.leaves = 2;
  p.schedule = Schedule::master;
  const auto rounds = [&](CutMethod method, std::int32_t candidates) {
    Particles particles = make_particles(comm_, Shape::uniform, 1000);
    p.method = method, p.candidates = candidates;
    run(particles, p);
    return comm_.max(report_.rounds);
  };
  const auto bisection = rounds(CutMethod::bisection, 1);
  EXPECT_LE(bisection, 32);
  EXPECT_GE(bisection, 28) << "the unit cube fills at least a quarter of the root cube's edge";
  EXPECT_LE(rounds(CutMethod::bisection, 3), 16);
  EXPECT_LE(rounds(CutMethod::histogram, 1), 3);
}

TEST_F(DecompositionLimits, cuts_near_the_middle_of_evenly_spread_particles_take_one_round_per_level) {
  // The cut is at most 32 particles from the middle. Cells of more than 2048 particles have at least 64 of
  // them within a 32nd of their extent; of smaller ones what remains beside the bins is few enough to be
  // gathered.
  Particles particles = make_particles(comm_, Shape::uniform, 20000);
  DecompositionParameters p = leaves_of(64);
  p.schedule = Schedule::master;
  run(particles, p);
  if (!comm_.is_master()) return;
  const auto levels = static_cast<std::int64_t>(report_.levels.all().size()) - 1;  // the last has leaves only
  EXPECT_GE(levels, 9);                                                            // 313 leaves
  EXPECT_EQ(report_.rounds, levels);
}

TEST_F(DecompositionLimits, no_particles_are_refused) {
  EXPECT_NE(refusal(Particles{}, leaves_of(64)).find("no particles"), std::string::npos);
}

TEST_F(DecompositionLimits, more_leaves_than_particles_are_refused) {
  DecompositionParameters p;
  p.leaves = 11;
  for (const CutRule rule : {CutRule::middle, CutRule::halves}) {
    p.rule = rule;
    EXPECT_NE(refusal(make_particles(comm_, Shape::uniform, 10), p).find("only 10 particles"),
              std::string::npos);
  }
}

TEST_F(DecompositionLimits, a_position_that_is_not_finite_is_refused_with_the_particles_id) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Particles particles = make_particles(comm_, Shape::uniform, 1000);
    if (comm_.rank() == comm_.size() - 1) {
      particles.position[3].y = bad;
      particles.id[3] = 424242;
    }
    EXPECT_NE(refusal(particles, leaves_of(64)).find("424242"), std::string::npos);
  }
}

/// Under `domains` one rank cuts alone what lies at one point.
TEST_F(DecompositionLimits, duplicate_ids_at_a_cut_made_together_are_refused) {
  std::vector<Schedule> schedules{Schedule::master};
  if (comm_.size() > 1) schedules.push_back(Schedule::straddling);  // else nothing is cut together
  for (const CutMethod method : {CutMethod::bisection, CutMethod::histogram})
    for (const Schedule schedule : schedules) {
      Particles particles = make_particles(comm_, Shape::equal, 1000);
      for (ParticleId& id : particles.id) id = 5;
      DecompositionParameters p = leaves_of(64);
      p.rule = CutRule::middle, p.method = method, p.schedule = schedule;
      const std::string message = refusal(particles, p);
      EXPECT_NE(message.find("id 5 occurs more than once"), std::string::npos) << message;
    }
}

/// Six particles of one place and one id at every boundary of ranks: leaves of two must cut between them,
/// where cells are delegated or before.
TEST_F(DecompositionLimits, duplicate_ids_at_a_boundary_of_ranks_are_refused) {
  if (comm_.size() == 1) return;
  Particles particles = make_particles(comm_, Shape::uniform, 4000);
  const Count count = comm_.sum(static_cast<Count>(particles.size())), ranks = comm_.size();
  const Count first = comm_.exclusive_scan(static_cast<Count>(particles.size()));
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Count number = first + static_cast<Count>(i), boundary = (number * ranks + count / 2) / count;
    const Count place = boundary * count / ranks;
    const bool is_tied = boundary > 0 && boundary < ranks && number >= place - 3 && number < place + 3;
    particles.id[i] = is_tied ? 5000 : static_cast<ParticleId>(number);
    // The first one far away, so that no cut in the middle meets a boundary at once.
    particles.position[i] = {static_cast<double>(number == 0 ? -2800 : is_tied ? place : number), 0, 0};
  }
  const std::string message = refusal(particles, leaves_of(2));
  EXPECT_NE(message.find("id 5000 occurs more than once"), std::string::npos) << message;
}

TEST_F(DecompositionLimits, the_check_notices_what_is_wrong) {
  Particles particles = make_particles(comm_, Shape::uniform, 2000);
  const Domain domain = run(particles, leaves_of(100));
  const auto fault = [&](auto&& spoil) {
    Domain spoiled = domain;
    spoil(spoiled);
    return check_domain(comm_, particles, leaves_of(100), spoiled);
  };
  EXPECT_EQ(fault([](Domain&) {}), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[0].cut.coordinate += 1u << 28; }), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[3].count += 1; }), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[2].high.z += 1; }), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[0].cut.id += 1; }), "");
  EXPECT_NE(check_domain(comm_, particles, leaves_of(50), domain), "");
}

TEST_F(DecompositionLimits, no_rank_may_get_more_particles_than_records_can_number) {
  if (comm_.size() == 1) return;  // nothing arrives
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  std::vector<Count> counts(static_cast<std::size_t>(comm_.size()), 0);
  std::vector<std::uint32_t> departing;
  if (comm_.rank() > 0) counts[0] = 2, departing = {0, 1};
  const auto arriving = static_cast<std::size_t>(2 * (comm_.size() - 1));
  const std::size_t held = comm_.is_master() ? most - arriving + 1 : 2;
  EXPECT_THROW(Migration(comm_, held, departing, counts), Agreed<InputError>);
}

TEST_F(DecompositionLimits, sorted_particles_stay_in_their_arrays_when_a_few_come) {
  Particles particles = make_particles(comm_, Shape::uniform, 3000);
  run(particles, leaves_of(100));
  const Vec3d* before = particles.position.data();
  const std::size_t size = particles.size();
  particles.resize(size + size / 32);
  EXPECT_EQ(particles.position.data(), before);
}

TEST_F(DecompositionLimits, the_leaf_size_in_force_is_told_and_makes_the_same_tree) {
  DecompositionParameters by_default, by_leaves;
  by_leaves.leaves = 30;
  for (DecompositionParameters p : {by_default, by_leaves, leaves_of(96)}) {
    Particles particles = make_particles(comm_, Shape::cusp, 10000);
    const Domain domain = run(particles, p);
    EXPECT_EQ(domain.leaf_size, p.leaf_size > 0 ? 96 : p.leaves > 0 ? 334 : 160);  // 10000 / 30 = 333.3
    const std::uint64_t hash = tree_hash(comm_, particles, domain);
    const Domain again = run(particles, leaves_of(domain.leaf_size));
    EXPECT_EQ(tree_hash(comm_, particles, again), hash);
  }
}

TEST_F(DecompositionLimits, the_answers_of_a_call_stay_small_for_any_number_of_cells) {
  for (int doublings = 0; doublings <= 26; ++doublings) {
    const std::size_t cells = (std::size_t{2} << doublings) - 1;  // the most of a bit width
    const int bits = digit_bits(cells);
    EXPECT_GE(bits, 1);
    EXPECT_LE(bits, 11);
    EXPECT_LT(cells * ((std::size_t{1} << bits) - 1) * sizeof(Tally),
              static_cast<std::size_t>(std::numeric_limits<int>::max()) - sizeof(AnswerHeader));
  }
  EXPECT_EQ(digit_bits(1), 11);
}

TEST_F(DecompositionLimits, default_leaf_size_is_a_64th_between_64_and_4096) {
  EXPECT_EQ(default_leaf_size(100), 64);
  EXPECT_EQ(default_leaf_size(10000), 160);    // 156.25
  EXPECT_EQ(default_leaf_size(100000), 1568);  // 1562.5
  EXPECT_EQ(default_leaf_size(100000000), 4096);
}

}  // namespace
}  // namespace grove
