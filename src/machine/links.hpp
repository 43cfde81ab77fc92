#pragma once

#include <span>
#include <string>
#include <vector>

namespace grove {

/// How two GPUs of this host are connected.
struct GpuLink {
  std::string first, second;  ///< addresses on the bus
  std::string kind;           ///< "NVLink", "PCIe, same switch", ...
  bool is_slow = false;       ///< through the processors' own links, or not directly at all
};

/// Between any two of these GPUs, asked of the driver's library (NVML), which is loaded for that; empty: it
/// is not there. gpus: addresses on the bus, "0000:1b:00.0".
std::vector<GpuLink> links_between(std::span<const std::string> gpus);

/// Adapters of this host that MPI can go around TCP with (InfiniBand, Omni-Path, Slingshot), "mlx5_0,
/// mlx5_1".
std::string fast_networks();

}  // namespace grove
