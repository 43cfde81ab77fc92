#pragma once

#include <array>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Radii of the spheres about the densest point that hold 10, 50 and 90 % of the mass: of all particles, and
/// of each type.
struct LagrangeRadii {
  static constexpr std::array percent = {10, 50, 90};
  using Radii = std::array<double, percent.size()>;

  Vec3d centre{};
  Radii all{};                                  ///< length; not a number: there is no mass
  std::array<Radii, particle_types> by_type{};  ///< about the same centre

  /// All not a number.
  static LagrangeRadii none();
};

/// The same bits on every rank and for any number of ranks. Collective. total_mass: of all particles, all
/// ranks; the same everywhere.
///
/// The densest point: from the particle of lowest potential three times on to the centre of mass of what lies
/// within the radius about it, found at first, that holds a tenth of all mass (mean shift, Fukunaga and
/// Hostetler 1975); so of two galaxies it is in the deeper one. Radii are found exactly, by radix selection
/// of their 32 bits in single precision: the least that holds at least the fraction. Cost: 13 passes over the
/// particles, and as many reductions of at most 43 kB.
LagrangeRadii lagrange_radii(const Communicator& comm, const Particles& particles, double total_mass);
/// True if it looks at this field.
bool is_read_by_lagrange_radii(const FieldInfo& info);

}  // namespace grove
