#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/activity.hpp"
#include "base/timers.hpp"

namespace grove {

/// Counts of what costs time whatever the number of particles: calls of other ranks and of the GPU. In all,
/// and by phase.
class StepCounts {
 public:
  static constexpr std::array names = {"collectives", "messages", "nccl_groups",
                                       "host_waits",  "launches", "bytes"};
  using Row = std::array<std::uint64_t, names.size()>;

  StepCounts() = default;
  /// Those of this rank. all: of the whole step, with what is in no phase. phases: live as long as this.
  StepCounts(const Activity& all, const PhaseTimers& timers, std::span<const char* const> phases);

  /// All there are, for a maximum over ranks: each count is then that of the rank that has most of it.
  std::span<std::uint64_t> values() { return {rows_.front().data(), rows_.size() * names.size()}; }

  const Row& all() const { return rows_.front(); }
  std::span<const char* const> phases() const { return phases_; }
  std::span<const Row> by_phase() const { return std::span(rows_).subspan(1); }

  /// A line for people: the counts that there are.
  std::string text() const;

 private:
  std::span<const char* const> phases_;
  std::vector<Row> rows_{1};  ///< the whole, then by phase
};

}  // namespace grove
