#pragma once

#include <optional>
#include <vector>

#include "decomposition/host_rank.hpp"
#include "kernels/cuda/cuts/services/axis_counts.hpp"

namespace grove {

/// The part of an AxisCounterRank that the services see.
struct AxisCounter {
  RankParticles& host;
  bool one_launch_per_cell;
  std::optional<cuda::AxisCounts> counts{};
};

/// Particles in the memory of the host, of which the GPU counts what is left of a cut: the axis of each cell
/// is copied there, and the host divides the particles. The published scheme, for comparison. Cells that have
/// weights are counted on the host.
class AxisCounterRank : public HostRank {
 public:
  AxisCounterRank(Particles& particles, DecompositionReport& report, bool one_launch_per_cell)
      : HostRank(particles, report), counter_{own(), one_launch_per_cell} {}

  std::vector<ServiceEntry> services() override;
  void end_services() override;

 private:
  AxisCounter counter_;
};

}  // namespace grove
