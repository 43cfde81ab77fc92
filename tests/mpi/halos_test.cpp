// Halos whose properties are known, and the same halos on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/hash.hpp"
#include "halos/catalogue_file.hpp"
#include "halos/find_halos.hpp"
#include "support/particle_sets.hpp"

namespace grove {
namespace {

constexpr double pi = 3.14159265358979;

/// Adds a particle, on one rank.
void add_to(Particles& particles, const Communicator& comm, ParticleId id, const Vec3d& place,
            const Vec3d& velocity, double mass, int type) {
  if (static_cast<int>(mixed(id) % static_cast<std::uint64_t>(comm.size())) != comm.rank()) return;
  const std::size_t at = particles.size();
  particles.resize(at + 1);
  test::set_particle(particles, at, test::Shape::uniform, id, false);
  particles.id[at] = id;
  particles.position[at] = place;
  particles.velocity[at] = velocity;
  particles.mass[at] = mass;
  particles.type[at] = static_cast<std::uint8_t>(type);
}

/// A star of six rays along the axes, one particle each `step`, and one in the middle: within r there is a
/// mass of 1 + 6 floor(r / step). Along x they are of type 1, along y 2, along z 3, the middle is of type 4.
/// Each moves outwards, and all with `velocity`.
struct Star {
  Vec3d centre, velocity;
  double step;
  int rays;
  ParticleId first;

  Count members() const { return 1 + 6 * Count{rays}; }
  void add(Particles& particles, const Communicator& comm) const {
    ParticleId id = first;
    add_to(particles, comm, id++, centre, velocity, 1, 4);
    for (int k = 1; k <= rays; ++k)
      for (int axis = 0; axis < 3; ++axis)
        for (const double sign : {-1.0, 1.0}) {
          Vec3d offset{0, 0, 0};
          offset[axis] = sign * k * step;
          add_to(particles, comm, id++, centre + offset, velocity + 3.0 * offset, 1, 1 + axis);
        }
  }
};

/// All halos, in the order of the catalogue.
std::vector<Halo> all_halos(const Communicator& comm, const FoundHalos& found) {
  const CatalogueOrder order = CatalogueOrder::of(comm, found.halos);
  std::vector<Halo> all(static_cast<std::size_t>(order.groups));
  const std::vector<Halo> halos = comm.all_gather_arrays(std::span<const Halo>(found.halos));
  const std::vector<Count> rows = comm.all_gather_arrays(std::span<const Count>(order.row));
  for (std::size_t i = 0; i < halos.size(); ++i) all[static_cast<std::size_t>(rows[i])] = halos[i];
  return all;
}

/// In a box of edge 1.
HaloOptions options_of_box() {
  HaloOptions options;
  options.length = 0.003;
  options.gravitational_constant = 2;
  options.images = {1};
  return options;
}

void expect_star(const Halo& halo, const Star& star, const HaloOptions& options) {
  const double rounding = 1e-12;  // positions of edge 1 are rounded by 1e-16, some thousand are summed
  EXPECT_EQ(halo.length, star.members());
  EXPECT_EQ(halo.label, star.first);
  EXPECT_EQ(halo.most_bound, star.first);
  EXPECT_DOUBLE_EQ(halo.mass, static_cast<double>(star.members()));
  for (std::size_t type : {1u, 2u, 3u}) {
    EXPECT_EQ(halo.length_by_type[type], 2 * star.rays);
    EXPECT_DOUBLE_EQ(halo.mass_by_type[type], 2.0 * star.rays);
  }
  EXPECT_EQ(halo.length_by_type[4], 1);
  EXPECT_EQ(halo.length_by_type[0] + halo.length_by_type[5], 0);
  EXPECT_EQ(halo.centre, star.centre);
  for (int axis = 0; axis < 3; ++axis) {
    const double off = halo.centre_of_mass[axis] - star.centre[axis];
    EXPECT_NEAR(off - std::rint(off), 0, rounding);
    EXPECT_GE(halo.centre_of_mass[axis], 0);
    EXPECT_LT(halo.centre_of_mass[axis], 1);
    EXPECT_NEAR(halo.velocity[axis], star.velocity[axis], rounding);
  }
  // The largest circular speed among radii with ten particles or more: the second shell, of 13. The tenth of
  // equal distances in order is in it: 10 of mass 1 at that radius, then 11, 12, 13.
  EXPECT_NEAR(halo.vmax, std::sqrt(options.gravitational_constant * 13 / (2 * star.step)), 1e-9);
  EXPECT_NEAR(halo.rmax, 2 * star.step, rounding);
}

TEST(Halos, of_known_shape_are_measured_as_they_are) {
  const Communicator comm(MPI_COMM_WORLD);
  const Star large{
      {0, 0, 0}, {1, 2, 3}, 0.002, 200, 5000};  // its potential comes from a tree; across all faces
  const Star small{{0.25, 0.75, 0.6}, {-1, 0, 4}, 0.002, 30, 100};
  Particles particles;
  large.add(particles, comm);
  small.add(particles, comm);
  // 20 in a row are a group, 19 are none.
  for (ParticleId i = 0; i < 20; ++i)
    add_to(particles, comm, 20 + i, {0.3 + 0.002 * static_cast<double>(i), 0.2, 0.2}, {0, 0, 0}, 1, 1);
  for (ParticleId i = 0; i < 19; ++i)
    add_to(particles, comm, 50 + i, {0.3 + 0.002 * static_cast<double>(i), 0.8, 0.2}, {0, 0, 0}, 1, 1);
  HaloOptions options = options_of_box();
  // 200 times this within 20.5 steps: then shell 20 is within R200, and shell 21 is not.
  const double r200 = 20.5 * 0.002, m200 = 1 + 6 * 20;
  options.critical_density = m200 / (4 * pi / 3 * std::pow(r200, 3)) / 200;
  const FoundHalos found = find_halos(comm, particles, options);
  const std::vector<Halo> halos = all_halos(comm, found);
  ASSERT_EQ(halos.size(), 3u);
  expect_star(halos[0], large, options);
  expect_star(halos[1], small, options);
  EXPECT_EQ(halos[2].length, 20);
  EXPECT_EQ(halos[2].label, 20u);
  for (const std::size_t star : {0, 1}) {
    EXPECT_NEAR(halos[star].r200, r200, 1e-12);
    EXPECT_DOUBLE_EQ(halos[star].m200, m200);
  }
  EXPECT_EQ(comm.sum(static_cast<Count>(found.members.members())), large.members() + small.members() + 20);
  for (std::size_t group = 0; group < found.members.groups(); ++group)
    for (Count i = found.members.begin[group] + 1; i < found.members.begin[group + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_LE(found.members.type[at - 1], found.members.type[at]) << "members stand by type";
    }
}

TEST(Halos, have_r200_of_all_particles_and_not_of_members_alone) {
  const Communicator comm(MPI_COMM_WORLD);
  const Star star{{0.5, 0.5, 0.5}, {0, 0, 0}, 0.002, 10, 100};
  Particles particles;
  star.add(particles, comm);
  // A shell that no link reaches, with as much mass again, at 0.03.
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {-1.0, 1.0}) {
      Vec3d place = star.centre;
      place[axis] += sign * 0.03;
      add_to(particles, comm, static_cast<ParticleId>(10 + 2 * axis + (sign > 0 ? 1 : 0)), place, {0, 0, 0},
             10, 5);
    }
  HaloOptions options = options_of_box();
  options.critical_density = (61 + 60) / (4 * pi / 3 * std::pow(0.035, 3)) / 200;
  std::vector<Halo> halos = all_halos(comm, find_halos(comm, particles, options));
  ASSERT_EQ(halos.size(), 1u);
  EXPECT_EQ(halos[0].length, 61);
  // The first sphere of that density may end before the shell.
  const double inner = 0.035 * std::cbrt(61.0 / 121.0);
  EXPECT_NEAR(halos[0].r200, inner, 1e-12);
  EXPECT_DOUBLE_EQ(halos[0].m200, 61);
  EXPECT_LT(inner, 0.03);
  options.critical_density *= 0.5;  // then it does not
  halos = all_halos(comm, find_halos(comm, particles, options));
  EXPECT_NEAR(halos[0].r200, 0.035 * std::cbrt(2.0), 1e-12);
  EXPECT_DOUBLE_EQ(halos[0].m200, 121);
}

/// Clumps with a steep density of some hundred to some thousand members.
Particles clumps(const Communicator& comm) {
  Particles particles;
  for (ParticleId i = 0; i < 12000; ++i) {
    const Vec3d u = test::place(test::Shape::uniform, i);
    Vec3d p = u;
    if (i % 6 != 0) {
      const ParticleId clump = mixed(i) % 64;  // half of them in one
      p = test::place(test::Shape::uniform, 1000000 + (clump < 32 ? 0 : clump)) +
          0.1 * std::pow(test::uniform(7777 + i), 3) * (u - Vec3d{0.5, 0.5, 0.5});
    }
    for (int axis = 0; axis < 3; ++axis) p[axis] -= std::floor(p[axis]);
    add_to(particles, comm, i, p, u, 0.5 + u.x, static_cast<int>(i % 6));
  }
  return particles;
}

TEST(Halos, are_the_same_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  Particles shared = clumps(comm), whole = clumps(alone);
  for (const double period : {0.0, 1.0}) {
    HaloOptions options;
    options.length = 0.0087;
    options.images = {period};
    options.critical_density = 12000 * 0.3;
    const std::vector<Halo> halos = all_halos(comm, find_halos(comm, shared, options)),
                            on_one = all_halos(alone, find_halos(alone, whole, options));
    ASSERT_EQ(halos.size(), on_one.size());
    ASSERT_GT(halos.size(), 20u);
    EXPECT_GE(halos[0].length, 1000) << "one potential comes from a tree";
    EXPECT_EQ(std::memcmp(halos.data(), on_one.data(), halos.size() * sizeof(Halo)), 0);
    for (const Halo& halo : halos) EXPECT_GT(halo.m200, 0);
  }
}

}  // namespace
}  // namespace grove
