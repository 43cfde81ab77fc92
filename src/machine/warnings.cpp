#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/how_many.hpp"
#include "machine/rank_place.hpp"

namespace grove {
namespace {

using Ranks = std::vector<std::size_t>;

std::map<std::string, Ranks> ranks_by_host(const std::vector<RankPlace>& places) {
  std::map<std::string, Ranks> hosts;
  for (std::size_t rank = 0; rank < places.size(); ++rank) hosts[places[rank].host.data()].push_back(rank);
  return hosts;
}

/// How many of the ranks can have a core for themselves: the largest matching of ranks and cores (augmenting
/// paths; cost: ranks x cores).
std::size_t ranks_with_own_core(const std::vector<RankPlace>& places, const Ranks& ranks) {
  std::map<std::size_t, std::size_t> rank_of_core;
  CpuSet seen;
  const std::function<bool(std::size_t)> find_core = [&](std::size_t rank) {
    const CpuSet& cores = places[rank].cores;
    for (std::size_t core = cores._Find_first(); core < cores.size(); core = cores._Find_next(core)) {
      if (seen[core]) continue;
      seen.set(core);
      const auto user = rank_of_core.find(core);
      if (user != rank_of_core.end() && !find_core(user->second)) continue;
      rank_of_core[core] = rank;
      return true;
    }
    return false;
  };
  std::size_t matched = 0;
  for (const std::size_t rank : ranks) {
    seen.reset();
    matched += find_core(rank) ? 1 : 0;
  }
  return matched;
}

std::optional<std::string> shared_cores(const std::vector<RankPlace>& places, const std::string& host,
                                        const Ranks& ranks) {
  const std::size_t own = ranks_with_own_core(places, ranks);
  if (own == ranks.size()) return std::nullopt;
  return fmt::format(
      "{}: {} ranks have {} between them: start fewer ranks there, or bind each to a core of its own "
      "(mpirun --bind-to core, srun --cpu-bind=cores)",
      host, ranks.size(), how_many(own, "core"));
}

/// A rank that may run on several NUMA nodes leaves its memory behind on one of them.
std::optional<std::string> loose_ranks(const std::vector<RankPlace>& places, const std::string& host,
                                       const Ranks& ranks) {
  std::size_t loose = 0, first = 0;
  for (const std::size_t rank : ranks)
    if (places[rank].numa.count() > 1 && loose++ == 0) first = rank;
  if (loose == 0) return std::nullopt;
  return fmt::format(
      "{}: {}, the first is {}, may move between NUMA nodes {}, away from their memory: bind them "
      "(mpirun --map-by numa --bind-to core, srun --cpu-bind=cores)",
      host, how_many(loose, "rank"), first, text_of(places[first].numa));
}

void add_gpu_warnings(const std::vector<RankPlace>& places, std::vector<std::string>& warnings) {
  std::map<std::array<char, 16>, std::size_t> users;
  bool any = false;
  for (const RankPlace& place : places) any |= place.gpu.is_there;
  for (std::size_t rank = 0; any && rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    if (!place.gpu.is_there) {
      warnings.push_back(fmt::format("rank {} on {} sees no GPU, so all ranks would compute on hosts", rank,
                                     place.host.data()));
      continue;
    }
    const auto [user, is_first] = users.emplace(place.gpu.identity, rank);
    if (!is_first)
      warnings.push_back(fmt::format(
          "ranks {} and {} on {} share the GPU {}: start one rank per GPU (srun --gpus-per-task=1)",
          user->second, rank, place.host.data(), place.gpu.pci.data()));
    if (place.gpu.numa >= 0 && place.numa.any() && !place.numa[static_cast<std::size_t>(place.gpu.numa)])
      warnings.push_back(
          fmt::format("rank {} on {} runs on NUMA node {}, its GPU {} is attached to node {}: bind it to "
                      "cores near the GPU (srun "
                      "--gpu-bind=closest)",
                      rank, place.host.data(), text_of(place.numa), place.gpu.pci.data(), place.gpu.numa));
  }
}

}  // namespace

std::vector<std::string> warnings_about(const std::vector<RankPlace>& places) {
  std::vector<std::string> warnings;
  for (const auto& [host, ranks] : ranks_by_host(places))
    for (const auto& warning : {shared_cores(places, host, ranks), loose_ranks(places, host, ranks)})
      if (warning) warnings.push_back(*warning);
  add_gpu_warnings(places, warnings);
  return warnings;
}

}  // namespace grove
