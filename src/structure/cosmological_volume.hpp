#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "cosmology/linear_spectrum.hpp"
#include "particles/particles.hpp"
#include "structure/gaussian_field.hpp"

namespace grove {

/// A part of a universe early on, as particles on the sites of a lattice, or of a glass, in a periodic box,
/// or in a sphere that is cut out of it, which linear fluctuations have displaced.
struct CosmologicalVolume {
  Cosmology cosmology{};
  SpectrumParameters spectrum{};
  NoiseParameters noise{};
  double megaparsec = 1e3;            ///< in the unit of length
  double gravitational_constant = 1;  ///< in the units of the others
  int sites = 0;                      ///< along each edge; they are in the middles of cells
  /// Sites of a glass, which are those of the lattice then in number alone: places in a box of edge 1, sorted
  /// along x, m^3 of them; they fill the box sites / m times along each edge. Empty: the lattice's.
  std::vector<Vec3d> glass{};
  double box = 0;  ///< comoving edge, length
  std::optional<double>
      radius{};  ///< of a sphere about the middle of the box; of its sites, before they move
  double redshift = 49;
  bool second_order = true;  ///< by second-order perturbation theory, else as Zel'dovich has them
};

/// InputError: a value out of its range.
void check(const CosmologicalVolume& volume);

/// Particles that it has, and the mass of each: the mean density of matter times a cell. Cost of the first
/// for a sphere: sites^2 operations.
Count count_of(const CosmologicalVolume& volume);
double particle_mass(const CosmologicalVolume& volume);

/// The particles, of type 1: comoving positions, in [0, box) of a box, about the origin of a sphere; as
/// velocities canonical momenta over mass, p = a^2 dx/dt; ids 1 + (i n + j) n + k by the site, or 1 + the
/// number of a glass' one. Each rank gets
/// an equal share in the order of ids. They have the same bits on any number of ranks. Collective; InputError
/// on all ranks together. pause (optional): called by all ranks together now and then; what it throws ends
/// the work.
///
/// Waves are those of the lattice, with a glass on a mesh of twice as many points along each edge. Cost: 13
/// Fourier transforms of sites^3 points, 3 to first order; memory of a rank: 50 bytes for each of its sites,
/// and then 50 for each site and 60 for each particle.
Particles make_particles(const Communicator& comm, const CosmologicalVolume& volume,
                         const std::function<void()>& pause = {});

/// How far sites were displaced.
struct DisplacementSummary {
  double rms = 0, largest = 0;  ///< length
};

/// Displacements of the particles that make_particles() gave. Collective; the same on any number of ranks.
DisplacementSummary displacements_of(const Communicator& comm, const CosmologicalVolume& volume,
                                     const Particles& particles);

}  // namespace grove
