#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "decomposition/decompose.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/rank_storage.hpp"
#include "kernels/cuda/cuts/bisection.hpp"
#include "kernels/cuda/cuts/services/places.hpp"
#include "kernels/cuda/cuts/services/resident_cells.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/math/led_positions.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// Particles in the memory of this rank's GPU; kernels of the CUDA backend. Only counts, cuts, cells and what
/// migrates cross to the host or to other ranks.
class DeviceRank : public RankStorage, private Settling {
 public:
  /// particles: with positions and ids, and with work if that is to be shared out. All outlive this.
  /// previous: the decomposition before this one; no cells: there is none.
  /// keep_records: take_records() will be called; arrange() may then leave the particles in another order,
  /// and in two parts (DeviceParticles::leave_in_parts()).
  DeviceRank(DeviceParticles& particles, const DeviceExchange& exchange,
             const DecompositionParameters& parameters, const Domain& previous, DecompositionReport& report,
             bool keep_records);

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
  std::span<const Cell> own_cells() const override { return own_cells_; }
  void arrange() override;
  /// The particles' records in the order of the leaves.
  cuda::DeviceRecords take_records() { return std::move(records_); }

  /// Makes top cell 0 of the records.
  void begin_services();
  /// Services work on these, after begin_services().
  cuda::ResidentCells& cells() { return *cells_; }

 private:
  bool take_inside(const Box& box) override;
  std::vector<PlaceSample> sample(const SampleRates& rates, int deepest) override;
  std::vector<PartWork> weigh_parts(std::span<const IntegerPosition> begin, int deepest) override;
  std::vector<Segment> settle(const Communicator& comm, const PlaceFinder& finder, const Box& box,
                              Count all) override;
  void take_portions(const Frontier& frontier, std::span<const Count> portions) override;
  std::vector<Segment> describe(const cuda::PartBegins& parts, std::span<const std::size_t> cover_cell,
                                int rank);
  std::vector<IntegerPosition> known_domain_cells() const;
  void make_room_for_cuts();
  void end_arrival();

  const Vec3d* positions() const { return particles_.values(fields::position); }
  LedPositions led_positions() const {
    return {positions(), particles_.values(fields::velocity), parameters_.lead};
  }
  const ParticleId* ids() const { return particles_.values(fields::id); }
  const std::uint32_t* weights() const { return weighted_ ? particles_.values(fields::work) : nullptr; }

  LedPositions arrived_positions() const;
  /// Collective. most: particles that leave any rank.
  void move_fields(const ExchangePlan& plan, const std::uint32_t* departing, Count most);
  void move_columns(const ExchangePlan& plan, const std::uint32_t* departing,
                    std::span<const DeviceParticles::Column> columns);
  void merge_arrivals(const Frontier& frontier, std::span<const Count> portions, const FrontierMoves& moves,
                      const ExchangePlan& plan, const Box& box, int rank);
  bool have_few_arrived() const;
  void leave_arrivals();
  void order_fields();
  bool cuts_by_weight(const CutScheme& scheme) const { return weighted_ && scheme.rule == CutRule::halves; }
  std::vector<Cell> cut_delegated_cell(const CutScheme& scheme, const Cell& root,
                                       const cuda::DeviceArray<DelegatedRecord>& received) const;
  std::vector<Cell> cut_by_services(const CutScheme& scheme, const cuda::SubtreeRoot& of);
  std::vector<std::vector<Cell>> cut_roots(const CutScheme& scheme, std::span<const cuda::SubtreeRoot> roots,
                                           std::size_t depth);

  DeviceParticles& particles_;
  const DeviceExchange& exchange_;
  const DecompositionParameters& parameters_;
  const Domain& previous_;
  DecompositionReport& report_;
  bool keep_records_;
  Box box_;                              ///< of the records
  cuda::Arriving<cuda::Extent> extent_;  ///< of the particles of this rank, as they came
  cuda::Arriving<cuda::WorkSum> work_;   ///< likewise
  bool weighted_ = false;                ///< particles have weights, on all ranks
  Count weight_ = 0;                     ///< of all particles of this rank
  std::size_t ids_;  ///< ids and weights there are: of the particles, then of those that have arrived
  std::optional<cuda::ResidentCells> cells_;
  std::vector<Count> portions_;          ///< of a decomposition in one round: records by frontier cell
  std::vector<Segment> segments_;        ///< of all records where domain cells were before; empty: not sorted
  cuda::DeviceRecords records_, spare_;  ///< while there are no cells_; in the order of the frontier cells
  std::vector<cuda::DeviceArray<std::byte>> arrived_;  ///< by column of the particles; empty: none migrated
  std::vector<Cell> own_cells_;
};

/// grove::decompose() of particles on GPUs; the same cells, cuts and leaves of ids, bit for bit. Collective.
/// exchange: made with the same communicator. Cost: see cuda::ResidentCells and cuda::cut_to_leaves(); device
/// memory: 32 bytes per record on top of the particles and of those that arrive (if records are asked for,
/// only of few: many take their places before cells are cut), and while they are ordered one field of them
/// again, while they migrate one field of those that leave, or 64 MiB; before that 24 bytes per record sent
/// to another rank to be cut and 68 per record received. records (out, optional): as there. Errors: as there,
/// and duplicate ids at any cut between them.
Domain decompose(const Communicator& comm, DeviceParticles& particles, const DeviceExchange& exchange,
                 const DecompositionParameters& parameters, const Domain& previous,
                 DecompositionReport& report, cuda::DeviceRecords* records = nullptr);

}  // namespace grove
