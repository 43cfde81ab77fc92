#pragma once

#include <array>
#include <string>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "kernels/math/block_steps.hpp"

namespace grove {

struct ForceReport;

/// Predicts, for the watchdog, how long a step takes, from the interactions that its active particles will
/// have. It never decides anything about results.
///
/// The steps with most work, half of the largest so far or more, tell the seconds per interaction; the others
/// what a step takes besides. Both are the longest of recent times.
class StepForecast {
 public:
  /// Seconds of a step in which these rungs' particles are active, first_active and deeper; 0 before the
  /// first step was measured.
  double seconds(const RungCounts& particles, int first_active) const;
  /// Learns from the last step.
  void add(const ForceReport& forces, double seconds);

 private:
  std::array<double, rung_count> interactions_{};  ///< per particle, at each rung's last walk; 0: none yet
  double most_work_ = 0, per_interaction_ = 0, besides_ = 0;
};

/// The time to tell the watchdog, where only an upper limit is known, such as those below. The watchdog
/// allows times_predicted (20) times as much: with the limit itself a rank that hangs in a file system would
/// not be found for hours.
double at_most(double seconds);

/// Seconds that so many interactions of one rank take at most: 20 ns each, of a slow core; ten times what
/// a usual one needs.
double slow_seconds(double interactions);

/// Seconds of a first evaluation of forces on so many particles of one rank, of n in all, before anything was
/// measured: as if every particle had 2000 interactions, or with direct sums n.
double first_evaluation_seconds(double own, Count n, bool is_direct);

/// Seconds in which a slow file system, at 100 MB/s for all ranks together, takes so many particles.
double writing_seconds(Count particles);
/// The same at 25 MB/s, for the watchdog: slower is only a file system in trouble.
double longest_writing_seconds(Count n);
/// Seconds in which the same reads all files in a folder and in those so many levels below it. Collective:
/// the master looks.
double reading_seconds(const Communicator& comm, const std::string& folder, int levels);

}  // namespace grove
