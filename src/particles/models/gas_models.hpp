#pragma once

#include "particles/models/model.hpp"

namespace grove {

/// Gas for tests of smoothed particle hydrodynamics, its particles on lattices: draws would make noise of
/// the pressure. Cost: the sphere's lattice keeps an interval for each of its N^(2/3) rows.

/// Evrard 1988, MNRAS 235, 911: a sphere of density M / (2 pi R^2 r), at rest, of u = 0.05 G M / R: the sites
/// of a lattice that are nearest to the origin, N of them, moved out or in to that profile.
Model make_evrard(const ModelParameters& p);

/// A point explosion of energy 1 in the middle of a cube of density 1, from 0 to `scale` along each axis, to
/// be periodic: a cubic lattice of about N particles, energy spread as by a kernel over the sites within four
/// spacings, u = 1e-6 in all others.
Model make_sedov(const ModelParameters& p);

/// Sod 1978, J. Comput. Phys. 27, 1, as a cube, to be periodic, from 0 to `scale` along each axis: in the
/// half in the middle, along x, density and pressure are 1, in the quarters beside it 0.125 and 0.1. gamma
/// is 1.4. About N particles of equal mass, on lattices that are at an angle to the tubes.
Model make_sod(const ModelParameters& p);

}  // namespace grove
