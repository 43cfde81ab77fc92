#pragma once

#include "comm/communicator.hpp"
#include "io/view.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The frame of a picture: the view's wishes, and the particles' choice of all else but the limits of the
/// colours. The cube of the picture before (width 0: there was none) stays, unless the view has it otherwise,
/// until fewer than three quarters of the particles are in its cube: then a middle that is not given is
/// chosen anew, and a width that is not given grows to what it would be in a first picture. In a periodic box
/// a middle and a width that are not given are those of the box. Collective; the same on all ranks and on any
/// number of them.
Frame frame_of(const Communicator& comm, const Particles& particles, const View& view, const Frame& before);

/// The centre of mass of the particles of these types; (0, 0, 0) if there are none with mass. In a periodic
/// box: that of their images that are nearest to the mean of their phases along each axis (Bai and Breen
/// 2008, Journal of Graphics Tools 13, 53), so that a halo over a face has the middle that it has elsewhere.
/// Collective.
Vec3d centre_of_mass(const Communicator& comm, const Particles& particles, std::uint64_t types,
                     const Images& images = {});

/// The densest place of particles of these types: in the heaviest cell of a grid of 32 cells a side over most
/// of them, the place that spheres shrink to whose centres follow the centre of mass inside them (Power et
/// al. 2003, MNRAS 338, 14), until they hold 1 % of the particles, or 100. In a periodic box the grid is over
/// all of it, and 1 % is of the particles in the first sphere, of a sixteenth of an edge. (0, 0, 0) if there
/// are none. Collective. Cost: a reduction of 32^3 integers and some 50 of four, and a loop over the
/// particles for each.
Vec3d densest_place(const Communicator& comm, const Particles& particles, std::uint64_t types,
                    const Images& images = {});

}  // namespace grove
