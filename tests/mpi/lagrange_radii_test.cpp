#include "gravity/lagrange_radii.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "support/chosen_fields.hpp"

namespace grove {
namespace {

/// Every `ranks`-th particle of two clumps, from number `rank` on; the second one is of type 2 and less deep.
/// Type 4 has no mass.
Particles clumps(std::size_t rank, std::size_t ranks, const Vec3d& shift = {}) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Particles particles;
  for (std::size_t i = 0; i < 3000; ++i) {
    const bool second = i % 3 == 0;
    const Vec3d place{normal(random), normal(random), normal(random)};
    const double mass = 1 + std::abs(normal(random));
    if (i % ranks != rank) continue;
    const std::size_t own = particles.size();
    particles.resize(own + 1);
    particles.id[own] = i;
    particles.type[own] = i % 100 == 0 ? 4 : second ? 2 : 1;
    particles.mass[own] = i % 100 == 0 ? 0 : mass;
    particles.position[own] = shift + place + (second ? Vec3d{20, 0, 0} : Vec3d{});
    const auto depth = static_cast<float>((second ? 1 : 2) / (1 + norm2(place)));
    particles.potential[own] = i % 100 == 0 ? -9 : -depth;
  }
  return particles;
}

double total_mass(const Particles& particles) {
  double sum = 0;
  for (const double mass : particles.mass) sum += mass;
  return sum;
}

/// By sorting. The exact sums of masses are the same up to 3000 roundings of 2^-53, so that a radius could
/// only differ where a sum meets a fraction as closely as that, which these do not.
LagrangeRadii::Radii sorted_radii(const Particles& all, const Vec3d& centre, int type) {
  std::vector<std::pair<double, double>> shells;
  double mass = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (type < 0 || all.type[i] == type) {
      shells.emplace_back(static_cast<float>(norm(all.position[i] - centre)), all.mass[i]);
      mass += all.mass[i];
    }
  std::sort(shells.begin(), shells.end());
  LagrangeRadii::Radii radii{};
  for (std::size_t k = 0; k < radii.size(); ++k) {
    double inside = 0;
    for (const auto& [radius, shell] : shells) {
      inside += shell;
      radii[k] = radius;
      if (inside >= mass * LagrangeRadii::percent[k] / 100) break;
    }
  }
  return radii;
}

TEST(LagrangeRadii, are_those_of_sorted_particles_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const Particles all = clumps(0, 1);
  const double mass = total_mass(all);
  const Particles own = clumps(static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size()));
  const LagrangeRadii found = lagrange_radii(comm, testing::with_only(own, is_read_by_lagrange_radii), mass),
                      serial = lagrange_radii(alone, all, mass);
  EXPECT_EQ(found.centre, serial.centre);
  EXPECT_EQ(found.all, serial.all);
  EXPECT_EQ(found.all, sorted_radii(all, found.centre, -1));
  for (const int type : {1, 2}) {
    EXPECT_EQ(found.by_type[static_cast<std::size_t>(type)], sorted_radii(all, found.centre, type)) << type;
    EXPECT_EQ(found.by_type[static_cast<std::size_t>(type)], serial.by_type[static_cast<std::size_t>(type)]);
  }
  for (const int type : {0, 4})
    EXPECT_TRUE(std::isnan(found.by_type[static_cast<std::size_t>(type)][0])) << "there is no such mass";
}

TEST(LagrangeRadii, are_about_the_deeper_one_of_two_clumps_wherever_it_is) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const Vec3d& shift : {Vec3d{}, Vec3d{-300, 40, 7}}) {
    const Particles own =
        clumps(static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size()), shift);
    const double mass = total_mass(clumps(0, 1));
    const LagrangeRadii found = lagrange_radii(comm, own, mass);
    // A mean of 300 particles within a radius of about 0.9 scatters by 0.9 / sqrt(5 * 300) = 0.023 on each
    // axis; the steps to it leave some of the scatter of the deepest particle. The other clump is 20 away.
    EXPECT_LT(norm(found.centre - shift), 0.25);
    // Half of a normal distribution is within 1.54; a third of the mass is in the other clump, at 20.
    EXPECT_NEAR(found.by_type[1][1], 1.54, 0.1);
    EXPECT_NEAR(found.by_type[2][1], 20, 0.5);
    EXPECT_GT(found.all[2], 19);
  }
}

TEST(LagrangeRadii, of_nothing_are_no_numbers) {
  const Communicator comm(MPI_COMM_WORLD);
  EXPECT_TRUE(std::isnan(lagrange_radii(comm, Particles{}, 0).all[1]));
}

}  // namespace
}  // namespace grove
