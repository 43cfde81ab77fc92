#pragma once

#include <span>

#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "gravity/far_field.hpp"
#include "gravity/leaf_sum.hpp"
#include "kernels/math/far_images.hpp"
#include "kernels/math/opening.hpp"
#include "particles/particles.hpp"

/// The gravity of those images of a periodic box that walks and direct sums leave out
/// (kernels/math/far_images.hpp).
namespace grove {

/// The moments of all particles of a box, from the sums of the own leaves: the same bits on any number of
/// ranks. Collective.
template <int order>
BoxMoments<order> united_moments(const Communicator& comm, const Domain& domain,
                                 std::span<const BoxMoments<order>> own_leaves) {
  return LeafSum<BoxMoments<order>>(comm, domain, own_leaves)();
}

/// The same from particles in tree order. Cost: a pass over the particles.
template <int order>
BoxMoments<order> box_moments(const Communicator& comm, const Particles& particles, const Domain& domain,
                              const FarUnits& units);

/// Adds what they do to the particles on these rungs. Cost: a pass over the particles.
void add_far_images(const FarField<far_order>& field, const FarUnits& units, Particles& particles,
                    int first_active);
/// Adds what they do to targets, to the order of audits.
void add_far_images(const BoxMoments<audit_far_moments>& box, const FarUnits& units,
                    std::span<const DirectTarget> targets, std::span<DirectForce> forces);

}  // namespace grove
