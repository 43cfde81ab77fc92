#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <string>

#include "base/box.hpp"
#include "cosmology/expansion.hpp"
#include "io/parameters.hpp"
#include "physics/run_fixture.hpp"
#include "run/simulation.hpp"
#include "support/external_potentials.hpp"

/// Periodic boxes of matter alone, whose particles are displaced sites of a lattice, from redshift 49 on.
namespace grove {

inline constexpr double universe_box = 1e4;  // kpc
inline constexpr double first_scale_factor = 0.02;

/// Displacement of the site at q, with a growth factor of 1 at the begin; units of the box.
using Displacement = std::function<Vec3d(const Vec3d& q)>;

/// A site of a lattice of `sites` along each edge, in the middle of its cell; units of the box.
inline Vec3d site_of(int sites, std::size_t i) {
  const auto n = static_cast<std::size_t>(sites);
  const auto at = [sites](std::size_t k) { return (static_cast<double>(k) + 0.5) / sites; };
  return {at(i % n), at(i / n % n), at(i / n / n)};
}

/// scale_factor: where it ends. step: in its logarithm. gravity: that section; more: other sections.
inline Parameters periodic_universe(double scale_factor, double step, const std::string& gravity,
                                    const std::string& more = "") {
  return parse_parameters(fmt::format("initial_conditions: {{model: plummer}}\ncosmology: {{preset: eds}}\n"
                                      "box: {{periodic: true, size: {} kpc}}\ngravity: {{{}}}\n"
                                      "time: {{begin: z=49, end: a={}, step_ln_a: {}, steps: shared}}\n{}",
                                      universe_box, gravity, scale_factor, step, more),
                          "test", {});
}

/// Sites that are displaced, with the velocities of a growing mode.
inline Particles displaced_sites(const Parameters& p, int sites, const Displacement& displacement) {
  const double hubble = Expansion(*p.universe).hubble(first_scale_factor), h0 = p.universe->hubble;
  const double density = 3 * h0 * h0 / (8 * std::numbers::pi * p.units.gravitational_constant);
  Particles particles = testing::blank_particles(static_cast<std::size_t>(sites * sites * sites));
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Vec3d q = site_of(sites, i), s = displacement(q);
    particles.position[i] = Box::periodic(universe_box).wrapped(universe_box * (q + s));
    particles.velocity[i] = (universe_box * first_scale_factor * first_scale_factor * hubble) * s;
    particles.mass[i] = density * std::pow(universe_box / sites, 3);
  }
  return particles;
}

/// By id.
inline Particles at_end(const Parameters& p, int sites, const Displacement& displacement) {
  const Communicator comm(MPI_COMM_WORLD);
  Simulation run(comm, p, testing::share_of(comm, displaced_sites(p, sites, displacement)), *p.time.begin);
  while (!run.is_done()) run.step();
  return testing::gathered_by_id(comm, run.particles());
}

/// From its site, units of the box; the nearest image.
inline Vec3d displacement_of(const Particles& particles, int sites, std::size_t i) {
  Vec3d d = particles.position[i] * (1 / universe_box) - site_of(sites, i);
  for (int axis = 0; axis < 3; ++axis) d[axis] -= std::round(d[axis]);
  return d;
}

}  // namespace grove
