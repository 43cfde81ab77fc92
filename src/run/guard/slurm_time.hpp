#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace grove {

/// How long SLURM lets this job run.
struct SlurmTime {
  std::optional<double> seconds;  ///< left; nothing: there is no limit, or it is not known
  std::string fault;              ///< why it is not known; empty: it is, or this is no job of SLURM
};

/// From SLURM_JOB_END_TIME, which newer SLURMs set, else by asking squeue, for at most ten seconds.
/// One process of a job should ask, once: the answer costs SLURM's controller a query.
SlurmTime slurm_time_left();

/// Seconds of the time left as squeue prints it, "[[DAYS-]HOURS:]MINUTES:SECONDS"; infinity for UNLIMITED or
/// NOT_SET, no limit; nothing if it is none of these.
std::optional<double> parse_slurm_time(std::string_view text);

}  // namespace grove
