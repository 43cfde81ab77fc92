#include "base/memory.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace grove {

MemoryUse memory_use() {
  MemoryUse use{0, 0};
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    double kilobytes = 0;
    if (key == "VmRSS:" && status >> kilobytes) use.now = 1024 * kilobytes;
    if (key == "VmHWM:" && status >> kilobytes) use.peak = 1024 * kilobytes;
    status.ignore(4096, '\n');
  }
  return use;
}

namespace {

/// The first word of a file as a number; infinite if there is none, as of "max".
double number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? value : std::numeric_limits<double>::infinity();
}

/// A line of a file with keys and numbers; 0 if there is none.
double number_of(const std::string& path, const std::string& wanted) {
  std::ifstream file(path);
  double value = 0;
  for (std::string key; file >> key; file.ignore(4096, '\n'))
    if (key == wanted && file >> value) return value;
  return 0;
}

/// What the control group of this process, and those above it, leave. Pages of files that were not used for a
/// while are given up for anything else.
double room_in_control_groups() {
  const std::string root = "/sys/fs/cgroup";
  std::ifstream file("/proc/self/cgroup");
  std::string line, group;
  while (std::getline(file, line))
    if (line.rfind("0::", 0) == 0) group = line.substr(3);
  double room = std::numeric_limits<double>::infinity();
  for (; !group.empty();
       group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'))) {
    const double most = number_in(root + group + "/memory.max"),
                 used = number_in(root + group + "/memory.current") -
                        number_of(root + group + "/memory.stat", "inactive_file");
    if (std::isfinite(most) && std::isfinite(used)) room = std::min(room, most - used);
  }
  return room;
}

}  // namespace

double available_on_host() { return 1024 * number_of("/proc/meminfo", "MemAvailable:"); }

double available_memory() { return std::min(available_on_host(), room_in_control_groups()); }

void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets VmHWM to VmRSS
}

}  // namespace grove
