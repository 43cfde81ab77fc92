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

/// The memory that a group and those above it leave, by the files that tell its limit and its use. Pages of
/// files that were not used for a while are given up for anything else.
double room_of_group(const std::string& root, std::string group, const std::string& limit,
                     const std::string& usage, const std::string& idle) {
  double room = std::numeric_limits<double>::infinity();
  while (true) {
    const std::string folder = root + group + "/";
    const double most = number_in(folder + limit),
                 used = number_in(folder + usage) - number_of(folder + "memory.stat", idle);
    if (std::isfinite(most) && std::isfinite(used)) room = std::min(room, most - used);
    if (group.empty()) break;
    const std::size_t above = group.rfind('/');
    group.resize(above == std::string::npos ? 0 : above);
  }
  return std::max(room, 0.0);
}

}  // namespace

double room_in_control_groups(const std::string& root, const std::string& membership) {
  double room = std::numeric_limits<double>::infinity();
  std::ifstream file(membership);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = ",";
    controllers.append(line, first + 1, second - first - 1).push_back(',');
    const std::string group = line.substr(second + 1);
    if (controllers == ",,")  // version 2 has one tree for all
      room = std::min(room, room_of_group(root, group, "memory.max", "memory.current", "inactive_file"));
    if (controllers.find(",memory,") != std::string::npos)
      room = std::min(room, room_of_group(root + "/memory", group, "memory.limit_in_bytes",
                                          "memory.usage_in_bytes", "total_inactive_file"));
  }
  return room;
}

double available_on_host() { return 1024 * number_of("/proc/meminfo", "MemAvailable:"); }

double available_memory() {
  return std::min(available_on_host(), room_in_control_groups("/sys/fs/cgroup", "/proc/self/cgroup"));
}

void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets VmHWM to VmRSS
}

}  // namespace grove
