#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/leaf_owners.hpp"

namespace grove {

/// Gathers a number of each run of leaves, everywhere, left to right as LeafOwners::runs() has them.
/// Collective. own: of the runs of this rank, left to right.
inline std::vector<Count> values_of_runs(const Communicator& comm, const LeafOwners& owners,
                                         std::span<const Count> own) {
  const std::vector<Count> by_rank = comm.all_gather_arrays(own);
  std::vector<std::size_t> next(static_cast<std::size_t>(comm.size()) + 1, 0);  // of each rank
  for (const LeafOwners::Run& run : owners.runs()) ++next[static_cast<std::size_t>(run.rank) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Count> values;
  for (const LeafOwners::Run& run : owners.runs())
    values.push_back(by_rank[next[static_cast<std::size_t>(run.rank)]++]);
  return values;
}

}  // namespace grove
