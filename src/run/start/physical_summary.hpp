#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/display_units.hpp"
#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/totals.hpp"
#include "particles/particles.hpp"
#include "run/guard/gas_steps.hpp"

namespace grove {

/// A run gets on if most particles have no deeper rung at its begin.
inline constexpr int deepest_of_start = 10;

/// All that a user should see of a run before its first step. In the units of the run; the same on all ranks,
/// and for any number of them.
struct PhysicalSummary {
  std::array<Count, particle_types> counts{};  ///< particles by type
  std::array<double, particle_types> mass{};   ///< by type
  Totals totals;
  double box = 0;               ///< edge of a periodic box, which has no middle; 0: open space
  double half_mass_radius = 0;  ///< about the centre of mass; 0: in a box
  double circular_speed = 0;    ///< there: v^2 = G M / (2 r)
  RungCounts rungs{};           ///< particles by the rung of their first step
  double longest_step = 0;      ///< that of rung 0
  /// Set where there is gas, and most particles have rungs of up to deepest_of_start by gravity alone.
  std::optional<CourantStep> gas{};
  /// Where space expands; lengths are comoving, and velocities canonical momenta.
  std::optional<double> scale_factor{};

  /// Radius over circular speed; 0: there is no mass.
  double crossing_time() const { return circular_speed > 0 ? half_mass_radius / circular_speed : 0; }
  /// The mean distance of particles in a box: its volume over their number, cube root.
  double spacing() const;
  /// Three lines.
  std::string text(const DisplayUnits& shown) const;
};

/// particles: of this rank; totals, rungs: of all; box: edge of a periodic one, 0: open space. Collective.
/// Masses are added as integers, so that sums are exact to one in 10^9 or better. Cost: six passes over the
/// particles; in a box one.
PhysicalSummary physical_summary(const Communicator& comm, const Particles& particles, const Totals& totals,
                                 const RungCounts& rungs, double longest_step, double gravitational_constant,
                                 double box = 0);

/// Why a run will not get on: most particles want more than 2^10 steps in each longest one. Says what they
/// want, and what is the likely cause; empty: it will.
std::string fault_of_steps(const PhysicalSummary& summary, const Parameters& parameters);

/// Why a unit may have been forgotten where the run would get on all the same: it ends before anything has
/// moved, or gravity and motions differ by orders of magnitude. Empty: nothing looks like that, or gravity is
/// not that of the particles alone, or of a box, which has no crossing time. span: time from begin to end of
/// the run.
std::string doubt_about_units(const PhysicalSummary& summary, const Parameters& parameters, double span);

}  // namespace grove
