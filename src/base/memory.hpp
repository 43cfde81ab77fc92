#pragma once

#include <string>

namespace grove {

/// Memory of this process, bytes in RAM; 0 where the system does not tell (/proc/self of Linux).
struct MemoryUse {
  double now, peak;
};
MemoryUse memory_use();

/// Bytes in RAM that this host can still give, by /proc/meminfo; 0 where the system does not tell.
double available_on_host();

/// Bytes in RAM that this host can still give to processes of this job: the same within the limits of the
/// job's control groups. Cost: some files of the system, 0.1 ms.
double available_memory();

/// Bytes that the control groups which the file `membership` lists (as /proc/self/cgroup) leave, of version 1
/// or 2, mounted at root; infinite: there is no limit.
double room_in_control_groups(const std::string& root, const std::string& membership);

/// Makes the present use the peak so far, so that the peak of what follows can be told. No effect where the
/// system does not allow it.
void reset_peak_memory();

}  // namespace grove
