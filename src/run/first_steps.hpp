#pragma once

#include <filesystem>
#include <optional>

#include "backend/backend.hpp"
#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "run/start/physical_summary.hpp"

namespace grove {

/// The first steps of a run, and what they take.
struct FirstSteps {
  PhysicalSummary summary;  ///< of the particles that were taken; check_run() gives it the counts of all
  Count sample = 0;         ///< how many these are
  int deepest = 0;          ///< rung of a particle
  double seconds = 0;       ///< of a longest step of the sample, all shorter ones in it included
  double picture = 0;       ///< seconds of a picture of the sample; 0: there are none

  /// Seconds of a longest step of all particles: direct sums take as the square of their number, trees as
  /// that times its logarithm.
  double seconds_of(Count particles, bool is_direct) const;
};

/// Makes or reads the particles of the run, or where there are more than `most` a sample of them, which has
/// the same mass and, by a softening larger by the cube root of the share, accelerations like those of all;
/// and lets them take their first steps. choice: resolved. Writes nothing. Collective; InputError on all
/// ranks together, as the run's. Cost: three seconds, or two longest steps and 0.1 seconds if these take
/// less, but one step at least.
FirstSteps measure_first_steps(const Communicator& comm, const Parameters& parameters,
                               const BackendChoice& choice, Count particles, Count most);

/// Seconds of the run's clock that a longest step took so far, from the first `steps_done` rows of its
/// timing.csv; nothing if there is none. By one process.
std::optional<double> seconds_so_far(const std::filesystem::path& folder, std::int64_t steps_done,
                                     std::int64_t longest_steps);

}  // namespace grove
