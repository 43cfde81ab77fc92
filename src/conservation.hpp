#pragma once

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "let/audit.hpp"
#include "let/totals.hpp"
#include "particles/particles.hpp"

namespace grove {

/// How well a run has kept so far what gravity conserves, and how good its forces were. Part of its
/// checkpoints, as it is in memory.
struct Conservation {
  Vec3d first_momentum{}, first_spin{};   ///< at the begin; see spin_of()
  double energy = 0, largest_energy = 0;  ///< change over the scale of the energy: now; largest size so far
  double spin = 0, largest_spin = 0;      ///< size of the change: now, and the largest so far
  double momentum = 0;                    ///< size of the change now, over the sum of m |v|
  Count audits = 0;
  double median = 0, p99 = 0, max = 0;  ///< of audits, the worst of each

  void begin(const Totals& first);
  /// Where all particles are synchronised.
  void add(const Totals& now, double energy_error);
  void add(const AuditResult& audit);
};

/// Angular momentum about the centre of mass.
Vec3d spin_of(const Totals& totals);

/// The sum of m |x cross v| about the centre of mass and relative to its velocity: what changes of the spin
/// are judged against where there is hardly any. The same bits for any number of ranks. Collective. totals:
/// of all particles. Cost: one pass over the particles.
double absolute_spin(const Communicator& comm, const Particles& particles, const Totals& totals);

}  // namespace grove
