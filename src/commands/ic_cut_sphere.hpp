#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "io/parameters.hpp"

namespace grove {

/// Cuts a sphere out of the middle of a comoving box that another program has made (MUSIC, monofonIC,
/// N-GenIC, or Grove), by where its particles are, and writes it to a file as `grove ic` does. p: units,
/// cosmology and radius. Collective; InputError on all ranks: the file has no comoving cubic box, another h,
/// or another density.
void cut_sphere(const Communicator& comm, const std::string& file, const Parameters& p,
                const std::string& output);

}  // namespace grove
