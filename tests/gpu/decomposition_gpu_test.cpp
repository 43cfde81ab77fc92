// Decompositions of particles on GPUs against those on the host: the same tree to the bit, and every particle
// with all its fields where it belongs. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "decomposition/check.hpp"
#include "decomposition/gpu/axis_counter.hpp"
#include "decomposition/gpu/device_check.hpp"
#include "decomposition/gpu/device_rank.hpp"
#include "decomposition/gpu/devices.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

using test::make_particles;
using test::Shape;

class GpuDecomposition : public testing::Test {
 protected:
  void SetUp() override {
    if (!every_rank_has_a_gpu(comm_)) GTEST_SKIP() << "no GPU on this machine";
    devices_ = take_devices(comm_, true);
    exchange_ = std::make_unique<DeviceExchange>(comm_, devices_.shared, std::nullopt);
  }

  /// Checks against a count from scratch on the GPU and on the host; returns the hash.
  std::uint64_t checked_hash(const Particles& particles, const DecompositionParameters& p) {
    DeviceParticles on_device(particles);
    DecompositionReport report;
    const Domain domain = decompose(comm_, on_device, *exchange_, p, std::nullopt, report);
    const DeviceCheck check = check_on_device(comm_, on_device, p, domain);
    EXPECT_EQ(check.fault, "");
    const Particles back = on_device.download();
    EXPECT_EQ(check_domain(comm_, back, p, domain), "");
    EXPECT_EQ(tree_hash(comm_, back, domain), check.tree_hash);
    return check.tree_hash;
  }

  std::uint64_t host_hash(Particles particles, const DecompositionParameters& p) {
    DecompositionReport report;
    const Domain domain = decompose(comm_, particles, p, std::nullopt, report);
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

  Communicator comm_{MPI_COMM_WORLD};
  RankDevices devices_;
  std::unique_ptr<DeviceExchange> exchange_;
};

constexpr Shape shapes[] = {Shape::uniform, Shape::cusp,  Shape::equal,
                            Shape::plane,   Shape::pairs, Shape::lattice};

TEST_F(GpuDecomposition, gives_the_trees_of_the_host_under_middle) {
  DecompositionParameters p;
  p.leaf_size = 64;
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
      const Domain domain = decompose(comm_, rank, p, std::nullopt, report);
      EXPECT_EQ(check_domain(comm_, own, p, domain), "");
      EXPECT_EQ(tree_hash(comm_, own, domain), expected);
    }
  }
}

/// All fields of all particles after a decomposition, by id.
Particles moved(const Communicator& comm, const DeviceExchange& exchange, std::uint64_t count) {
  DeviceParticles particles(make_particles(comm, Shape::uniform, count, true, comm.size() > 1 ? 1 : 0));
  DecompositionParameters p;
  p.leaf_size = 64;
  DecompositionReport report;
  decompose(comm, particles, exchange, p, std::nullopt, report);
  return particles.download();
}

TEST_F(GpuDecomposition, every_path_brings_whole_particles) {
  constexpr std::uint64_t count = 20000;
  Particles wanted;
  wanted.resize(1);
  std::vector<std::uint64_t> number(1000003);  // of the particle with an id
  for (std::uint64_t i = 0; i < count; ++i) {
    test::set_particle(wanted, 0, Shape::uniform, i, true);
    number[wanted.id[0]] = i;
  }
  for (const PayloadPath path : {PayloadPath::nccl, PayloadPath::mpi, PayloadPath::staged}) {
    std::unique_ptr<DeviceExchange> exchange;
    try {
      exchange = std::make_unique<DeviceExchange>(comm_, devices_.shared, path);
    } catch (const InputError& error) {
      EXPECT_NE(path, PayloadPath::staged) << "which works everywhere";
      if (comm_.is_master()) std::printf("not tried here: %s\n", error.what());
      continue;
    }
    EXPECT_EQ(exchange->path(), path);
    const Particles particles = moved(comm_, *exchange, count);
    EXPECT_EQ(comm_.sum(static_cast<Count>(particles.size())), static_cast<Count>(count));
    for (std::size_t i = 0; i < particles.size(); ++i) {
      test::set_particle(wanted, 0, Shape::uniform, number.at(particles.id[i]), true);
      for_each_field([&](const auto& field) {
        if (field.info.migrate) {
          ASSERT_EQ((particles.*field.array)[i], (wanted.*field.array)[0]) << field.info.name;
        }
      });
    }
  }
}

TEST_F(GpuDecomposition, names_a_particle_without_a_place) {
  Particles particles = make_particles(comm_, Shape::uniform, 1000);
  if (!particles.empty()) particles.position[particles.size() / 2].y = std::nan("");
  DeviceParticles on_device(particles);
  DecompositionReport report;
  try {
    decompose(comm_, on_device, *exchange_, {}, std::nullopt, report);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("has a position that is not a finite number"),
              std::string::npos);
  }
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
