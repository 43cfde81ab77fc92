#include "base/memory.hpp"

#include <fstream>
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

void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): resets VmHWM to VmRSS
}

}  // namespace grove
