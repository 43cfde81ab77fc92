// Decompositions of particles on GPUs against those on the host: the same tree to the bit, and every particle
// with all its fields where it belongs. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "decomposition/check.hpp"
#include "decomposition/gpu/axis_counter.hpp"
#include "decomposition/gpu/device_check.hpp"
#include "decomposition/gpu/device_rank.hpp"
#include "support/gpu_ranks.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

using test::make_particles;
using test::Shape;

class GpuDecomposition : public testing::GpuRanks {
 protected:
  /// Checks against a count from scratch on the GPU and on the host; returns the hash.
  std::uint64_t checked_hash(const Particles& particles, const DecompositionParameters& p) {
    DeviceParticles on_device(particles);
    DecompositionReport report;
    const Domain domain = decompose(comm_, on_device, *exchange_, p, {}, report);
    const DeviceCheck check = check_on_device(comm_, on_device, p, domain);
    EXPECT_EQ(check.fault, "");
    const Particles back = on_device.download();
    EXPECT_EQ(check_domain(comm_, back, p, domain), "");
    EXPECT_EQ(tree_hash(comm_, back, domain), check.tree_hash);
    return check.tree_hash;
  }

  std::uint64_t host_hash(Particles particles, const DecompositionParameters& p) {
    DecompositionReport report;
    const Domain domain = decompose(comm_, particles, p, {}, report);
    return tree_hash(comm_, particles, domain);
  }

  /// Under every method and schedule.
  void expect_same_trees(Shape shape, std::uint64_t count, bool weighted, DecompositionParameters p) {
    const Particles particles = make_particles(comm_, shape, count, weighted);
    const std::uint64_t expected = host_hash(particles, p);
    for (const CutMethod method : {CutMethod::histogram, CutMethod::bisection})
      for (const Schedule schedule : {Schedule::straddling, Schedule::master}) {
        p.method = method;
        p.schedule = schedule;
        SCOPED_TRACE("shape " + std::to_string(static_cast<int>(shape)) + ", " + std::to_string(count) +
                     (weighted ? ", weighted" : "") + (method == CutMethod::bisection ? ", bisection" : "") +
                     (schedule == Schedule::master ? ", master" : ""));
        EXPECT_EQ(checked_hash(particles, p), expected);
      }
  }
};

constexpr Shape shapes[] = {Shape::uniform, Shape::cusp,  Shape::equal,
                            Shape::plane,   Shape::pairs, Shape::lattice};

TEST_F(GpuDecomposition, gives_the_trees_of_the_host_under_middle) {
  DecompositionParameters p;
  p.leaf_size = 64;
  for (const Shape shape : shapes)
    for (const bool weighted : {false, true}) expect_same_trees(shape, 5000, weighted, p);
}

TEST_F(GpuDecomposition, gives_the_trees_of_the_host_under_centre) {
  DecompositionParameters p;
  p.rule = CutRule::centre;
  p.leaf_size = 64;
  for (const Shape shape : shapes)
    for (const bool weighted : {false, true}) expect_same_trees(shape, 5000, weighted, p);
}

TEST_F(GpuDecomposition, gives_the_trees_of_the_host_under_domains) {
  const DecompositionParameters p{.rule = CutRule::domains, .leaf_size = 64, .domain_cell = 400};
  for (const Shape shape : shapes)
    for (const bool weighted : {false, true}) expect_same_trees(shape, 5000, weighted, p);
}

TEST_F(GpuDecomposition, gives_the_trees_of_the_host_under_halves) {
  DecompositionParameters p;
  p.rule = CutRule::halves;
  p.leaves = 45;
  for (const Shape shape : shapes)
    for (const bool weighted : {false, true}) expect_same_trees(shape, 5000, weighted, p);
}

TEST_F(GpuDecomposition, gives_the_trees_of_the_host_for_few_particles) {
  for (const std::uint64_t count : {1u, 2u, 3u, 10u})
    for (const Count leaf : {1, 2, 64}) {
      DecompositionParameters p;
      p.leaf_size = leaf;
      expect_same_trees(Shape::uniform, count, false, p);
    }
}

/// Delegates cells of so many particles or fewer.
class DelegatingRank : public DeviceRank {
 public:
  template <class... Arguments>
  DelegatingRank(Count most, Arguments&&... arguments) : DeviceRank(arguments...), most_(most) {}
  Count most_delegated(const CutScheme& scheme, Count mean) const override {
    return std::min(most_, DeviceRank::most_delegated(scheme, mean));
  }

 private:
  Count most_;
};

/// From none to the root, also to and from ranks that have no particles.
TEST_F(GpuDecomposition, delegated_cells_of_any_size_gives_the_trees_of_the_host) {
  for (const CutRule rule : {CutRule::middle, CutRule::halves, CutRule::centre}) {
    DecompositionParameters p;
    p.rule = rule;
    (rule == CutRule::halves ? p.leaves : p.leaf_size) = rule == CutRule::halves ? 400 : 10;
    for (const Shape shape : {Shape::cusp, Shape::equal, Shape::lattice})
      for (const bool weighted : {false, true})
        for (const int first_rank : {0, comm_.size() - 1}) {
          const Particles particles = make_particles(comm_, shape, 4000, weighted, first_rank);
          const std::uint64_t expected = host_hash(particles, p);
          for (const Count most : {0, 40, 900, 4000}) {
            SCOPED_TRACE("shape " + std::to_string(static_cast<int>(shape)) + (weighted ? ", weighted" : "") +
                         ", at most " + std::to_string(most));
            DeviceParticles on_device(particles);
            DecompositionReport report;
            const Domain none;
            DelegatingRank delegating(most, on_device, *exchange_, p, none, report, false);
            const Domain domain = decompose(comm_, delegating, p, none, report);
            const DeviceCheck check = check_on_device(comm_, on_device, p, domain);
            EXPECT_EQ(check.fault, "");
            EXPECT_EQ(check.tree_hash, expected);
          }
        }
  }
}

TEST_F(GpuDecomposition, counting_copied_axes_gives_the_same_tree) {
  DecompositionParameters p;
  p.rule = CutRule::halves;
  p.leaves = 45;
  for (const bool weighted : {false, true}) {
    const Particles particles = make_particles(comm_, Shape::lattice, 5000, weighted);
    const std::uint64_t expected = host_hash(particles, p);
    p.method = CutMethod::bisection;
    p.schedule = Schedule::master;
    for (const bool one_launch_per_cell : {false, true}) {
      Particles own = particles;
      DecompositionReport report;
      AxisCounterRank rank(own, report, one_launch_per_cell);
      const Domain domain = decompose(comm_, rank, p, {}, report);
      EXPECT_EQ(check_domain(comm_, own, p, domain), "");
      EXPECT_EQ(tree_hash(comm_, own, domain), expected);
    }
  }
}

/// Ids at a tie may be greater than any that the rank had before.
TEST_F(GpuDecomposition, cuts_particles_that_have_come_to_ranks_without_any) {
  DecompositionParameters p;
  for (const CutRule rule : {CutRule::middle, CutRule::halves}) {
    p.rule = rule;
    (rule == CutRule::halves ? p.leaves : p.leaf_size) = 45;
    for (const Shape shape : {Shape::equal, Shape::lattice})
      for (const bool weighted : {false, true})
        for (const int first_rank : {0, comm_.size() - 1}) {
          const Particles particles = make_particles(comm_, shape, 5000, weighted, first_rank);
          EXPECT_EQ(checked_hash(particles, p), host_hash(particles, p));
        }
  }
}

TEST_F(GpuDecomposition, gives_idle_particles_among_others_the_least_weight) {
  Particles particles = make_particles(comm_, Shape::cusp, 5000, true);
  for (std::size_t i = 0; i < particles.size(); i += 3) particles.work[i] = 0;
  DecompositionParameters p;
  p.rule = CutRule::halves;
  p.leaves = 45;
  EXPECT_EQ(checked_hash(particles, p), host_hash(particles, p));
}

TEST_F(GpuDecomposition, keeps_the_cube_while_all_particles_fit_and_decomposes_again) {
  DecompositionParameters p;
  p.leaf_size = 64;
  Particles on_host = make_particles(comm_, Shape::uniform, 5000);
  for (const double factor : {1.0, 0.25, 8.0}) {  // fits, fits, does not
    SCOPED_TRACE(factor);
    DecompositionReport report;
    const Domain previous = decompose(comm_, on_host, p, {}, report);
    for (Vec3d& x : on_host.position) x = factor * x;
    DeviceParticles on_device(on_host);
    const Domain first = decompose(comm_, on_device, *exchange_, p, previous, report);
    EXPECT_EQ(first.box == previous.box, factor <= 1);
    const Domain again = decompose(comm_, on_device, *exchange_, p, first, report);
    const Domain wanted = decompose(comm_, on_host, p, previous, report);
    const std::uint64_t hash = tree_hash(comm_, on_host, wanted);
    EXPECT_EQ(check_on_device(comm_, on_device, p, again).fault, "");
    EXPECT_EQ(tree_hash(comm_, on_device.download(), again), hash);
    for (Vec3d& x : on_host.position) x = 1 / factor * x;
  }
}

TEST_F(GpuDecomposition, the_check_notices_what_is_wrong) {
  DecompositionParameters p;
  p.leaf_size = 50;
  DeviceParticles particles(make_particles(comm_, Shape::uniform, 2000));
  DecompositionReport report;
  const Domain domain = decompose(comm_, particles, *exchange_, p, {}, report);
  const auto fault = [&](auto&& spoil) {
    Domain spoiled = domain;
    spoil(spoiled);
    return check_on_device(comm_, particles, p, spoiled).fault;
  };
  EXPECT_EQ(fault([](Domain&) {}), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[0].cut.coordinate += 1u << 28; }), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[3].count += 1; }), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[2].high.z += 1; }), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[0].cut.id += 1; }), "");
  EXPECT_NE(fault([](Domain& d) { d.cells[0].weight += 1; }), "");
  EXPECT_NE(fault([](Domain& d) { d.leaf_begin.back() += 1; }), "");

  // Two particles of different leaves of the last rank change places.
  if (comm_.rank() == comm_.size() - 1) {
    const std::size_t last = particles.size() - 1;
    std::vector<Vec3d> position(particles.size());
    Vec3d* const on_device = particles.values(fields::position);
    cuda::device_download(position.data(), on_device, position.size() * sizeof(Vec3d));
    std::swap(position[0], position[last]);
    cuda::device_upload(on_device, position.data(), position.size() * sizeof(Vec3d));
  }
  EXPECT_NE(fault([](Domain&) {}), "");
}

TEST_F(GpuDecomposition, names_a_particle_without_a_place) {
  Particles particles = make_particles(comm_, Shape::uniform, 1000);
  if (comm_.rank() == comm_.size() - 1) {
    particles.position[3].y = std::nan("");
    particles.id[3] = 424242;
  }
  DeviceParticles on_device(particles);
  DecompositionReport report;
  try {
    decompose(comm_, on_device, *exchange_, {}, {}, report);
    FAIL() << "no error";
  } catch (const Agreed<InputError>& error) {
    EXPECT_NE(std::string(error.what()).find("424242"), std::string::npos);
  }
}

/// Also at cuts that a rank makes alone, by counts or by weights.
TEST_F(GpuDecomposition, refuses_duplicate_ids_on_all_ranks) {
  for (const CutRule rule : {CutRule::middle, CutRule::halves})
    for (const bool weighted : {false, true}) {
      Particles particles = make_particles(comm_, Shape::uniform, 2000, weighted);
      // Those of the last rank at one place: the others have nothing to refuse.
      if (comm_.rank() == comm_.size() - 1)
        for (std::size_t i = 0; i < particles.size(); ++i)
          particles.position[i] = {2, 2, 2}, particles.id[i] = 5;
      DeviceParticles on_device(particles);
      DecompositionParameters p;
      p.rule = rule;
      (rule == CutRule::halves ? p.leaves : p.leaf_size) = 50;
      DecompositionReport report;
      EXPECT_THROW(decompose(comm_, on_device, *exchange_, p, {}, report), Agreed<InputError>);
    }
}

TEST_F(GpuDecomposition, keeps_each_rank_on_the_gpu_that_it_took) {
  const RankDevices own = take_devices(Communicator(MPI_COMM_SELF), true);
  EXPECT_EQ(own.of_rank.front().pci, devices_.of_rank[static_cast<std::size_t>(comm_.rank())].pci);
}

TEST_F(GpuDecomposition, refuses_two_ranks_on_one_gpu) {
  if (!devices_.shared) {
    EXPECT_NO_THROW(take_devices(comm_, false));
    return;
  }
  EXPECT_THROW(take_devices(comm_, false), InputError);
}

}  // namespace
}  // namespace grove
