#pragma once

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "gravity/audit.hpp"
#include "gravity/totals.hpp"
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
  /// To be called when all particles are synchronised.
  void add(const Totals& now, double energy_error, double largest_energy_error);
  void add(const AuditResult& audit);
};

/// Angular momentum about the centre of mass.
Vec3d spin_of(const Totals& totals);

/// Scales against which changes of the spin are judged; about the centre of mass and relative to its
/// velocity.
struct Turning {
  double bound = 0;  ///< the sum of m |x| |v|, which is no less than any spin of these particles
  /// The spin of the type that has most, of those that have more than random directions leave; 0: none has.
  double coherent = 0;
};

/// Random directions leave some sqrt(sum of l^2), l = m |x cross v| of a particle. A type turns if it has 2.5
/// times that, which one in 3000 has by chance, or half of the sum of l. By type, as a disk turns whose heavy
/// halo would hide that in a sum. The same bits for any number of ranks. Collective. totals: of all
/// particles. Cost: some passes over the particles, 8 bytes of memory for each.
Turning turning_of(const Communicator& comm, const Particles& particles, const Totals& totals);
/// True if it looks at this field.
bool is_read_by_turning(const FieldInfo& info);

}  // namespace grove
