#pragma once

#include <functional>
#include <span>

#include "comm/communicator.hpp"
#include "kernels/math/walk_views.hpp"

/// How far the parts of a group of an octree may reach (kernels/math/group_runs.hpp).
namespace grove {

/// What passes of a walk that followed one another cost, in instructions: those of all warps that run at a
/// time, and at the end of each pass those of the longest one alone. counts: of this rank, by pass.
/// Collective; the same on all ranks, whatever their number.
double walk_cost(const Communicator& comm, std::span<const WalkCounts> counts);

/// The separation of least cost, from `largest`, where nothing is split, down to 2^-20 of that: to a factor
/// of 4 by steps, then by Brent's method on its logarithm to a few per cent. Of equal costs the largest.
/// cost: called up to 20 times.
double find_critical_separation(double largest, const std::function<double(double)>& cost);

}  // namespace grove
