#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/table_bytes.hpp"
#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "comm/message_exchange.hpp"
#include "decomposition/gpu/device_exchange.hpp"
#include "decomposition/known_cells.hpp"
#include "gravity/gpu/device_forest.hpp"
#include "gravity/gravity_storage.hpp"
#include "kernels/cuda/let/leaf_lists.hpp"
#include "kernels/cuda/let/let_selection.hpp"
#include "kernels/cuda/let/told_targets.hpp"
#include "kernels/cuda/trees/device_top.hpp"
#include "kernels/cuda/walk/walk.hpp"
#include "let/let_keeping.hpp"
#include "let/let_table.hpp"
#include "let/reach.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// What ranks tell each other before a walk, of trees in the memory of GPUs: what TreeExchange is on the
/// host. Moments of covers to all, by way of the hosts; locally essential trees to those in reach, whose
/// values go from GPU to GPU. Cells, leaves and frames have the numbers that a rank gives those it knows.
/// Selections are kept from walk to walk where that pays (LetKeeping).
class DeviceTreeExchange {
 public:
  /// All must outlive this.
  DeviceTreeExchange(const Communicator& comm, const DeviceExchange& exchange,
                     const GravityParameters& parameters)
      : comm_(comm), exchange_(exchange), parameters_(parameters) {}
  DeviceTreeExchange(const DeviceTreeExchange&) = delete;
  DeviceTreeExchange& operator=(const DeviceTreeExchange&) = delete;

  /// The own trees, and the codes of nodes, which are alike on all ranks.
  struct Own {
    const GravitySetup& setup;
    const Domain& domain;
    const DeviceForest& forest;
    const DeviceParticles& particles;
    cuda::NodeCodes codes;
    const FarMoments* far_moments;  ///< of own leaves, where cells act through expansions
  };
  /// A rank tells this beside its covers.
  struct Said {
    Count groups = 0;  ///< that walk
    Count work = 0;    ///< of these: ActiveList::work()
    Count faults = 0;  ///< 1: nothing of its trees counts
  };
  /// Collective, and each of the next two; in this order. say: what this rank says; asked for behind the wait
  /// of the host for the own covers. is_at_fault: its trees do not count. Returns the sums of what ranks have
  /// said: where there are faults the walk goes no further. first_active: the rung from which on particles
  /// walk. Adds to let and wait.
  Said publish(const Own& own, int first_active, Selections selections, bool is_at_fault,
               const std::function<Said()>& say, PhaseTimers& timers);
  void select(const Own& own);
  /// forest: the own one, behind whose trees are those of others from then on, until it is updated.
  GravityStorage::Imported import(const Own& own, DeviceForest& forest);
  /// The trees have other shapes or owners from now on, and the domain may have other cells. Not collective.
  void has_new_trees(const Domain& domain);
  /// Trees are others, of as many nodes and particles as before. Not collective.
  void forget_selections();
  LetKeeping& keeping() { return keeping_; }

  /// Throws what has gone wrong in publish() or import() on this rank alone, if anything has.
  void throw_fault() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  /// The sources of walks. Throws likewise.
  cuda::WalkSources sources(const Own& own) const;
  const cuda::DeviceTop& top() const { return *now_->top; }
  /// Those in the memory of the host.
  TableBytes tables() const { return tables_; }

 private:
  /// The exchanges for walks of one kind (LetKeeping::kind_of()).
  struct OfKind {
    std::optional<cuda::DeviceTop> top;
    std::optional<cuda::ToldTargets> told;  ///< if the others are of selections with room
    std::optional<Reach> reach;
    std::optional<cuda::LetSelection> selection;  ///< for other ranks
    std::vector<LetTable> sent, received;         ///< by rank of reach->out(), reach->in()
    std::vector<std::int32_t> sent_cells;         ///< whose values are sent
    std::size_t roots = 0;                        ///< leaves that are known by their roots
    cuda::JointUpload shape;                      ///< of all that is known
    std::optional<std::size_t> places;  ///< in it: by known leaf, where its tree begins in the arrays of all
    cuda::DeviceArray<SourceFrame> frames;
    cuda::DeviceArray<Ball> balls;  ///< likewise, in a box whose cells have some
  };
  cuda::DeviceTop new_top(const Own& own) const;
  std::vector<cuda::CoverNotice> notices_or_none(const Own& own, int first_active, const AcceptanceRule& rule,
                                                 bool is_at_fault);
  std::vector<cuda::CoverNotice> notices(const Own& own, int first_active, const AcceptanceRule& rule);
  std::vector<cuda::CoverNotice> gather(const std::vector<cuda::CoverNotice>& own, Said& said,
                                        PhaseTimers& timers) const;
  void exchange_far(const Own& own);
  void find_reach(const Own& own, std::span<const cuda::CoverNotice> notices);
  Count leaves_in(std::span<const std::int32_t> covers) const;
  void exchange_targets(const Own& own);
  void send_tables();
  Count receive_tables();
  LetCounts received() const;
  cuda::DeviceArray<TopCell> exchange_values(const Own& now, const DeviceForest& forest,
                                             cuda::DeviceArray<FarMoments>& far, Count& bytes);
  std::vector<cuda::LeafPlace> own_places(const Own& own) const;
  std::vector<cuda::LeafPlace> places(const Own& own, const NumberedLets& lets) const;
  void make_frames(const Own& own, const cuda::KnownRoots& roots, const cuda::LeafPlace* places);

  const Communicator& comm_;
  const DeviceExchange& exchange_;
  const GravityParameters& parameters_;
  LetKeeping keeping_;
  KnownCells known_;  ///< where there are other ranks
  TopTable table_;
  std::map<int, OfKind> of_kind_;                 ///< whose selections are kept
  OfKind exact_;                                  ///< for the others
  std::map<int, cuda::LetNumbers> room_of_kind_;  ///< for what they find
  TableBytes tables_;
  // The last selection had these; the next one's are mostly the same.
  cuda::LeafRanges told_leaves_;
  std::optional<cuda::TargetClusters> clusters_;

  // During a walk.
  int kind_ = 0;
  OfKind* now_ = &exact_;                  ///< of its kind
  bool keeps_ = false;                     ///< it is to have room, or has
  bool is_kept_ = false;                   ///< only values travel
  cuda::DeviceArray<LeafNotice> notices_;  ///< of the own leaves
  std::vector<FarMoments> far_covers_;     ///< by cover, where cells act through expansions
  std::vector<Wanted> wanted_;             ///< by cover
  std::vector<Vec3d> centre_;              ///< by cell, of covers, and the next likewise
  std::vector<NodeCore> core_;
  std::vector<Ball> balls_;
  cuda::DeviceArray<LeafTargets> targets_;  ///< of other ranks, from publish() to select()
  // From select() to import().
  std::optional<cuda::LetArrays> packed_;
  cuda::DeviceArray<TopCell> sent_values_;
  cuda::DeviceArray<FarMoments> sent_far_;
  std::optional<MessageExchange> tables_under_way_;
  std::exception_ptr fault_;
};

}  // namespace grove
