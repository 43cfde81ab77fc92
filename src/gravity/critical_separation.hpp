#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

#include "comm/communicator.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/walk_views.hpp"

/// How far the parts of a group of an octree may reach (kernels/math/group_runs.hpp).
namespace grove {

/// The cost of passes of a walk that followed one another, in instructions: those of all warps that run at a
/// time, and at the end of each pass those of the longest one alone. counts: of this rank, by pass.
/// Collective; the same on all ranks, whatever their number.
double walk_cost(const Communicator& comm, std::span<const WalkCounts> counts);

/// A separation that is positive stays so: 0 means that groups are not split.
inline float in_walk_units(double separation, const WalkUnits& units) {
  const auto scaled = static_cast<float>(separation / units.length);
  return separation > 0 ? std::max(scaled, std::numeric_limits<float>::min()) : 0;
}

/// Calls of the function below at most.
inline constexpr int most_separation_trials = 21;

/// The separation of least cost, from `largest`, where nothing is split, down to 2^-22 of that: to a factor
/// of 4 by steps, then by Brent's method on its logarithm to a few per cent. Among equal costs the largest
/// wins. cost is called with the master's separations. Collective.
double find_critical_separation(const Communicator& comm, double largest,
                                const std::function<double(double)>& cost);

}  // namespace grove
