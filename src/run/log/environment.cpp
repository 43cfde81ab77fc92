#include "environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>

#include "comm/host.hpp"

namespace grove {
namespace {

void find_hosts(const Communicator& comm, Environment& where) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> own{};
  host_name().copy(own.data(), own.size() - 1);
  for (const auto& name : comm.all_gather(own)) {
    const std::string host = name.data();
    auto known = std::find_if(where.hosts.begin(), where.hosts.end(),
                              [&](const auto& entry) { return entry.first == host; });
    if (known == where.hosts.end()) known = where.hosts.emplace(known, host, 0);
    ++known->second;
    where.host_of.push_back(static_cast<std::size_t>(known - where.hosts.begin()));
  }
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.size(), line.find(": ") + 2));
  return "";
}

}  // namespace

Environment environment(const Communicator& comm) {
  Environment result;
  result.started = comm.broadcast(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))));
  find_hosts(comm, result);
  result.processor = comm.broadcast(processor());
  result.mpi = mpi_library();
  result.ranks = comm.size();
  return result;
}

}  // namespace grove
