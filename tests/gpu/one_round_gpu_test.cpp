// Decompositions in one round on GPUs: the trees of the host, with and without a step of particles to ranks
// between.
#include <gtest/gtest.h>

#include "decomposition/check.hpp"
#include "decomposition/gpu/device_check.hpp"
#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/known_cells.hpp"
#include "support/gpu_ranks.hpp"
#include "support/particle_motions.hpp"
#include "support/whole_domain.hpp"
#include "support/whole_particles.hpp"

namespace grove {
namespace {

using test::make_particles;
using test::Motion;
using test::Shape;

class OneRoundOnGpus : public testing::GpuRanks {
 protected:
  /// Decomposes on GPUs and on the host, where the particles lay; both trees are the same.
  void decompose_both(const DecompositionParameters& p) {
    report_ = {};
    DeviceParticles on_device(particles_);
    domain_ = decompose(comm_, on_device, *exchange_, p, domain_, report_);
    EXPECT_EQ(check_on_device(comm_, on_device, p, domain_).fault, "");
    particles_ = on_device.download();
    EXPECT_EQ(check_domain(comm_, particles_, p, domain_), "");
    DecompositionReport unused;
    host_domain_ = decompose(comm_, on_host_, p, host_domain_, unused);
    EXPECT_EQ(tree_hash(comm_, particles_, domain_), tree_hash(comm_, on_host_, host_domain_));
    EXPECT_EQ(domain_.owners, host_domain_.owners);
    decompose_with_known_cells(p);
  }
  /// The same on GPUs where ranks get no more cells than they need to know, as in runs.
  void decompose_with_known_cells(DecompositionParameters p) {
    p.all_cells = false;
    DecompositionReport report;
    DeviceParticles on_device(particles_known_);
    known_ = decompose(comm_, on_device, *exchange_, p, known_, report);
    particles_known_ = on_device.download();
    EXPECT_FALSE(known_.is_whole);
    const Domain whole = test::whole_domain(comm_, known_);
    EXPECT_EQ(whole.cells, domain_.cells);
    EXPECT_EQ(whole.owners, domain_.owners);
    EXPECT_EQ(whole.leaf_begin, domain_.leaf_begin);
    EXPECT_EQ(known_.cells, known_cells(domain_, comm_.rank()).pruned) << "that is all it has";
  }
  void go(const std::vector<Motion>& motions, Shape shape, std::uint64_t count, bool weighted,
          const DecompositionParameters& p) {
    particles_ = on_host_ = particles_known_ = make_particles(comm_, shape, count, weighted);
    domain_ = host_domain_ = known_ = {};
    decompose_both(p);
    go_on(motions, p);
  }
  void go_on(const std::vector<Motion>& motions, const DecompositionParameters& p) {
    int round = 0;
    for (const Motion motion : motions) {
      SCOPED_TRACE(++round);
      move(particles_, motion, round);
      move(on_host_, motion, round);
      move(particles_known_, motion, round);
      decompose_both(p);
      EXPECT_FALSE(report_.timers.all().contains("init")) << "the script was not needed";
    }
  }

  Particles particles_, on_host_, particles_known_;
  Domain domain_, host_domain_, known_;
  DecompositionReport report_;
};

TEST_F(OneRoundOnGpus, make_the_trees_of_the_host) {
  for (const bool weighted : {false, true})
    for (const Count domain_cell : {64, 700, 5000})
      go({Motion::none, Motion::small, Motion::small, Motion::swap_axes, Motion::into_a_corner, Motion::none,
          Motion::back},
         Shape::uniform, 20000, weighted,
         {.rule = CutRule::domains, .leaf_size = 64, .domain_cell = domain_cell});
}

/// Velocities are up to 20,000: these go up to 0.6 of the cube. A power of two, so that no rounding changes
/// if a compiler fuses the product with the sum.
TEST_F(OneRoundOnGpus, make_them_of_places_that_particles_will_have) {
  go({Motion::none, Motion::small}, Shape::uniform, 20000, false,
     {.rule = CutRule::domains, .leaf_size = 64, .domain_cell = 700, .lead = 0x1p-15});
}

/// Ranks have several runs where deep rungs are in one place; the host gives them the same ones.
TEST_F(OneRoundOnGpus, share_out_the_steps_of_deep_rungs) {
  constexpr int rung = 6;
  DecompositionParameters p{.rule = CutRule::domains, .leaf_size = 16, .domain_cell = 40};
  go({}, Shape::uniform, 12000, true, p);
  for (Particles* all : {&particles_, &on_host_, &particles_known_})
    for (std::size_t i = 0; i < all->size(); ++i) {
      const IntegerPosition place = domain_.box.coordinates(all->position[i]);
      const auto is_inside = [](Coordinate c) { return c >> 30 == 2; };
      const bool is_deep = is_inside(place.x) && is_inside(place.y) && is_inside(place.z);
      all->rung[i] = is_deep ? rung : static_cast<std::uint8_t>(all->id[i] % 2);
      all->work[i] = is_deep ? 1U << rung : 1U;
    }
  p.epoch = 1;
  for (const std::uint8_t k : particles_.rung) ++p.rungs[k];
  comm_.sum(std::span<Count>(p.rungs));
  go_on({Motion::none, Motion::small}, p);
  if (comm_.size() > 1) {
    EXPECT_GT(domain_.owners.runs().size(), static_cast<std::size_t>(comm_.size()));
  }
}

/// Parts that held domain cells before reach over empty space, into which particles go then.
TEST_F(OneRoundOnGpus, make_them_of_clusters_that_grow) {
  for (const Count domain_cell : {64, 500})
    go({Motion::into_two_clusters, Motion::none, Motion::grow_clusters, Motion::grow_clusters, Motion::small,
        Motion::back},
       Shape::uniform, 20000, domain_cell == 64,
       {.rule = CutRule::domains, .leaf_size = 64, .domain_cell = domain_cell});
}

TEST_F(OneRoundOnGpus, make_them_of_particles_in_one_place) {
  for (const Shape shape : {Shape::cusp, Shape::lattice, Shape::equal})
    go({Motion::none}, shape, 6000, true, {.rule = CutRule::domains, .leaf_size = 64, .domain_cell = 300});
}

/// Particles that have just arrived go on to the owner of a joined cell.
TEST_F(OneRoundOnGpus, join_domain_cells_over_ranks) {
  DecompositionParameters p{.rule = CutRule::domains, .leaf_size = 16, .domain_cell = 200};
  for (int rank = 0; rank < comm_.size(); ++rank) p.speeds.push_back(rank == 0 ? 1 : 2);
  go({Motion::most_into_a_corner}, Shape::uniform, 3000, true, p);
  if (comm_.size() > 1) {
    EXPECT_EQ(report_.collectives, 4) << "particles moved twice";
  }
}

TEST_F(OneRoundOnGpus, keep_all_fields_of_all_particles) {
  go({Motion::swap_axes, Motion::swap_axes}, Shape::uniform, 9000, true,
     {.rule = CutRule::domains, .leaf_size = 64, .domain_cell = 500});
  test::expect_whole_particles_once(comm_, particles_, Shape::uniform, 9000, true);
}

}  // namespace
}  // namespace grove
