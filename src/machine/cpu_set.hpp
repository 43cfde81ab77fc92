#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

namespace grove {

/// Logical processors of a host, or its NUMA nodes, by number; those beyond 4095 are left out.
using CpuSet = std::bitset<4096>;

/// From a list as the kernel prints it, "0-3,8"; nothing if it is none.
std::optional<CpuSet> parse_cpus(std::string_view list);
/// The same list.
std::string text_of(const CpuSet& cpus);

}  // namespace grove
