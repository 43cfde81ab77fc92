#pragma once

namespace grove {

/// Memory of this process, bytes in RAM; 0 where the system does not tell (/proc/self of Linux).
struct MemoryUse {
  double now, peak;
};
MemoryUse memory_use();

/// Bytes in RAM that this host can still give, by /proc/meminfo; 0 where the system does not tell.
double available_on_host();

/// Bytes in RAM that this host can still give to processes of this job: the same within the limit of the
/// job's control group (version 2).
double available_memory();

/// Makes the present use the peak so far, so that the peak of what follows can be told. No effect where the
/// system does not allow it.
void reset_peak_memory();

}  // namespace grove
