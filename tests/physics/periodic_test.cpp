// Runs in periodic boxes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cosmology/growth.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "run/start/cosmological_model.hpp"
#include "support/ewald.hpp"
#include "support/external_potentials.hpp"
#include "support/periodic_boxes.hpp"
#include "support/periodic_universe.hpp"

namespace grove {
namespace {

constexpr int sites = 12;  // along an edge

/// How much faster than a continuum a displaced lattice falls: its acceleration over 4 pi G times density
/// times displacement, to first order (Marcos et al. 2006, Phys. Rev. D 73, 103507). The displacement must be
/// along an eigenvector.
double lattice_response(const Displacement& displacement) {
  constexpr double little = 1e-4;  // of what runs begin with: errors of second order are as much
  std::vector<Vec3d> position;
  const auto count = static_cast<std::size_t>(sites * sites * sites);
  for (std::size_t i = 0; i < count; ++i)
    position.push_back(site_of(sites, i) + little * displacement(site_of(sites, i)));
  const std::vector<double> mass(count, 1.0 / static_cast<double>(count));
  const Ewald ewald(position, mass, 1);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; i += 61) {
    const Vec3d s = little * displacement(site_of(sites, i));
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
    const Particles later =
        at_end(periodic_universe(end, 0.05, "softening: 20 kpc, delta: 1e-4"), sites, displaced);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < later.size(); ++i) {
      const Vec3d first = displaced(site_of(sites, i));
      sum += dot(displacement_of(later, sites, i), first);
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

// Errors of forces displace a perfect lattice of 12^3 by 2e-5 of a spacing until today.
TEST(PeriodicRun, a_lattice_stays_a_lattice) {
  const Particles later = at_end(periodic_universe(1, 0.1, "softening: 20 kpc"), sites, [](const Vec3d&) {
    return Vec3d{0, 0, 0};
  });
  double largest = 0;
  for (std::size_t i = 0; i < later.size(); ++i)
    largest = std::max(largest, norm(displacement_of(later, sites, i)) * sites);
  EXPECT_LT(largest, 1e-4);
}

/// Largest differences between the velocities of a plane wave and Zel'dovich's solution, which is exact until
/// the wave crosses; over the largest velocity.
struct WaveErrors {
  double along, across;
};

/// From a part of the scale factor of the crossing to another one.
WaveErrors errors_of_plane_wave(int along_edge, double first_part, double part, const std::string& accuracy) {
  const double crossing = first_scale_factor / first_part, k = 2 * std::numbers::pi, end = part * crossing;
  const auto displaced = [&](const Vec3d& q) {
    return Vec3d{-first_scale_factor / crossing / k * std::sin(k * q.x), 0, 0};
  };
  const Parameters p =
      periodic_universe(end, 0.05, fmt::format("softening: {} kpc", 0.3 * universe_box / along_edge),
                        "accuracy: " + accuracy + "\n");
  const Particles later = at_end(p, along_edge, displaced);
  const double largest = universe_box * end * end * Expansion(*p.universe).hubble(end) * part / k;
  WaveErrors errors{0, 0};
  for (std::size_t i = 0; i < later.size(); ++i) {
    const Vec3d v = later.velocity[i] * (1 / largest);
    errors.along = std::max(errors.along, std::abs(v.x + std::sin(k * site_of(along_edge, i).x)));
    errors.across = std::max({errors.across, std::abs(v.y), std::abs(v.z)});
  }
  return errors;
}

// What a lattice of n sites and a softening of a fraction of a spacing leave of a wave falls with 1 /
// n^2: 3.4 % of the velocity for 12 sites, 2.0 % for 16, 0.03 % for 128. Across the wave there are errors of
// forces alone: 1e-3 of them at most, of changing sign, make 2.5e-4.
TEST(PeriodicRun, a_plane_wave_falls_as_zeldovich_says) {
  const WaveErrors errors = errors_of_plane_wave(16, 0.1, 0.7, "standard");
  EXPECT_LT(errors.along, 0.025);
  EXPECT_LT(errors.across, 5e-4);
}

// From half to nine tenths of its crossing. Each plane of sites is pulled by the lattices on both its sides,
// which pull as even planes but for terms of exp(-2 pi distance / spacing). These cancel but for the
// difference of the distances, so that the error falls with the square of the spacing: 0.017 of the velocity
// for 16 sites, and 0.0043 or less for 32. Across the wave it is half the 99th percentile of the errors of
// forces, 1e-3 for `standard` and 2e-4 for `high`, as their signs change.
TEST(PeriodicRun, a_plane_wave_that_nears_its_crossing_is_zeldovichs_to_half_a_per_cent) {
  for (const auto& [accuracy, across] : {std::pair{"standard", 5e-4}, {"high", 1e-4}}) {
    const WaveErrors errors = errors_of_plane_wave(32, 0.5, 0.9, accuracy);
    EXPECT_LT(errors.along, 0.005) << accuracy;
    EXPECT_LT(errors.across, across) << accuracy;
  }
}

/// The Fourier coefficient of the density along an axis, of the longest wave there.
std::complex<double> longest_wave(const Particles& particles, double edge, int axis) {
  std::complex<double> sum = 0;
  for (const Vec3d& x : particles.position) sum += std::polar(1.0, -2 * std::numbers::pi * x[axis] / edge);
  return sum / static_cast<double>(particles.size());
}

// From z = 49 to 4 the density grows by a factor of 10. Along the axes a lattice of 12 sites grows 0.7 %
// faster than a continuum, see above; waves of 570 Mpc have fluctuations of 1e-3, their second order is as
// much or less, and steps of 0.1 in ln a err by as much. Errors of
// forces change from site to site and make some 0.3 %.
TEST(PeriodicRun, the_longest_waves_of_a_box_grow_as_linear_theory_says) {
  const Parameters p = parse_parameters(
      "initial_conditions: {model: cosmological-box, sites: 12, box_size: 570 Mpc, fixed: true}\n"
      "accuracy: fast\ncosmology: {preset: planck2018}\nbox: {periodic: true}\ngravity: {softening: 1 Mpc}\n"
      "time: {begin: z=49, end: z=4, step_ln_a: 0.1, steps: shared}\n",
      "test", {});
  const Communicator comm(MPI_COMM_WORLD);
  Particles own = make_particles(comm, cosmological_volume(comm, p));
  const Particles first = gathered_by_id(comm, own);
  Simulation run(comm, p, std::move(own), *p.time.begin);
  while (!run.is_done()) run.step();
  const Particles later = gathered_by_id(comm, run.particles());
  const Expansion expansion(*p.universe);
  const double growth = growth_at(expansion, 0.2).first / growth_at(expansion, 0.02).first;
  if (!comm.is_master()) return;
  for (int axis = 0; axis < 3; ++axis) {
    const double edge = *p.box.size;
    const std::complex<double> grown =
        longest_wave(later, edge, axis) / longest_wave(first, edge, axis) / growth;
    EXPECT_NEAR(grown.real(), 1, 0.012);
    EXPECT_NEAR(grown.imag(), 0, 0.012);
  }
}

}  // namespace
}  // namespace grove
