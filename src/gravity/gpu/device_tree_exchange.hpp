#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "base/table_bytes.hpp"
#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/known_cells.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "gravity/gravity_storage.hpp"
#include "kernels/cuda/let/let_selection.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/walk/walk.hpp"
#include "let/let_table.hpp"
#include "let/reach.hpp"

namespace grove {

/// What ranks tell each other before a walk, of trees in the memory of GPUs: what TreeExchange is on the
/// host. Moments of covers to all, by way of the hosts; locally essential trees to those in reach, whose
/// values go from GPU to GPU. Cells, leaves and frames have the numbers that a rank gives those it knows.
/// Selections are made anew for each walk.
class DeviceTreeExchange {
 public:
  /// All must outlive this.
  DeviceTreeExchange(const Communicator& comm, const DeviceExchange& exchange,
                     const GravityParameters& parameters)
      : comm_(comm), exchange_(exchange), parameters_(parameters) {}

  /// The own trees, and the codes of nodes, which are alike on all ranks.
  struct Own {
    const GravitySetup& setup;
    const Domain& domain;
    const DeviceForest& forest;
    cuda::NodeCodes codes;
  };
  /// Collective, and each of the next two; in this order. Adds to let and wait.
  void publish(const Own& own, PhaseTimers& timers);
  void select(const Own& own);
  /// forest: the own one, behind whose trees are those of others from then on, until it is updated.
  GravityStorage::Imported import(const Own& own, DeviceForest& forest);
  /// There are other cells or owners from now on.
  void forget() { has_new_cells_ = true; }

  /// The sources of walks. Throws what went wrong in import() on this rank alone.
  cuda::WalkSources sources(const Own& own) const;
  const cuda::DeviceTop& top() const { return top_; }
  /// Those in the memory of the host.
  TableBytes tables() const { return tables_; }

 private:
  void know(const Own& own);
  std::vector<cuda::CoverNotice> gather(const std::vector<cuda::CoverNotice>& own, PhaseTimers& timers) const;
  void find_reach(const Own& own, std::span<const cuda::CoverNotice> notices);
  Count leaves_in(std::span<const std::int32_t> covers) const;
  cuda::LetTargets exchange_targets(const Own& own);
  std::vector<LetTable> exchange_tables(std::vector<std::int32_t>& sent);
  void exchange_values(const DeviceForest& forest, const cuda::LetArrays& packed,
                       std::span<const LetTable> received, std::span<const std::int32_t> sent_cells,
                       cuda::DeviceArray<TopCell>& top_cells, GravityStorage::Imported& imported);
  void place_trees(const Own& own, std::span<const LetTable> received, const NumberedLets& lets);
  void make_frames(const Own& own, const cuda::KnownRoots& roots);

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  const GravityParameters& parameters_;
  bool has_new_cells_ = true;
  KnownCells known_;  ///< where there are other ranks
  TopTable table_;
  cuda::DeviceTop top_;
  TableBytes tables_;

  // During a walk.
  cuda::DeviceArray<LeafNotice> notices_;  ///< of the own leaves
  std::vector<Wanted> wanted_;             ///< by cover
  std::vector<Vec3d> centre_;              ///< by cell, of covers, and the next likewise
  std::vector<NodeCore> core_;
  std::optional<Reach> reach_;
  std::vector<LetTable> tables_out_;     ///< by rank of reach_->out()
  std::vector<cuda::LeafPlace> places_;  ///< by known leaf, where its tree begins in the arrays of all
  cuda::DeviceArray<SourceFrame> frames_;
  std::optional<cuda::LetSelection> selection_;  ///< for other ranks
  std::exception_ptr fault_;
};

}  // namespace grove
