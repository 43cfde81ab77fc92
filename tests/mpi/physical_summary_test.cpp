// Tests the summary that a run prints before its first step.
#include "run/start/physical_summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gravity/totals.hpp"
#include "run/log/conservation.hpp"
#include "run/start/initial_conditions.hpp"
#include "support/chosen_fields.hpp"

namespace grove {
namespace {

/// As if all particles were in one leaf: enough for a centre of mass.
Totals totals_of(const Particles& particles) {
  Totals totals;
  for (std::size_t i = 0; i < particles.size(); ++i)
    totals =
        totals + Totals::of_particle(particles.mass[i], particles.position[i], particles.velocity[i], 0, 0);
  return totals;
}

// The sphere ends with 99.9 % of its mass. Half of 20,000 particles are within 1.3048 scale lengths, but for
// 70 (one sigma), which at the density there, of 0.27 per scale length, are 1.3 %; four of these.
TEST(PhysicalSummary, of_a_plummer_sphere_is_known_and_the_same_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  ModelParameters model;
  model.particles = 20000;
  const Particles all = make_initial_conditions(alone, model), own = make_initial_conditions(comm, model);
  const Totals totals = totals_of(all);
  RungCounts rungs{};
  rungs[0] = 5000, rungs[3] = 15000;
  const PhysicalSummary one = physical_summary(alone, all, totals, rungs, 0.5, 1),
                        many = physical_summary(comm, own, totals, rungs, 0.5, 1);
  EXPECT_NEAR(one.half_mass_radius, 1.3048, 4 * 0.013);
  EXPECT_NEAR(one.crossing_time(), std::sqrt(2 * std::pow(one.half_mass_radius, 3) / 0.999), 1e-12);
  EXPECT_EQ(one.counts[1], 20000);
  EXPECT_NEAR(one.mass[1], 0.999, 1e-9);
  EXPECT_EQ(many.text(DisplayUnits(Units::dimensionless())), one.text(DisplayUnits(Units::dimensionless())));
  EXPECT_EQ(many.half_mass_radius, one.half_mass_radius);
  EXPECT_EQ(many.mass, one.mass);
  EXPECT_NE(
      one.text(DisplayUnits(Units::galactic())).find("first steps: 0.489 Gyr 25.0 %, 0.0611 Gyr 75.0 %"),
      std::string::npos)
      << one.text(DisplayUnits(Units::galactic()));
}

/// It has no middle: what tells its scale is the distance of particles. 20,000 in a cube of edge 20: 20 /
/// 27.144 = 0.7368.
TEST(PhysicalSummary, of_a_box_tells_the_spacing_of_particles) {
  const Communicator comm(MPI_COMM_WORLD);
  ModelParameters model;
  model.particles = 20000;
  const Particles own = make_initial_conditions(comm, model);
  RungCounts rungs{};
  rungs[0] = 20000;
  PhysicalSummary summary = physical_summary(comm, own, Totals{}, rungs, 0.5, 1, 20);
  EXPECT_NEAR(summary.spacing(), 0.7368, 5e-5);
  const DisplayUnits none = DisplayUnits::none();
  EXPECT_NE(summary.text(none).find("\nbox: 20, mean spacing of particles: 0.7368\n"), std::string::npos)
      << summary.text(none);
  EXPECT_EQ(summary.text(none).find("half-mass"), std::string::npos);
  summary.scale_factor = 0.02;
  EXPECT_NE(summary.text(none).find("particles: 0.7368 (comoving), redshift: 49\n"), std::string::npos)
      << summary.text(none);
}

/// A cluster on its way is as much in equilibrium as one at rest.
TEST(PhysicalSummary, virial_ratio_is_without_the_motion_of_the_whole) {
  PhysicalSummary summary;
  // Two particles of mass 1/2 that move by 1 each way, and by 4 together; W = -1.
  summary.totals = Totals::of_particle(0.5, {1, 0, 0}, {0, 5, 0}, -2, 0) +
                   Totals::of_particle(0.5, {-1, 0, 0}, {0, 3, 0}, -2, 0);
  EXPECT_EQ(summary.totals.virial_ratio(), 1);
  EXPECT_NE(summary.text(DisplayUnits::none()).find("virial ratio 2T/|W|: 1\n"), std::string::npos);
}

/// A galaxy like ours, whose particles all want this rung.
PhysicalSummary galaxy(std::size_t rung) {
  PhysicalSummary summary;
  summary.counts[1] = 1000;
  summary.totals.mass = 100;  // 1e10 Msun
  summary.half_mass_radius = 10;
  summary.circular_speed = 147;
  summary.rungs[rung] = 1000;
  summary.longest_step = 0.001;
  return summary;
}

TEST(PhysicalSummary, says_why_steps_are_too_short) {
  const Parameters parameters = parse_parameters(
      "initial_conditions: {model: plummer, mass: 1e12 Msun, scale: 10 kpc}\n"
      "gravity: {softening: 1e-9 kpc}\ntime: {end: 1 Gyr, step: 1 Myr}\n",
      "test", {});
  const Parameters pulled = parse_parameters(
      "initial_conditions: {model: plummer, mass: 1e12 Msun, scale: 10 kpc}\n"
      "potentials: [{type: plummer, mass: 5e9, scale: 1 kpc}]\n"
      "gravity: {softening: 0.1 kpc}\ntime: {end: 1 Gyr, step: 1 Myr}\n",
      "test", {});
  const auto expect_cause = [&](const PhysicalSummary& summary, const std::string& cause,
                                const Parameters* with = nullptr) {
    const std::string fault = fault_of_steps(summary, with ? *with : parameters);
    EXPECT_NE(fault.find("100.0 % of the particles want more than 1024 steps"), std::string::npos) << fault;
    EXPECT_NE(fault.find(cause), std::string::npos) << fault;
  };
  EXPECT_EQ(fault_of_steps(galaxy(10), parameters), "");
  PhysicalSummary half = galaxy(10);
  half.rungs[11] = 1000;
  EXPECT_EQ(fault_of_steps(half, parameters), "") << "not most";
  expect_cause(galaxy(11), "give a larger gravity.softening");
  expect_cause(galaxy(11), "the external potentials pull too hard", &pulled);
  PhysicalSummary heavy = galaxy(11);
  heavy.totals.mass = 1e12, heavy.circular_speed = 1.47e7;
  expect_cause(heavy, "was a unit forgotten? Bare numbers are in 1e10 Msun, kpc and km/s");
  PhysicalSummary slow = galaxy(11);
  slow.longest_step = 10;
  expect_cause(slow, "the longest step is 147 times the crossing time, 0.0665 Gyr");
  PhysicalSummary box = galaxy(11);
  box.box = 50, box.half_mass_radius = box.circular_speed = 0;
  expect_cause(box, "1e-09 kpc, beside a mean spacing of particles of 5 kpc");
}

TEST(PhysicalSummary, doubts_units_where_nothing_would_move_or_motions_do_not_fit) {
  const auto parameters = [](const std::string& more) {
    return parse_parameters(
        "initial_conditions: {model: plummer, scale: 1}\ngravity: {softening: 1}\n"
        "time: {end: 1, step: 1}\n" +
            more,
        "test", {});
  };
  PhysicalSummary summary = galaxy(0);  // crossing time 10 / 147 = 0.068, 67 Myr
  summary.totals.potential_energy = -100;
  summary.totals.kinetic_energy = 50;
  const auto doubt = [&](double span, const std::string& more = "") {
    return doubt_about_units(summary, parameters(more), span);
  };
  EXPECT_EQ(doubt(0.001), "");
  EXPECT_NE(doubt(0.0005).find("0.007 of the crossing time"), std::string::npos) << doubt(0.0005);
  EXPECT_NE(doubt(0.0005).find("Bare numbers are in 1e10 Msun, kpc and km/s"), std::string::npos);
  EXPECT_EQ(doubt(0.0005, "units: {system: none}\n"), "");
  summary.rungs[3] = 2000;
  EXPECT_EQ(doubt(0.0005), "") << "the inner parts move";
  summary.totals.kinetic_energy = 1e-6;
  EXPECT_NE(doubt(1).find("the virial ratio 2T/|W| is 2e-08"), std::string::npos) << doubt(1);
  EXPECT_EQ(doubt(1, "potentials: [{type: plummer, mass: 1, scale: 1}]\n"), "");
  summary.totals.kinetic_energy = 0;
  EXPECT_EQ(doubt(1), "") << "a cold start is meant";
}

/// The types that turn in a model, alike on all ranks and on one. change: of its particles.
template <class Change>
Turning turning_in(const char* name, Count particles, const Change& change) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  ModelParameters model;
  model.model = name;
  model.particles = particles;
  Particles all = make_initial_conditions(alone, model), own = make_initial_conditions(comm, model);
  change(all), change(own);
  const Totals totals = totals_of(all);
  const Turning one = turning_of(alone, all, totals),
                many = turning_of(comm, testing::with_only(own, is_read_by_turning), totals);
  EXPECT_EQ(one.bound, many.bound);
  EXPECT_EQ(one.coherent, many.coherent);
  EXPECT_GE(one.bound, norm(spin_of(totals)));
  return one;
}

// The halo's particles are so heavy and far out that a spin by chance would be larger than the disk's.
TEST(Turning, a_disk_turns_in_a_heavy_halo) {
  double disk = 0;
  const Turning galaxy = turning_in("disk-galaxy", 4000, [&](const Particles& particles) {
    Vec3d spin;
    for (std::size_t i = 0; i < particles.size(); ++i)
      if (particles.type[i] == 2)
        spin = spin + particles.mass[i] * cross(particles.position[i], particles.velocity[i]);
    if (disk == 0) disk = norm(spin);  // of all particles; the second time of those of a rank
  });
  // Those of the halo and the bulge have been removed, the centre is where it was made, but for rounding.
  EXPECT_NEAR(galaxy.coherent, disk, 1e-6 * disk);
  EXPECT_LT(galaxy.coherent, 2.5 / std::sqrt(4000) * galaxy.bound);
}

TEST(Turning, random_directions_do_not_turn_and_two_bodies_do) {
  const auto as_it_is = [](const Particles&) {};
  EXPECT_EQ(turning_in("plummer", 3000, as_it_is).coherent, 0);
  const auto half_reversed = [](Particles& particles) {  // the spin that was removed is there again
    for (std::size_t i = 0; i < particles.size(); ++i)
      if (particles.id[i] % 2 == 0) particles.velocity[i] = -1.0 * particles.velocity[i];
  };
  EXPECT_EQ(turning_in("plummer", 3000, half_reversed).coherent, 0);
  EXPECT_GT(turning_in("kepler", 2, as_it_is).coherent, 0);
}

// Infall along the radius has no angular momentum at all, so that nothing could be compared with a sum of it.
TEST(Turning, what_falls_straight_in_has_a_scale) {
  const Turning infall = turning_in("plummer", 3000, [](Particles& particles) {
    for (std::size_t i = 0; i < particles.size(); ++i) particles.velocity[i] = -1.0 * particles.position[i];
  });
  EXPECT_EQ(infall.coherent, 0);
  EXPECT_GT(infall.bound, 1);
}

}  // namespace
}  // namespace grove
