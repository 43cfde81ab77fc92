#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/table_bytes.hpp"
#include "base/timers.hpp"
#include "comm/communicator.hpp"
#include "comm/message_exchange.hpp"
#include "comm/routed_exchange.hpp"
#include "decomposition/known_cells.hpp"
#include "forest/forest.hpp"
#include "forest/top_tree.hpp"
#include "gravity/gravity_storage.hpp"
#include "let/reach.hpp"
#include "let/selection.hpp"
#include "let/told_targets.hpp"
#include "particles/particles.hpp"

namespace grove {

/// What ranks tell each other before a walk, in the memory of the host: moments of covers to all, and locally
/// essential trees to those in reach.
///
/// Where trees keep their shape for long, selections are kept. The first walks from some rung on through new
/// trees get what they open. Then, or at once if the trees before have lived that long, ranks select with
/// room for drift. Walks after that get the values of the same cells, nodes and particles alone: nobody says
/// what he wants, and all lengths are known. If active groups have left what was told of them, all ranks
/// select anew, with more room where that was; the notices of covers tell. What nodes have grown beyond,
/// walks find (OpensPruned); then exchange exactly(). Selections of three rungs at most are kept, the deepest
/// ones, which most steps are of.
class TreeExchange {
 public:
  explicit TreeExchange(const Communicator& comm) : comm_(comm) {}

  /// When and how selections are kept.
  struct Keeping {
    /// For the drift of particles, over the size of groups (ToldTargets). Less than zero, in tests: too
    /// little.
    float room = 0.125F;
    /// From some rung on, through trees of one shape. What is selected with room is half as much again, so a
    /// few walks are not worth it. Twice as many each time that selections of a rung are given up, as too
    /// many groups leave their room.
    int least_walks = 4;
  };
  /// From the next exchange on. The same on all ranks.
  void set_keeping(Keeping keeping) { keeping_ = keeping; }
  /// So many ranks, or more, send what is for far ones over others (RoutedExchange). The same on all ranks.
  void set_least_routed(int ranks) { least_routed_ = ranks; }

  /// The own trees and particles.
  struct Own {
    const GravitySetup& setup;
    const Domain& domain;
    const Forest& forest;
    const Particles& particles;
  };
  /// Collective, and each of the next two; in this order, and then end_walk(). first_active: the rung from
  /// which on particles walk. Adds to let and wait.
  void publish(const Own& own, int first_active, Selections selections, PhaseTimers& timers);
  /// Messages are under way from here on.
  void select(const GravitySetup& setup, const Forest& forest);
  GravityStorage::Imported import(std::span<const SourceTree> own);
  /// Gives messages a chance to move on.
  void progress();
  void end_walk();
  /// The trees have other shapes or owners from now on.
  void forget();

  /// What walks go through, until end_walk().
  TopTree top() const { return top_.view(); }
  std::span<const LeafRoot> roots() const { return top_.roots(); }
  std::span<const SourceTree> trees() const { return trees_; }
  TableBytes tables() const { return tables_; }

  /// How often ranks have exchanged trees: exactly what walks open; selected with room for drift; or the
  /// values of selections of before.
  struct Counts {
    int exact = 0, with_room = 0, kept = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  /// Every rank gives this for each of its covers.
  struct CoverNotice {
    TopMoments::Sum sum;
    Wanted wanted;
    bool holds;  ///< what was told of its targets before
  };
  /// The exchanges for walks from one rung on.
  struct OfRung {
    int walks = 0;              ///< since trees were new
    int renewed = 0, used = 0;  ///< selections since
    bool is_given_up = false;
    std::optional<ToldTargets> told;  ///< if the others are of selections with room
    std::optional<Reach> reach;
    std::vector<Selection> sent;  ///< by rank of reach->out()
    std::vector<Message> received;
  };

  bool may_keep(int first_active) const;
  std::vector<CoverNotice> notices(const Own& own, bool holds) const;
  std::vector<CoverNotice> gather(const std::vector<CoverNotice>& own, PhaseTimers& timers) const;
  template <class Take>
  void for_each_target(const Forest& forest, std::int32_t cover, const Take& take) const;
  void send_targets(const Forest& forest);
  std::vector<LeafTargets> targets_of(const Reach::Part& part, const GravitySetup& setup,
                                      std::span<const Message> received, std::size_t& next) const;
  void select_anew(const GravitySetup& setup, const Forest& forest);
  void send_values(const Forest& forest);
  bool goes_straight(const Reach::Part& part) const { return part.is_near || comm_.size() < least_routed_; }
  std::vector<Message> receive();
  void give_up(int first_active);
  void count_kept(int first_active);

  const Communicator& comm_;
  Keeping keeping_;
  int least_routed_ = 32;
  std::map<int, OfRung> of_rung_;
  std::map<int, int> walks_before_;  ///< from each rung on, through the trees before
  std::map<int, int> least_walks_;   ///< from each rung on that selections were given up of
  TopMoments top_;
  KnownCells known_;
  TableBytes tables_;
  Counts counts_;
  std::vector<SourceTree> trees_;  ///< of the own leaves and of those that were imported

  // During a walk.
  OfRung* now_ = nullptr;                    ///< from its rung on
  bool keeps_ = false;                       ///< it is to have room, or has
  bool is_kept_ = false;                     ///< only values travel
  std::vector<Wanted> wanted_;               ///< by cover
  std::optional<MessageExchange> exchange_;  ///< with near ranks
  std::optional<RoutedExchange> routed_;     ///< with far ones
};

}  // namespace grove
