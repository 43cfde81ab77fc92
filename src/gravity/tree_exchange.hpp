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
#include "let/let_keeping.hpp"
#include "let/reach.hpp"
#include "let/selection.hpp"
#include "let/told_targets.hpp"
#include "particles/particles.hpp"

namespace grove {

/// What ranks tell each other before a walk, in the memory of the host: moments of covers to all, and locally
/// essential trees to those in reach. Selections are kept from walk to walk where that pays (LetKeeping);
/// notices of covers tell whether what was told of targets holds.
class TreeExchange {
 public:
  explicit TreeExchange(const Communicator& comm) : comm_(comm) {}

  /// So many ranks, or more, send what is for far ones over others (RoutedExchange). The same on all ranks.
  void set_least_routed(int ranks) { least_routed_ = ranks; }

  /// The own trees and particles.
  struct Own {
    const GravitySetup& setup;
    const Domain& domain;
    const Forest& forest;
    const Particles& particles;
    std::span<const FarMoments> far_moments;  ///< of own leaves, in a box whose cells act through expansions
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
  std::span<const FarMoments> far_moments() const { return top_.far_moments(); }
  std::span<const SourceTree> trees() const { return trees_; }
  TableBytes tables() const { return tables_; }

  LetKeeping& keeping() { return keeping_; }

 private:
  /// Every rank gives this for each of its covers.
  struct CoverNotice {
    TopMoments::Sum sum;
    Wanted wanted;
    bool holds;  ///< what was told of its targets before
  };
  /// The exchanges for walks of one kind (LetKeeping::kind_of()).
  struct OfKind {
    std::optional<ToldTargets> told;  ///< if the others are of selections with room
    std::optional<Reach> reach;
    std::vector<Selection> sent;  ///< by rank of reach->out()
    std::vector<Message> received;
  };

  void exchange_far(const Own& own);
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

  const Communicator& comm_;
  LetKeeping keeping_;
  int least_routed_ = 32;
  std::map<int, OfKind> of_kind_;
  TopMoments top_;
  KnownCells known_;
  TableBytes tables_;
  std::vector<SourceTree> trees_;  ///< of the own leaves and of those that were imported

  // During a walk.
  OfKind* now_ = nullptr;                    ///< of its kind
  bool keeps_ = false;                       ///< it is to have room, or has
  bool is_kept_ = false;                     ///< only values travel
  std::vector<Wanted> wanted_;               ///< by cover
  std::optional<MessageExchange> exchange_;  ///< with near ranks
  std::optional<RoutedExchange> routed_;     ///< with far ones
};

}  // namespace grove
