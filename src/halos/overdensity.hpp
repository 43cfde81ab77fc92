#pragma once

#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "halos/halo.hpp"
#include "neighbours/neighbours.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Finds R200 and M200 of halos: outwards from the centre the first sphere in which the mean density is that
/// many times the critical one, and the mass of all particles in it, members or not.
///
/// halos (in/out): any, of this rank; neighbours: of all particles, which it makes search; particles: those
/// of the domain. Collective. Cost: a search around each halo, repeated with a sphere of twice the volume
/// where that is not large enough.
void find_r200(const Communicator& comm, Neighbours& neighbours, const Particles& particles,
               const HaloOptions& options, std::span<Halo> halos);

}  // namespace grove
