#pragma once

#include "kernels/cuda/group_walk.cuh"

namespace grove::cuda {

/// Totals and the way from warp to warp.
struct WalkState {
  unsigned long long cell, particle, tests;
  std::uint32_t next_group;  ///< and part of it
  int fault;
};

/// walk_own() or walk_others(), with the sources of each group split among targets.parts warps. state
/// (in/out, device): of zeroes.
template <bool own>
void walk_in_parts(const GravityParameters& gravity, const WalkRule& rule, const WalkSources& sources,
                   const WalkTargets& targets, const WalkOutput& output, WalkState* state);

}  // namespace grove::cuda
