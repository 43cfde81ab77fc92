#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "forest/top_tree.hpp"
#include "kernels/cuda/let_selection.hpp"
#include "kernels/cuda/walk.hpp"
#include "let/gpu/device_forest.hpp"
#include "let/gravity.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// Gravity on particles in the memory of GPUs: what Gravity does on the host, pass for pass. Every bit of the
/// result is the same for any number of ranks; beside the host's it differs by rounding.
class DeviceGravity {
 public:
  /// exchange: made with the same communicator. All must outlive this.
  DeviceGravity(const Communicator& comm, const DeviceExchange& exchange, const GravityParameters& parameters)
      : comm_(comm), exchange_(exchange), parameters_(parameters) {}

  const GravityParameters& parameters() const { return parameters_; }

  /// As Gravity::evaluate(). records: as decompose() gives them, used up; none: the particles lie leaf by
  /// leaf.
  ForceReport evaluate(DeviceParticles& particles, const Domain& domain, cuda::DeviceRecords records,
                       PhaseTimers& timers);

 private:
  /// Sources of all leaves: the own ones, then what was imported.
  struct Sources {
    cuda::DeviceArray<NodeCore> core;
    cuda::DeviceArray<NodeMoments> moments;
    cuda::DeviceArray<NodeLinks> links;
    cuda::DeviceArray<SourceParticle> particles;
    cuda::DeviceArray<float> softening;
  };
  /// The top tree and what the leaves of all ranks published.
  struct Published {
    std::vector<LeafNotice> notices;  ///< by leaf of the ORB
    std::vector<Vec3d> origins;
    TopMoments moments;
    cuda::DeviceArray<Vec3d> centre;
    cuda::DeviceArray<NodeCore> core;
    cuda::DeviceArray<NodeMoments> second;
    cuda::DeviceArray<TopLinks> links;

    TopTree top() const {
      return {centre.data(), core.data(), second.data(), links.data(),
              static_cast<std::int32_t>(links.size())};
    }
  };

  WalkSetup agree_on_setup(const DeviceParticles& particles, const Domain& domain, ForceReport& report) const;
  void check_separations(const DeviceParticles& particles) const;
  void publish(const Domain& domain, const WalkSetup& setup, double median_acceleration);
  void import(const Domain& domain, const WalkUnits& units, ForceReport& report);
  void exchange_trees(const cuda::LetSelection& selection, std::vector<cuda::SourceLeaf>& table,
                      ForceReport& report);
  cuda::WalkSources sources() const;

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  GravityParameters parameters_;
  DeviceForest forest_;
  Published published_;
  std::optional<Sources> joint_;  ///< where anything was imported
  cuda::DeviceArray<cuda::SourceLeaf> table_;
};

}  // namespace grove
