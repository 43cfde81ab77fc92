#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "particles/particles.hpp"

namespace grove {

/// InputError, on all ranks, unless these particles fit into the periodic box of the run: their extent is its
/// edge at most, and the file, if there is one, says no other box. Collective.
void require_periodic_box(const Communicator& comm, const Parameters& parameters, const Particles& particles,
                          const SnapshotHeader* header);

/// The omega_matter of which particles that fill a cube have the mean density. Collective, the same bits on
/// any number of ranks.
double omega_matter_in(const Communicator& comm, const Particles& particles, double edge,
                       const Parameters& parameters);
/// True if a universe may have them: they are the same to a percent. Massive neutrinos, which particles often
/// leave out, are less than that.
bool is_same_density(double omega_matter_found, double omega_matter);

/// InputError, on all ranks, unless the particles in the periodic box of a run have the mean density of its
/// expanding space, which their gravity takes for granted. source: of the particles. Collective.
void require_mean_density(const Communicator& comm, const Parameters& parameters, const Particles& particles,
                          const std::string& source);

/// A remark on a file with a periodic box, or any in expanding space, in a run that takes space to be open;
/// empty: there is nothing to say.
std::string remark_on_box(const Parameters& parameters, const std::string& file,
                          const SnapshotHeader& header);

}  // namespace grove
