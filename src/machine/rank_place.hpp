#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "machine/cpu_set.hpp"

namespace grove {

/// The GPU that a rank would use.
struct RankGpu {
  bool is_there = false;
  std::array<char, 64> name{}, pci{};  ///< its address on the bus of the host, "0000:1b:00.0"
  std::array<char, 16> identity{};     ///< of no other GPU, or part of one, anywhere
  std::int32_t numa = -1;  ///< the node that it is attached to; -1: not known, or there is one only
};

/// The place where a rank runs.
struct RankPlace {
  std::array<char, 64> host{};
  CpuSet cpus;   ///< logical processors that it may run on
  CpuSet cores;  ///< their cores, each by the first of its processors
  CpuSet numa;   ///< their NUMA nodes
  RankGpu gpu;
};

/// The place of this process; gpu: without its NUMA node, which is added. From the scheduler's mask and /sys.
RankPlace place_of_this_rank(const RankGpu& gpu);

/// Collective. By rank, everywhere.
std::vector<RankPlace> all_places(const Communicator& comm, const RankGpu& own_gpu);

/// A line per rank, with a head: rank, host, processors, NUMA nodes, GPU with its address and node.
std::string table_of(const std::vector<RankPlace>& places);

/// Warnings about what costs speed in this placement, each a sentence that says what to do.
std::vector<std::string> warnings_about(const std::vector<RankPlace>& places);

}  // namespace grove
