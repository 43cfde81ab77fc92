#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/activity.hpp"
#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "decomposition/check.hpp"
#include "decomposition/decompose.hpp"
#include "kernels/math/decomposition_parameters.hpp"

namespace grove {

struct DecomposeOptions {
  std::string file, json;
  Count uniform = 0;
  std::uint64_t seed = 1;
  DecompositionParameters parameters;
  std::optional<std::int32_t> candidates;  ///< of `bisection`; nothing: 1, on the GPU alone 3
  std::string backend = "auto";            ///< auto, kokkos, cuda; in the end one of the latter
  std::string no_gpu;                      ///< why `auto` has not become cuda
  std::optional<GpuSchedule> schedule;     ///< sets backend, method and schedule
  std::optional<PayloadPath> payload;      ///< nothing: the fastest that works
  bool share_gpu = false;
  bool calibrate = false;
  int repeat = 1;

  /// Schedules that leave the particles to the host and let the GPU count.
  bool counts_on_gpu() const { return schedule == GpuSchedule::b || schedule == GpuSchedule::c; }
};

/// The rates of a machine in a second, as far as they matter here; of each rank while all are busy.
struct MachineRates {
  double host_bytes = 0, device_bytes = 0;  ///< read or written in memory
  double to_device = 0, to_host = 0;        ///< bytes over the bus, from and to pinned memory
  double sent = 0;                          ///< bytes to the next rank, while each sends
  double launch_seconds = 0;                ///< of an empty kernel, in a row of them
  double transfer_seconds = 0;              ///< of the smallest transfer, its waiting included

  /// How long this much should take if nothing overlaps.
  double seconds(const Activity& activity) const;
};

/// The activity of a phase, in figures to print.
struct PhaseResult {
  double seconds = 0;
  Activity activity;
};

/// The result of the command; times are medians over the repetitions, each of the slowest rank, and
/// activities those of the busiest.
struct DecomposeResult {
  std::string devices;      ///< a line per rank; empty: no GPU
  std::string device_name;  ///< of rank 0
  std::string payload;      ///< word_of(PayloadPath); empty: no GPU
  Count particles = 0;
  LeafNumber leaves = 0;
  std::int64_t rounds = 0, collectives = 0;
  std::map<std::string, PhaseResult> phases;
  std::vector<PhaseResult> levels;  ///< of the tree, from the root on
  std::optional<MachineRates> rates;
  double imbalance = 0;
  AspectRatios aspect{};
  std::string fault;  ///< what a count from scratch found wrong; empty: every cut is exact
  std::uint64_t tree_hash = 0;
  double bytes_per_particle = 0;  ///< at the peak, on top of the particles, all ranks together; where the
                                  ///< backend keeps them
};

/// The timed phases by their keys in JSON, and what a reader of the table needs to know of each.
struct Phase {
  const char *key, *label;
};
inline constexpr Phase decompose_phases[] = {{"set_up", "add up particles and work"},
                                             {"records", "find cube, integer coordinates"},
                                             {"init", "start the services"},
                                             {"make_axis", "line up coordinates on axes"},
                                             {"count_left", "search cuts"},
                                             {"gather_keys", "gather the last few coordinates"},
                                             {"greatest_id", "find the greatest id"},
                                             {"select_tie", "break ties by id"},
                                             {"partition", "divide particles at cuts"},
                                             {"delegate", "delegate small cells"},
                                             {"collect", "collect the pieces of the cells"},
                                             {"migrate", "migrate particles"},
                                             {"local", "cut own cells"},
                                             {"wait", "wait for other ranks"},
                                             {"gather_cells", "gather the cells of all ranks"},
                                             {"order", "order particles by leaf"},
                                             {"other", "all else, on rank 0"},
                                             {"total", "total"},
                                             {"cuts", "of that without cube, moves, order"}};

/// Collective. Adds a run with what it reports. The phase "other" is the time that rank 0 spent in none of
/// the others; "cuts" is the total without the phases that depend on what particles carry.
void add_run(const Communicator& comm, const DecompositionReport& report, const Domain& domain,
             std::vector<DecomposeResult>& runs);
/// The last run, with the median of each phase and level in place of its seconds.
DecomposeResult median_of(std::vector<DecomposeResult> runs);

std::string table_of(const Communicator& comm, const DecomposeOptions& options,
                     const DecomposeResult& result);
std::string json_of(const Communicator& comm, const DecomposeOptions& options, const DecomposeResult& result);

}  // namespace grove
