#pragma once

#include <cstdint>

namespace grove {

/// Number of a particle, unique in a run, kept for life.
using ParticleId = std::uint64_t;

/// Position on one axis inside the root cube: 0 at its low face, 2^32 (never reached) at its high face.
using Coordinate = std::uint32_t;

/// A number of particles, or an offset into them, over all ranks.
using Count = std::int64_t;

/// Number of a leaf of the ORB from left to right, or a number of leaves, over all ranks. Own leaves of a
/// rank are numbered by std::int32_t.
using LeafNumber = std::int64_t;

/// Number of particle types in a GADGET-style snapshot (PartType0 .. PartType5).
inline constexpr int particle_types = 6;

}  // namespace grove
