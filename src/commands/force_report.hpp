#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/table_bytes.hpp"
#include "base/timers.hpp"
#include "base/units.hpp"
#include "comm/communicator.hpp"
#include "gravity/audit.hpp"
#include "gravity/gravity.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/opening.hpp"
#include "run/log/step_counts.hpp"

namespace grove {

/// One pass of `grove force`: decomposition and force evaluation.
struct MeasuredPass {
  ForceReport report;
  std::map<std::string, double> seconds;  ///< by phase, the slowest rank; "total" is the pass by the clock
  StepCounts counts;
  TableBytes tables;  ///< of the rank that has most of each
};

/// The phases of a pass in order of execution.
inline constexpr const char* force_phases[] = {"decompose", "build", "sort", "moments",
                                               "let",       "walk",  "wait", "total"};

/// All that `grove force` has to say.
struct ForceResult {
  std::string file;
  int ranks = 1;
  LeafNumber leaves = 0;
  CutRule rule = CutRule::domains;
  Units units;
  GravityParameters gravity;
  std::uint8_t softened = 0x3f;      ///< bit t set: gravity.softening has a length for type t
  bool softening_suggested = false;  ///< chosen here, not by the user
  MeasuredPass first, second;
  std::optional<AuditResult> audit;
  std::uint64_t forces_hash = 0;
  double peak_bytes = 0;         ///< memory of the rank that used most
  std::string backend;           ///< "kokkos", "cuda"
  std::string no_gpu;            ///< why `auto` has not become cuda
  std::string devices;           ///< a line per rank; empty on the host
  double peak_device_bytes = 0;  ///< memory of the GPU that was used most
};

/// The table for people.
std::string force_table(const ForceResult& result);

/// The same for scripts, as JSON.
std::string force_json(const ForceResult& result);

/// The errors of the audited particles as a table (CSV): id, place, |a_direct| and |a - a_direct| /
/// |a_direct|, the largest last.
std::string errors_table(const ForceResult& result);

}  // namespace grove
