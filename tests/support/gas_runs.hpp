#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>

#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "support/particle_sets.hpp"
#include "support/periodic_universe.hpp"

/// Short runs with gas, each with its own way through the code.
namespace grove::testing {

struct GasRun {
  const char* name;
  Parameters (*parameters)();
  Particles (*particles)(const Parameters&);  ///< all of them, on every rank
};

/// How a test of it is shown.
inline void PrintTo(const GasRun& run, std::ostream* out) { *out << run.name; }

/// A cold sphere that begins to collapse.
inline Parameters collapse(const std::string& time, const std::string& gravity = "",
                           const std::string& more = "") {
  return parse_parameters(
      "units: {system: none}\ninitial_conditions: {model: evrard, n: 1500}\n"
      "gravity: {softening: 0.02" +
          gravity + "}\ntime: {begin: 0, " + time + "}\n" + more,
      "test", {});
}
inline constexpr const char* of_shared_steps = "end: 0.1, step: 0.0125, steps: shared";
inline constexpr const char* of_block_steps = "end: 0.3, step: 0.1, eta: 1";

inline Particles of_model(const Parameters& p) { return make_particles(p.initial_conditions.model); }

/// Gas, and twice as many particles that feel gravity alone, far away on one side.
inline Particles gas_on_one_side(const Parameters& p) {
  Particles all = of_model(p);
  const std::size_t gas = all.size() / 3;
  for (std::size_t i = gas; i < all.size(); ++i) {
    all.position[i].x += 4;
    all.type[i] = 1;
    all.internal_energy[i] = 0;
  }
  return all;
}

/// Waves of gas of uneven temperatures, half of it no gas, in a box that expands.
inline Particles comoving_gas(const Parameters& p) {
  constexpr int sites = 10;
  const auto displaced = [](const Vec3d& q) {
    const Vec3d phase = 2 * M_PI * q;
    return 0.03 * Vec3d{std::sin(phase.x + phase.y), std::sin(phase.y), std::sin(phase.z - phase.x)};
  };
  Particles all = displaced_sites(p, sites, displaced);
  all.hold_gas();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all.type[i] = i % 2 == 0 ? gas_type : 1;
    if (all.type[i] == gas_type) all.internal_energy[i] = 100 * std::exp(8 * test::uniform(i));
  }
  return all;
}
inline Parameters comoving(const std::string& steps = "step_ln_a: 0.05") {
  return parse_parameters(
      "initial_conditions: {model: plummer}\ncosmology: {preset: planck2018}\n"
      "box: {periodic: true, size: 10 Mpc}\ngravity: {softening: 100 kpc}\n"
      "time: {begin: z=49, end: z=47, " +
          steps + "}\ngas: {adiabatic_index: 1.5}\n",
      "test", {});
}

inline const std::array<GasRun, 7>& gas_runs() {
  static const std::array<GasRun, 7> all{
      GasRun{"shared_steps", [] { return collapse(of_shared_steps); }, of_model},
      GasRun{"block_steps", [] { return collapse(of_block_steps); }, of_model},
      GasRun{"opening_cell",
             [] { return collapse(of_block_steps, ", tree: octree, criterion: opening_cell"); }, of_model},
      GasRun{"without_gravity",
             [] {
               return parse_parameters(
                   "units: {system: none}\ninitial_conditions: {model: sedov, n: 1000}\n"
                   "box: {periodic: true, size: 1}\ngravity: {softening: 0.05, self_gravity: false}\n"
                   "time: {begin: 0, end: 0.004, step: 0.002}\n",
                   "test", {});
             },
             of_model},
      GasRun{"gas_on_one_side", [] { return collapse(of_block_steps); }, gas_on_one_side},
      GasRun{"few_leaves",
             [] {
               Parameters p = collapse(of_block_steps, "", "decomposition: {leaf_size: 128}\n");
               p.initial_conditions.model.particles = 200;
               return p;
             },
             of_model},
      GasRun{"expanding_space", [] { return comoving(); }, comoving_gas}};
  return all;
}

}  // namespace grove::testing
