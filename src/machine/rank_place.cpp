#include "machine/rank_place.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>

#include "comm/host.hpp"

namespace grove {
namespace {

/// A file of /sys; empty: there is none.
std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

CpuSet listed(const std::string& path) { return parse_cpus(content(path)).value_or(CpuSet{}); }

CpuSet allowed_cpus() {
  CpuSet cpus;
  cpu_set_t* const mask = CPU_ALLOC(cpus.size());
  const std::size_t bytes = CPU_ALLOC_SIZE(cpus.size());
  CPU_ZERO_S(bytes, mask);
  if (sched_getaffinity(0, bytes, mask) == 0)
    for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) cpus[cpu] = CPU_ISSET_S(cpu, bytes, mask) != 0;
  CPU_FREE(mask);
  return cpus;
}

CpuSet cores_of(const CpuSet& cpus) {
  CpuSet cores;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
    if (!cpus[cpu]) continue;
    const CpuSet siblings =
        listed(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    cores.set(siblings.any() ? siblings._Find_first() : cpu);
  }
  return cores;
}

/// The NUMA nodes of these processors.
CpuSet nodes_of(const CpuSet& cpus) {
  const CpuSet nodes = listed("/sys/devices/system/node/has_memory");
  CpuSet found;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (nodes[node] && (listed(fmt::format("/sys/devices/system/node/node{}/cpulist", node)) & cpus).any())
      found.set(node);
  return found;
}

int numa_of_pci(std::string address) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const std::string text = content("/sys/bus/pci/devices/" + address + "/numa_node");
  return text.empty() ? -1 : std::atoi(text.c_str());
}

}  // namespace

RankPlace place_of_this_rank(const RankGpu& gpu) {
  RankPlace place;
  host_name().copy(place.host.data(), place.host.size() - 1);
  place.cpus = allowed_cpus();
  place.cores = cores_of(place.cpus);
  place.numa = nodes_of(place.cpus);
  place.gpu = gpu;
  if (gpu.is_there) place.gpu.numa = numa_of_pci(gpu.pci.data());
  return place;
}

std::vector<RankPlace> all_places(const Communicator& comm, const RankGpu& own_gpu) {
  return comm.all_gather(place_of_this_rank(own_gpu));
}

std::string table_of(const std::vector<RankPlace>& places) {
  std::size_t host_width = 4, cpu_width = 10;
  for (const RankPlace& place : places) {
    host_width = std::max(host_width, std::strlen(place.host.data()));
    cpu_width = std::max(cpu_width, text_of(place.cpus).size());
  }
  std::string text = fmt::format("{:>5}  {:<{}}  {:<{}}  {:>5}  {:<6}  GPU\n", "rank", "host", host_width,
                                 "processors", cpu_width, "cores", "NUMA");
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    std::string gpu = "none";
    if (place.gpu.is_there) gpu = fmt::format("{}, {}", place.gpu.name.data(), place.gpu.pci.data());
    if (place.gpu.is_there && place.gpu.numa >= 0) gpu += fmt::format(", NUMA node {}", place.gpu.numa);
    text += fmt::format("{:>5}  {:<{}}  {:<{}}  {:>5}  {:<6}  {}\n", rank, place.host.data(), host_width,
                        text_of(place.cpus), cpu_width, place.cores.count(), text_of(place.numa), gpu);
  }
  return text;
}

}  // namespace grove
