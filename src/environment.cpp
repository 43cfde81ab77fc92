#include "environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>

namespace grove {
namespace {

using HostName = std::array<char, MPI_MAX_PROCESSOR_NAME>;

HostName host_name() {
  HostName name{};
  int length = 0;
  GROVE_MPI(MPI_Get_processor_name(name.data(), &length));
  return name;
}

void find_hosts(const Communicator& comm, Environment& where) {
  for (const HostName& name : comm.all_gather(host_name())) {
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

/// Its first line, or what stands before a comma.
std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  GROVE_MPI(MPI_Get_library_version(text.data(), &length));
  const std::string whole(text.data());
  return whole.substr(0, whole.find_first_of(",\n"));
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
