#pragma once

#include "comm/communicator.hpp"
#include "particles/particles.hpp"

namespace grove {

/// A softening length for particles of which nothing else is known: half of r / N^(1/3), where r is the
/// radius that holds half of the particles around the point of median coordinates. That is a quarter of the
/// mean distance of neighbours inside r; for a Hernquist sphere of 10^6 particles 0.012 scale lengths,
/// between the optimum for forces (Dehnen 2001, MNRAS 324, 273) and the resolved radius. Exact order
/// statistics, so the same on any number of ranks. Collective. Cost: four passes and selections.
double suggested_softening(const Communicator& comm, const Particles& particles);

}  // namespace grove
