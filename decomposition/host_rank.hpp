#pragma once

#include <optional>
#include <vector>

#include "decomposition/decompose.hpp"
#include "decomposition/rank_storage.hpp"
#include "decomposition/services/rank_particles.hpp"

namespace grove {

/// Particles in the memory of the host; kernels of the host.
class HostRank : public RankStorage, private Settling {
 public:
  /// records (out, optional): as for decompose(). All outlive this. lead: of the cells.
  HostRank(Particles& particles, DecompositionReport& report, Array<Record>* records = nullptr,
           double lead = 0)
      : particles_(particles), report_(report), records_(records), own_{particles, lead} {}

  std::size_t size() const override { return particles_.size(); }
  bool has_work() override;
  Count weigh(bool weighted) override;
  Settling* settling() override { return this; }
  Box take_all(const Communicator& comm, const CellAxes& axes, const std::optional<Box>& previous,
               Cell& root) override;
  std::vector<ServiceEntry> services() override;
  Count most_delegated(const CutScheme& scheme, Count mean) const override;
  std::vector<Cell> cut_delegated(const Communicator& comm, const CutScheme& scheme,
                                  std::span<const Cell> top, const DelegatedCells& delegated) override;
  void divide_delegated(std::span<const Cell> top, const DelegatedCells& delegated) override;
  void end_services() override;
  std::vector<Count> portions(const Frontier& frontier) override;
  void migrate(const Communicator& comm, const Frontier& frontier, const FrontierMoves& moves,
               const Box& box) override;
  void cut_alone(const CutScheme& scheme, std::span<const Cell> top, const Frontier& frontier,
                 int rank) override;
  std::span<const Cell> own_cells() const override { return own_.own_cells; }
  void arrange() override;

 protected:
  RankParticles& own() { return own_; }

 private:
  bool take_inside(const Box& box) override;
  std::vector<PlaceSample> sample(const SampleRates& rates, int deepest) override;
  std::vector<PartWork> weigh_parts(std::span<const IntegerPosition> begin, int deepest) override;
  std::vector<Segment> settle(const Communicator& comm, const PlaceFinder& finder, const Box& box,
                              Count all) override;
  void take_portions(const Frontier& frontier, std::span<const Count> portions) override;

  Particles& particles_;
  DecompositionReport& report_;
  Array<Record>* records_;
  RankParticles own_;
  Count work_ = 0, idle_ = 0;  ///< of this rank, and particles without
  bool weighted_ = false;      ///< particles have weights, on all ranks
};

}  // namespace grove
