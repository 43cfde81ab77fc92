#pragma once

#include <span>
#include <vector>

#include "base/box.hpp"
#include "comm/communicator.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/segments.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Settling::sample() of particles in the memory of the host. rung: by particle. Cost: a pass over the
/// records.
std::vector<PlaceSample> sample(const RankParticles& own, std::span<const std::uint8_t> rung,
                                const SampleRates& rates, int deepest);
/// Settling::weigh_parts() of particles in the memory of the host. rung: by particle. Cost: a pass over the
/// records.
std::vector<PartWork> weigh_parts(const RankParticles& own, std::span<const std::uint8_t> rung,
                                  std::span<const IntegerPosition> begin, int deepest);

/// Settling::settle() of particles in the memory of the host. particles (in/out): those of `own`; own
/// (in/out): has their records. weighted: particles have weights; all: particles of all ranks. Cost: a pass
/// that finds the place of each, and one that moves the records.
std::vector<Segment> settle(const Communicator& comm, RankParticles& own, Particles& particles,
                            const PlaceFinder& finder, const Box& box, bool weighted, Count all);

}  // namespace grove
