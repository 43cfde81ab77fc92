#include "structure/cosmological_volume.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/units.hpp"
#include "cosmology/growth.hpp"

namespace grove {
namespace {

/// That of the published sphere, kpc, 1e10 Msun, km/s.
CosmologicalVolume volume_of(int sites) {
  CosmologicalVolume v;
  v.cosmology = {.omega_matter = 0.3, .omega_lambda = 0.7, .hubble = 0.07};
  v.gravitational_constant = Units::galactic().gravitational_constant;
  v.sites = sites;
  v.box = 130.6e3;
  return v;
}

/// A lattice of m sites along an edge, as a glass.
std::vector<Vec3d> lattice_as_glass(int m) {
  std::vector<Vec3d> glass;
  const auto at = [m](int i) { return (i + 0.5) / m; };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < m; ++k) glass.push_back({at(i), at(j), at(k)});
  return glass;
}

/// Random places, sorted along x.
std::vector<Vec3d> random_glass(std::size_t count) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform;
  std::vector<Vec3d> glass(count);
  for (Vec3d& g : glass) g = {uniform(random), uniform(random), uniform(random)};
  std::sort(glass.begin(), glass.end(), [](const Vec3d& a, const Vec3d& b) { return a.x < b.x; });
  return glass;
}

TEST(CosmologicalVolume, of_the_published_sphere_has_so_many_particles) {
  CosmologicalVolume v = volume_of(256);
  EXPECT_EQ(count_of(v), 1 << 24);
  v.radius = 45e3;
  EXPECT_EQ(count_of(v), 2874528) << "counted site by site apart from Grove";
  // 0.3 x 2.775e11 h^2 Msun / Mpc^3 x (130.6 / 256)^3 Mpc^3, the critical density to its digits.
  EXPECT_NEAR(particle_mass(v), 0.3 * 27.75e0 * 0.49 * std::pow(130.6 / 256, 3), 1e-3 * particle_mass(v));
  EXPECT_NO_THROW(check(v));
}

TEST(CosmologicalVolume, has_the_same_particles_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone = comm.split(comm.rank());
  for (int kind = 0; kind < 4; ++kind) {
    CosmologicalVolume v = volume_of(10);
    if (kind % 2 == 1) v.radius = 50e3;
    if (kind >= 2) v.glass = random_glass(125);
    const Particles all = make_particles(alone, v), mine = make_particles(comm, v);
    EXPECT_EQ(static_cast<Count>(all.size()), count_of(v));
    const auto before = static_cast<std::size_t>(comm.exclusive_scan(static_cast<Count>(mine.size())));
    EXPECT_EQ(comm.sum(static_cast<Count>(mine.size())), count_of(v));
    EXPECT_LE(comm.max(static_cast<Count>(mine.size())) - comm.min(static_cast<Count>(mine.size())), 1);
    for_each_field([&](const auto& field) {
      if (!mine.holds(field.info)) return;
      const auto &part = mine.*field.array, &whole = all.*field.array;
      ASSERT_EQ(part.size(), mine.size());
      if (part.empty()) return;
      EXPECT_EQ(std::memcmp(part.data(), whole.data() + before, part.size() * sizeof(part[0])), 0)
          << field.info.name;
    });
    const DisplacementSummary one = displacements_of(alone, v, all), many = displacements_of(comm, v, mine);
    EXPECT_EQ(one.rms, many.rms);
    EXPECT_EQ(one.largest, many.largest);
  }
}

TEST(CosmologicalVolume, a_sphere_is_the_middle_of_its_box) {
  const Communicator comm(MPI_COMM_WORLD), alone = comm.split(comm.rank());
  CosmologicalVolume v = volume_of(12);
  const Particles box = make_particles(alone, v);
  v.radius = 60e3;
  const Particles sphere = make_particles(alone, v);
  for (std::size_t i = 0; i < sphere.size(); ++i) {
    const auto in_box = static_cast<std::size_t>(sphere.id[i] - 1);
    ASSERT_EQ(box.id[in_box], sphere.id[i]);
    EXPECT_EQ(sphere.velocity[i], box.velocity[in_box]);
    // Coordinates round by 1e-11 kpc.
    const Vec3d middle{v.box / 2, v.box / 2, v.box / 2};
    EXPECT_LT(norm(sphere.position[i] + middle - box.position[in_box]), 1e-10);
  }
}

// What is read between the points of a mesh has images of its waves: of a wave of n of the mesh's N points
// (n / (N - n))^3 of its size on each axis, 1/27 of the shortest, which are a small part.
TEST(CosmologicalVolume, a_glass_moves_with_the_waves_of_the_lattice) {
  const Communicator comm(MPI_COMM_WORLD);
  CosmologicalVolume v = volume_of(12);
  const Communicator alone = comm.split(comm.rank());
  const Particles lattice = make_particles(alone, v);
  v.glass = lattice_as_glass(12);
  const Particles glass = make_particles(alone, v);
  const double rms = displacements_of(alone, v, glass).rms;
  double shifts = 0, momenta = 0, all = 0;
  ASSERT_EQ(glass.size(), lattice.size());
  for (std::size_t i = 0; i < lattice.size(); ++i) {
    Vec3d apart = glass.position[i] - lattice.position[i];
    for (int axis = 0; axis < 3; ++axis) apart[axis] -= v.box * std::round(apart[axis] / v.box);
    shifts += norm2(apart);
    momenta += norm2(glass.velocity[i] - lattice.velocity[i]);
    all += norm2(lattice.velocity[i]);
  }
  EXPECT_LT(std::sqrt(shifts / static_cast<double>(lattice.size())) / rms, 0.02);
  EXPECT_LT(std::sqrt(momenta / all), 0.02);
}

TEST(CosmologicalVolume, of_a_glass_has_as_many_particles_as_sites) {
  CosmologicalVolume v = volume_of(8);
  v.glass = random_glass(64);
  EXPECT_EQ(count_of(v), 512);
  v.sites = 10;
  EXPECT_THROW(check(v), InputError) << "10 is no multiple of 4";
  v.glass.pop_back();
  EXPECT_THROW(check(v), InputError) << "63 is no cube";
}

TEST(CosmologicalVolume, moves_along_the_growing_mode) {
  const Communicator comm(MPI_COMM_WORLD);
  CosmologicalVolume v = volume_of(8);
  v.second_order = false;
  // Zel'dovich's displacements go with D1, so that dx/dt is that of redshifts a little apart.
  const Expansion expansion(v.cosmology);
  const double a = 0.02, step = 1e-4 * a;
  const auto at = [&](double scale_factor) {
    v.redshift = redshift_of(scale_factor);
    return make_particles(comm, v);
  };
  const Particles before = at(a - step), now = at(a), after = at(a + step);
  for (const bool second : {false, true}) {
    v.second_order = second;
    const Particles lower = second ? at(a - step) : before, here = second ? at(a) : now,
                    upper = second ? at(a + step) : after;
    for (std::size_t i = 0; i < here.size(); ++i)
      for (int axis = 0; axis < 3; ++axis) {
        const double rate = (upper.position[i][axis] - lower.position[i][axis]) / (2 * step);
        // Differences: roundings of 1e-11 kpc over 4e-6, 1e-5 kpc, and (1e-4)^2 of themselves.
        const double expected = here.velocity[i][axis] / (a * a * a * expansion.hubble(a));
        EXPECT_NEAR(rate, expected, 2e-5 + 1e-8 * std::abs(expected));
      }
  }
}

TEST(CosmologicalVolume, says_what_is_wrong) {
  const auto expect_message = [](const std::string& part, auto&& change) {
    CosmologicalVolume v = volume_of(8);
    change(v);
    try {
      check(v);
      ADD_FAILURE() << "no error: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  using V = CosmologicalVolume;
  expect_message("sites = 1", [](V& v) { v.sites = 1; });
  expect_message("box_size = 0", [](V& v) { v.box = 0; });
  expect_message("radius = 70000", [](V& v) { v.radius = 70e3; });
  expect_message("radius = 1000 holds no site", [](V& v) { v.radius = 1e3; });
  expect_message("redshift = -1", [](V& v) { v.redshift = -1; });
  expect_message("omega_baryon = 0.4", [](V& v) { v.spectrum.omega_baryon = 0.4; });
  expect_message("the table of the linear spectrum goes from", [](V& v) {
    v.spectrum.kind = SpectrumKind::table;
    v.spectrum.sigma8 = 0;
    v.spectrum.table = {{0.1, 0.2, 0.3, 0.4}, {1, 1, 1, 1}};
  });
  const Communicator comm(MPI_COMM_WORLD);
  EXPECT_THROW(make_particles(comm, volume_of(0)), Agreed<InputError>);
}

}  // namespace
}  // namespace grove
