#pragma once

#include <string>

#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "time/output_times.hpp"
#include "time/timeline.hpp"

namespace grove {

/// The longest steps of a run from its begin, as its parameters have them. InputError as Timeline has it.
Timeline timeline_of(const Parameters& parameters, double begin);

/// Those of a run that goes on with steps as it had.
Timeline timeline_of(const Parameters& parameters, double begin, double longest_step);

/// When a run from begin to end writes its snapshots. InputError as OutputTimes has it.
OutputTimes output_times_of(const Parameters& parameters, double begin, double end);

/// A time as messages of this run say it (timeline.hpp).
std::string moment_text(double time, const Parameters& parameters);

/// The time that a snapshot says, for this run: where space expands, since a = 0.
double time_of(const SnapshotHeader& header, const Parameters& parameters);

}  // namespace grove
