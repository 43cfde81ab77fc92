// Every property of a decomposition, on particle sets that each rank can make in full: every rank starts with
// some of them, and what comes out is checked against a count from scratch and against the tree that one rank
// alone cuts.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "decomposition/check.hpp"
#include "decomposition/decompose.hpp"

namespace grove {
namespace {

double uniform(std::uint64_t seed) { return static_cast<double>(mixed(seed) >> 11) * 0x1p-53; }

enum class Shape { uniform, cusp, equal, plane, one_coordinate_twice_each, lattice };

Vec3d place(Shape shape, std::uint64_t i) {
  const Vec3d u{uniform(3 * i), uniform(3 * i + 1), uniform(3 * i + 2)};
  switch (shape) {
    case Shape::uniform:
      return u;
    case Shape::cusp: {
      const double r = std::pow(uniform(7777 + i), 6.0);
      return {r * (2 * u.x - 1), r * (2 * u.y - 1), r * (2 * u.z - 1)};
    }
    case Shape::equal:
      return {0.25, -3.0, 7.5};
    case Shape::plane:
      return {u.x, 0.125, u.z};
    case Shape::one_coordinate_twice_each:
      return place(Shape::uniform, i / 2);
    case Shape::lattice:
      return {std::floor(u.x * 4), std::floor(u.y * 4), std::floor(u.z * 4)};
  }
  return u;
}

/// Particle i of the set. Ids are unique and in no order.
void set_particle(Particles& particles, std::size_t at, Shape shape, std::uint64_t i, bool weighted) {
  const double x = static_cast<double>(i);
  particles.position[at] = place(shape, i);
  particles.velocity[at] = {x, x + 0.25, x + 0.5};
  particles.mass[at] = 1 + x;
  particles.id[at] = mixed(i);
  particles.type[at] = static_cast<std::uint8_t>(i % 6);
  particles.acceleration[at] = {static_cast<float>(i), 1, 2};
  particles.potential[at] = static_cast<float>(i) + 1;
  particles.old_acceleration[at] = static_cast<float>(i) + 2;
  particles.work[at] = weighted ? static_cast<std::uint32_t>(1 + mixed(i) % 1000) : 0;
}

/// This rank's part; ranks below `first_rank` start empty.
Particles make_particles(const Communicator& comm, Shape shape, std::uint64_t count, bool weighted = false,
                         int first_rank = 0) {
  Particles particles;
  std::size_t size = 0;
  const auto ranks = static_cast<std::uint64_t>(comm.size() - first_rank);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (first_rank + static_cast<int>(mixed(i + 99) % ranks) != comm.rank()) continue;
    particles.resize(++size);
    set_particle(particles, size - 1, shape, i, weighted);
  }
  return particles;
}

Communicator world() { return Communicator(MPI_COMM_WORLD); }
Communicator alone() { return Communicator(MPI_COMM_SELF); }

std::uint64_t decomposed_hash(const Communicator& comm, Particles particles,
                              const DecompositionParameters& p) {
  DecompositionReport report;
  const Domain domain = decompose(comm, particles, p, std::nullopt, report);
  EXPECT_EQ(check_domain(comm, particles, p, domain), "");
  return tree_hash(comm, particles, domain);
}

std::string name_of(const DecompositionParameters& p) {
  return "rule " + std::to_string(static_cast<int>(p.rule)) + " method " +
         std::to_string(static_cast<int>(p.method)) + " schedule " +
         std::to_string(static_cast<int>(p.schedule)) + " transport " +
         std::to_string(static_cast<int>(p.transport));
}

/// All ways to cut give the tree that one rank cuts by the reference schedule, and it is right.
void expect_one_tree(Shape shape, std::uint64_t count, bool weighted, DecompositionParameters p) {
  const Communicator comm = world();
  p.schedule = Schedule::master;
  p.method = CutMethod::bisection;
  const std::uint64_t reference =
      decomposed_hash(alone(), make_particles(alone(), shape, count, weighted), p);
  for (const Schedule schedule : {Schedule::straddling, Schedule::master})
    for (const CutMethod method : {CutMethod::bisection, CutMethod::histogram})
      for (const Transport transport : {Transport::messages, Transport::collectives}) {
        p.schedule = schedule, p.method = method, p.transport = transport;
        EXPECT_EQ(decomposed_hash(comm, make_particles(comm, shape, count, weighted), p), reference)
            << name_of(p);
      }
}

DecompositionParameters middle(Count leaf_size) {
  DecompositionParameters p;
  p.leaf_size = leaf_size;
  return p;
}

DecompositionParameters halves(Count leaves) {
  DecompositionParameters p;
  p.rule = CutRule::halves;
  p.leaves = leaves;
  return p;
}

TEST(Decomposition, is_the_same_tree_however_it_is_cut) {
  for (const bool weighted : {false, true})
    for (const Shape shape : {Shape::uniform, Shape::cusp}) {
      expect_one_tree(shape, 20000, weighted, middle(256));
      expect_one_tree(shape, 20000, weighted, halves(61));
    }
}

TEST(Decomposition, is_exact_for_equal_coordinates) {
  for (const Shape shape : {Shape::equal, Shape::plane, Shape::one_coordinate_twice_each, Shape::lattice})
    for (const bool weighted : {false, true}) {
      expect_one_tree(shape, 10000, weighted, middle(300));
      expect_one_tree(shape, 10000, weighted, halves(33));
    }
}

}  // namespace
}  // namespace grove
