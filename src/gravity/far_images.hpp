#pragma once

#include <span>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "gravity/far_field.hpp"
#include "kernels/math/far_images.hpp"
#include "kernels/math/opening.hpp"
#include "particles/particles.hpp"

/// The gravity of those images of a periodic box that walks and direct sums leave out
/// (kernels/math/far_images.hpp).
namespace grove {

/// The moments of all particles of a box, from those in tree order: the same bits on any number of ranks.
/// leaf_begin: the first particle of each own leaf, length leaves + 1. bound: at least the mass of all, the
/// same on all ranks. Collective. Cost: a pass over the particles.
template <int order>
BoxMoments<order> box_moments(const Communicator& comm, const Particles& particles,
                              std::span<const Count> leaf_begin, const FarUnits& units, double bound);

/// At least the mass of all particles, the same for any number of ranks. largest, count: of the own ones.
/// Collective.
inline double mass_bound(const Communicator& comm, double largest, std::size_t count) {
  return comm.max(largest) * static_cast<double>(comm.sum(static_cast<Count>(count)));
}

/// Adds what they do to the particles on these rungs. Cost: a pass over the particles.
void add_far_images(const FarField<far_order>& field, const FarUnits& units, Particles& particles,
                    int first_active);
/// Adds what they do to targets, to the order of audits.
void add_far_images(const BoxMoments<audit_far_moments>& box, const FarUnits& units,
                    std::span<const DirectTarget> targets, std::span<DirectForce> forces);

}  // namespace grove
