// Runs in periodic boxes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "cosmology/growth.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "support/ewald.hpp"
#include "support/external_potentials.hpp"
#include "support/periodic_boxes.hpp"

namespace grove {
namespace {

constexpr double box_size = 1e4;  // kpc
constexpr int sites = 12;         // along an edge

/// Displacement of the site at q, with a growth factor of 1 at the begin; units of the box.
using Displacement = std::function<Vec3d(const Vec3d& q)>;

Vec3d site(std::size_t i) {
  const auto n = static_cast<std::size_t>(sites);
  const auto at = [](std::size_t k) { return (static_cast<double>(k) + 0.5) / sites; };
  return {at(i % n), at(i / n % n), at(i / n / n)};
}

/// A box of matter alone from redshift 49 on. scale_factor: where it ends. step: in its logarithm. forces: a
/// part of section gravity.
Parameters periodic_universe(double scale_factor, double step, const std::string& forces) {
  return parse_parameters(
      fmt::format("initial_conditions: {{model: plummer}}\ncosmology: {{preset: eds}}\n"
                  "box: {{periodic: true, size: {} kpc}}\ngravity: {{softening: 20 kpc{}}}\n"
                  "time: {{begin: z=49, end: a={}, step_ln_a: {}, steps: shared}}\n",
                  box_size, forces, scale_factor, step),
      "test", {});
}

constexpr double first_scale_factor = 0.02;

/// Sites that are displaced, with the velocities of a growing mode.
Particles displaced_sites(const Parameters& p, const Displacement& displacement) {
  const double hubble = Expansion(*p.universe).hubble(first_scale_factor), h0 = p.universe->hubble;
  const double density = 3 * h0 * h0 / (8 * std::numbers::pi * p.units.gravitational_constant);
  Particles particles = testing::blank_particles(static_cast<std::size_t>(sites * sites * sites));
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Vec3d q = site(i), s = displacement(q);
    particles.position[i] = Box::periodic(box_size).wrapped(box_size * (q + s));
    particles.velocity[i] = (box_size * first_scale_factor * first_scale_factor * hubble) * s;
    particles.mass[i] = density * std::pow(box_size / sites, 3);
  }
  return particles;
}

Particles at_end(const Parameters& p, const Displacement& displacement) {
  const Communicator comm(MPI_COMM_WORLD);
  Simulation run(comm, p, testing::share_of(comm, displaced_sites(p, displacement)), *p.time.begin);
  while (!run.is_done()) run.step();
  return testing::gathered_by_id(comm, run.particles());
}

/// From its site, units of the box; the nearest image.
Vec3d displacement_of(const Particles& particles, std::size_t i) {
  Vec3d d = particles.position[i] * (1 / box_size) - site(i);
  for (int axis = 0; axis < 3; ++axis) d[axis] -= std::round(d[axis]);
  return d;
}

/// How much faster than a continuum a displaced lattice falls: its acceleration over 4 pi G times density
/// times displacement, to first order (Marcos et al. 2006, Phys. Rev. D 73, 103507). The displacement must be
/// along an eigenvector.
double lattice_response(const Displacement& displacement) {
  constexpr double little = 1e-4;  // of what runs begin with: errors of second order are as much
  std::vector<Vec3d> position;
  const auto count = static_cast<std::size_t>(sites * sites * sites);
  for (std::size_t i = 0; i < count; ++i) position.push_back(site(i) + little * displacement(site(i)));
  const std::vector<double> mass(count, 1.0 / static_cast<double>(count));
  const Ewald ewald(position, mass, 1);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; i += 61) {
    const Vec3d s = little * displacement(site(i));
    sum += dot(ewald.at(position[i]).acceleration, s);
    squares += norm2(s);
  }
  return sum / squares / (4 * std::numbers::pi);
}

/// Growth of a displacement in a universe of matter alone, that begins as a growing mode of a continuum:
/// powers (-1 +- sqrt(1 + 24 response)) / 4 of the scale factor.
double growth_of_lattice(double response, double by) {
  const double root = std::sqrt(1 + 24 * response), up = (-1 + root) / 4, down = (-1 - root) / 4;
  const double growing = (1 - down) / (up - down);
  return growing * std::pow(by, up) + (1 - growing) * std::pow(by, down);
}

// Of 1/50 of a spacing at first, 1/10 at last. Steps of 0.05 in ln a err by 1e-3 over an e-folding or less;
// the second order of the displacement averages out over a wave. A lattice of 12^3 grows by 3 to 6 % less
// than a continuum along diagonals, and by 0.7 % more along its axes.
TEST(PeriodicRun, waves_grow_as_linear_theory_of_the_lattice_says) {
  for (const Vec3d& wave : {Vec3d{1, 0, 0}, Vec3d{1, -1, 1}}) {
    const Vec3d k = 2 * std::numbers::pi * wave;
    const auto displaced = [&](const Vec3d& q) { return k * (0.02 / sites / norm(k) * std::sin(dot(k, q))); };
    const double end = 0.1,
                 expected = growth_of_lattice(lattice_response(displaced), end / first_scale_factor);
    const Particles later = at_end(periodic_universe(end, 0.05, ", delta: 1e-4"), displaced);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < later.size(); ++i) {
      const Vec3d first = displaced(site(i));
      sum += dot(displacement_of(later, i), first);
      squares += norm2(first);
    }
    EXPECT_NEAR(sum / squares / expected, 1, 5e-3) << wave.x << " " << wave.y << " " << wave.z;
  }
}

/// A static box without a universe, of clumps that all move with one velocity. Returns where they are at the
/// end, less that motion, by id.
std::vector<Vec3d> moved_with(double speed) {
  const Parameters p = parse_parameters(
      fmt::format("units: {{system: none}}\ninitial_conditions: {{model: plummer}}\n"
                  "box: {{periodic: true, size: {}}}\ngravity: {{softening: 0.05, delta: 1e-4}}\n"
                  "time: {{end: 1, step: 0.125, steps: shared}}\n",
                  box_edge),
      "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  Particles particles = clustered_box(1000);
  for (Vec3d& v : particles.velocity) v = speed * Vec3d{1, -2, 0.5};
  Simulation run(comm, p, testing::share_of(comm, particles), 0);
  while (!run.is_done()) run.step();
  const Particles later = testing::gathered_by_id(comm, run.particles());
  std::vector<Vec3d> places;
  for (const Vec3d& x : later.position)
    places.push_back(Box::periodic(box_edge).wrapped(x - speed * Vec3d{1, -2, 0.5}));
  return places;
}

/// Squared, all together, to the nearest images.
double squared_distance(std::span<const Vec3d> a, std::span<const Vec3d> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int axis = 0; axis < 3; ++axis) {
      const double d = a[i][axis] - b[i][axis];
      sum += std::pow(d - box_edge * std::round(d / box_edge), 2);
    }
  return sum;
}

// By 4 edges of the box in each step, on one axis. Forces that are cut elsewhere differ by their errors, 3e-4
// or so, and paths through the clumps part a little more.
TEST(PeriodicRun, a_box_that_moves_as_a_whole_is_the_same) {
  const Particles first = clustered_box(1000);
  const std::vector<Vec3d> resting = moved_with(0), moving = moved_with(50);
  EXPECT_LT(squared_distance(resting, moving), 1e-5 * squared_distance(resting, first.position));
}

// Errors of forces displace a perfect lattice of 12^3 by 8e-4 of a spacing until today; they change with the
// turns and shifts of the cells.
TEST(PeriodicRun, a_lattice_stays_a_lattice) {
  const Particles later = at_end(periodic_universe(1, 0.1, ""), [](const Vec3d&) { return Vec3d{0, 0, 0}; });
  double largest = 0;
  for (std::size_t i = 0; i < later.size(); ++i)
    largest = std::max(largest, norm(displacement_of(later, i)) * sites);
  EXPECT_LT(largest, 2e-3);
}

}  // namespace
}  // namespace grove
