#pragma once

#include <cstddef>

#include "particles/particles.hpp"

namespace grove::testing {

/// Particles with zeros in all fields, and ids that count up.
inline Particles blank_particles(std::size_t count) {
  Particles p;
  p.reset(count);
  for (std::size_t i = 0; i < count; ++i) p.id[i] = i;
  return p;
}

/// One of each kind, for a parameter file without units; those that run away to the centre are soft.
inline constexpr const char* external_potentials_of_all_kinds =
    "potentials:\n"
    "  - {type: point-mass, mass: 0.1, softening: 0.2, position: [1, 0, 0]}\n"
    "  - {type: plummer, mass: 0.3, scale: 1, position: [0, 0.5, 0]}\n"
    "  - {type: hernquist, mass: 0.3, scale: 2, position: [0, 0.5, -3]}\n"
    "  - {type: nfw, mass: 1, scale: 0.5, concentration: 10, cutoff: 3}\n"
    "  - {type: miyamoto-nagai, mass: 1, scale: 1, height: 0.1}\n"
    "  - {type: logarithmic, velocity: 1, scale: 0.3, flattening: 0.8}\n"
    "  - {type: uniform, acceleration: [0.1, 0, -0.2]}\n";

}  // namespace grove::testing
