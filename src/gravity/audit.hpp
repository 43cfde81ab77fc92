#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "kernels/direct/direct_sum.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/potentials.hpp"
#include "particles/particles.hpp"

namespace grove {

/// A particle that was compared; units of the run.
struct AuditedError {
  ParticleId id;
  Vec3d position;
  double acceleration;  ///< |a_direct|
  double error;         ///< |a - a_direct| / |a_direct|
  friend bool operator==(const AuditedError&, const AuditedError&) = default;
};

/// How far the accelerations of a sample of particles are from direct summation: |a - a_direct| / |a_direct|.
struct AuditResult {
  double median = 0;
  double p99 = 0;  ///< 99 % of the sample have at most this
  double max = 0;
  Count sample = 0;                    ///< particles compared
  std::vector<AuditedError> errors{};  ///< [sample] the largest last
  friend bool operator==(const AuditResult&, const AuditResult&) = default;
};

/// A particle of the sample, with what the force evaluation found.
struct AuditedParticle {
  DirectTarget target;
  Vec3d acceleration;
  std::uint64_t hash;  ///< of its id; a bijection, so no two particles share one
};

/// Compares a sample with direct summation. own: the sampled particles of this rank; direct: collective, the
/// forces on all, times G; field: in host memory, is added to them. Collective.
AuditResult compare(const Communicator& comm, std::span<const AuditedParticle> own,
                    const ExternalField& field,
                    const std::function<std::vector<DirectForce>(std::span<const DirectTarget>)>& direct);

/// Compares the particles' accelerations with direct summation in double precision over all particles of all
/// ranks, with the same softening, and external potentials: errors are relative to all that acts on a
/// particle. The sample, and every bit of the result, is the same for any number of ranks: of the particles
/// on rungs of at least first_active, whose accelerations must be of the present, those with the smallest
/// hashes of their ids, exactly `sample` of them (all, if there are fewer particles; at most as many as are
/// active), and sums per leaf that are added exactly. Collective. Particles in the order of the last force
/// evaluation. Cost: sample * N / P pair interactions in double precision.
AuditResult audit(const Communicator& comm, const Particles& particles, const Domain& domain,
                  const GravityParameters& parameters, Count sample, const ExternalField& field = {},
                  int first_active = 0);

}  // namespace grove
