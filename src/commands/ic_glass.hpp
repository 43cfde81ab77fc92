#pragma once

#include <cstdint>
#include <string>

#include "base/types.hpp"
#include "comm/communicator.hpp"

namespace grove {

inline const std::string glass_model = "glass";

/// Makes a glass, as even as a lattice but without its axes, and writes it to a file: m^3 particles in a
/// periodic box of edge 1, G = 1, mass 1 in all. Random particles that repel each other with the forces of
/// periodic gravity go so far in each step as would even out the density to first order (White 1996, in:
/// Cosmology and Large Scale Structure, Les Houches session LX). The same bits on any number of ranks.
///
/// particles: m^3; 0: 32768. Collective; InputError on all ranks: no such m. Cost: up to 150 evaluations of
/// forces.
void make_glass_file(const Communicator& comm, Count particles, std::uint64_t seed,
                     const std::string& output);

}  // namespace grove
