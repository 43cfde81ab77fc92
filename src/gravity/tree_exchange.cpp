#include "gravity/tree_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "let/drift_room.hpp"

namespace grove {
void TreeExchange::publish(const Own& own, int first_active, Selections selections, PhaseTimers& timers) {
  std::vector<CoverNotice> mine;
  tables_ = {};
  const int kind = LetKeeping::kind_of(first_active, own.setup.walk.gravity.images.expands_far());
  now_ = &of_kind_[kind];
  bool has_told = false;
  {
    const auto timer = timers.time("let");
    known_ = known_cells(own.domain, comm_.rank());
    const WalkSetup& walk = own.setup.walk;
    const auto rule = AcceptanceRule::of(walk.gravity, walk.units, own.setup.median_acceleration);
    std::vector<LeafRoot> roots;
    for (std::int32_t i = 0; i < own.forest.leaves(); ++i) roots.push_back(own.forest.root(i));
    top_.begin(known_.cells, own.domain.own, roots, walk.units, rule, walk.gravity.images.least_ball);
    keeps_ = keeping_.begin(kind, wish_of(selections, own.setup));
    if (!keeps_) now_->told.reset();
    has_told = now_->told.has_value();
    const ToldTargets::Now groups{own.forest,
                                  own.particles,
                                  own.domain.leaf_begin,
                                  rule,
                                  to_walk_acceleration(1, walk.gravity.gravitational_constant, walk.units),
                                  walk.units.length};
    const bool holds = has_told && now_->told->hold(groups);
    if (keeps_ && !has_told) now_->told.emplace(groups, first_active, keeping_.room());
    mine = notices(own, holds);
  }
  const std::vector<CoverNotice> all = gather(mine, timers);
  const auto timer = timers.time("let");
  for (std::size_t cover = 0; cover < all.size(); ++cover) top_.take(known_.cover[cover], all[cover].sum);
  top_.finish();
  if (own.setup.walk.gravity.images.expands_far()) exchange_far(own);
  wanted_.clear();
  for (const CoverNotice& notice : all) wanted_.push_back(notice.wanted);
  is_kept_ = has_told && std::all_of(all.begin(), all.end(), [](const auto& notice) { return notice.holds; });
  if (!is_kept_) {
    now_->reach.emplace(known_, top_.view(), wanted_, own.setup.walk.units.length,
                        keeps_ ? keeping_.room() / 2 : 0.F, comm_.rank(), own.setup.walk.gravity.images);
    send_targets(own.forest);
  }
  if (const auto freed = keeping_.end(is_kept_)) of_kind_.erase(*freed);
  tables_[TableBytes::cells] = bytes_of(known_.pruned, known_.cover);
  tables_[TableBytes::runs] = bytes_of(known_.first_cover);
  tables_[TableBytes::notices] = bytes_of(all, wanted_);
  tables_[TableBytes::top_tree] = top_.bytes();
  tables_[TableBytes::search] = now_->reach->bytes();
}

/// Moments for expansions, of the covers of all ranks and above.
void TreeExchange::exchange_far(const Own& own) {
  const Images& images = own.setup.walk.gravity.images;
  top_.begin_far(own.far_moments, images);
  if (comm_.size() > 1) {
    std::vector<FarMoments> mine;
    const auto rank = static_cast<std::size_t>(comm_.rank());
    for (std::int32_t c = known_.first_cover[rank]; c < known_.first_cover[rank + 1]; ++c)
      mine.push_back(top_.far_moments()[static_cast<std::size_t>(known_.cover[static_cast<std::size_t>(c)])]);
    const std::vector<FarMoments> all = comm_.all_gather_arrays(
        std::span<const FarMoments>(mine), std::span<const Count>(known_.covers_of_ranks()));
    for (std::size_t cover = 0; cover < all.size(); ++cover) top_.take_far(known_.cover[cover], all[cover]);
  }
  top_.finish_far(images);
}

/// What all ranks are to know of the own covers.
std::vector<TreeExchange::CoverNotice> TreeExchange::notices(const Own& own, bool holds) const {
  std::vector<CoverNotice> mine;
  const auto rank = static_cast<std::size_t>(comm_.rank());
  for (std::int32_t c = known_.first_cover[rank]; c < known_.first_cover[rank + 1]; ++c) {
    CoverNotice notice{top_.sum(known_.cover[static_cast<std::size_t>(c)]), Wanted::nothing(), holds};
    for_each_target(own.forest, c, [&](const LeafTargets& leaf) {
      notice.wanted = Wanted::united_if_any(notice.wanted, leaf.wanted(own.setup.walk.units.length));
    });
    mine.push_back(notice);
  }
  return mine;
}

std::vector<TreeExchange::CoverNotice> TreeExchange::gather(const std::vector<CoverNotice>& own,
                                                            PhaseTimers& timers) const {
  const auto timer = timers.time("wait");  // for slower ranks
  return comm_.all_gather_arrays(std::span<const CoverNotice>(own),
                                 std::span<const Count>(known_.covers_of_ranks()));
}

/// The leaves of an own cover with active particles, or what is told of them.
template <class Take>
void TreeExchange::for_each_target(const Forest& forest, std::int32_t cover, const Take& take) const {
  const TopLinks& cell = top_.view().links[known_.cover[static_cast<std::size_t>(cover)]];
  for (std::int32_t leaf = cell.first_leaf; leaf < cell.first_leaf + cell.leaves; ++leaf) {
    const TargetLeaf target = forest.target(leaf);
    const LeafTargets targets = now_->told ? now_->told->leaves()[static_cast<std::size_t>(leaf)]
                                           : LeafTargets{target.bounds, target.origin, target.ball};
    if (!targets.are_none()) take(targets);
  }
}

/// Near ranks whose cells own walks may open get the bounds of all leaves in the covers from where. For far
/// ones the covers say enough.
void TreeExchange::send_targets(const Forest& forest) {
  std::vector<Message> messages;
  for (const Reach::Part& part : now_->reach->in()) {
    if (!part.is_near) continue;
    std::vector<LeafTargets> targets;
    for (const std::int32_t cover : part.own)
      for_each_target(forest, cover, [&](const LeafTargets& leaf) { targets.push_back(leaf); });
    messages.push_back({part.rank, pack_targets(targets)});
  }
  exchange_.emplace(comm_, std::move(messages), near_ranks_of(now_->reach->out()));
}

void TreeExchange::select(const GravitySetup& setup, const Forest& forest) {
  is_kept_ ? send_values(forest) : select_anew(setup, forest);
}

void TreeExchange::select_anew(const GravitySetup& setup, const Forest& forest) {
  const std::vector<Message> received = exchange_->finish();
  const DriftRoom room = keeps_ ? DriftRoom{keeping_.room() / 2, now_->told->drift()} : DriftRoom{};
  std::vector<Message> straight, routed;
  std::size_t next = 0, most_bytes = 0;
  now_->sent.clear();
  for (const Reach::Part& part : now_->reach->out()) {
    const ReceiverSearch receivers(targets_of(part, setup, received, next), setup.walk.units,
                                   setup.walk.gravity.images);
    most_bytes = std::max<std::size_t>(most_bytes, receivers.bytes());
    std::vector<std::int32_t> nodes;
    for (const std::int32_t cover : part.own) nodes.push_back(known_.cover[static_cast<std::size_t>(cover)]);
    Selection selection;
    const auto tree = [&](std::int32_t leaf) { return forest.tree(leaf); };
    select_cells(top_.view(), part.own, nodes, receivers, tree, room, selection);
    const auto cell = [&](std::int32_t node) { return top_.cell(node); };
    (goes_straight(part) ? straight : routed)
        .push_back({part.rank, pack_let(selection, cell, tree, top_.far_moments())});
    if (keeps_) now_->sent.push_back(std::move(selection));
  }
  tables_[TableBytes::search] += most_bytes;
  for (const Message& message : received) tables_[TableBytes::notices] += bytes_of(message.blocks);
  std::vector<int> senders;
  for (const Reach::Part& part : now_->reach->in())
    if (goes_straight(part)) senders.push_back(part.rank);
  exchange_.emplace(comm_, std::move(straight), std::move(senders));
  if (comm_.size() >= least_routed_) routed_.emplace(comm_, std::move(routed));
}

/// Those that may open what is in reach of a rank. received: from near ranks, of which `next` comes next.
std::vector<LeafTargets> TreeExchange::targets_of(const Reach::Part& part, const GravitySetup& setup,
                                                  std::span<const Message> received,
                                                  std::size_t& next) const {
  if (part.is_near) return unpack_targets(received[next++]);
  std::vector<LeafTargets> targets;
  for (const std::int32_t cover : part.other)
    targets.push_back(LeafTargets::of(wanted_[static_cast<std::size_t>(cover)], setup.walk.units.length));
  return targets;
}

void TreeExchange::send_values(const Forest& forest) {
  std::vector<Message> straight, routed;
  const auto tree = [&](std::int32_t leaf) { return forest.tree(leaf); };
  const auto cell = [&](std::int32_t node) { return top_.cell(node); };
  for (std::size_t i = 0; i < now_->sent.size(); ++i) {
    const Reach::Part& part = now_->reach->out()[i];
    (goes_straight(part) ? straight : routed)
        .push_back({part.rank, pack_let_values(now_->sent[i], cell, tree, top_.far_moments())});
  }
  std::vector<MessageExchange::Renewed> renewed;
  for (std::size_t i = 0; i < now_->received.size(); ++i) {
    Message& message = now_->received[i];
    if (!goes_straight(now_->reach->in()[i])) continue;
    const std::size_t first = values_begin(message);
    renewed.push_back({std::move(message), first});
  }
  exchange_.emplace(comm_, std::move(straight), std::move(renewed));
  if (comm_.size() >= least_routed_) routed_.emplace(comm_, std::move(routed));
}

void TreeExchange::progress() {
  exchange_->progress();
  if (routed_) routed_->progress();
}

/// The messages of all ranks that own walks may open cells of, in order of these; new values in those of
/// before.
std::vector<Message> TreeExchange::receive() {
  std::vector<Message> near = exchange_->finish(), far, all;
  if (routed_) far = routed_->finish();
  exchange_.reset();
  routed_.reset();
  std::size_t next_near = 0, next_far = 0;
  for (std::size_t i = 0; i < now_->reach->in().size(); ++i) {
    if (goes_straight(now_->reach->in()[i])) {
      all.push_back(std::move(near.at(next_near++)));
      continue;
    }
    Message& message = far.at(next_far++);
    if (!is_kept_) {
      all.push_back(std::move(message));
      continue;
    }
    Message& before = all.emplace_back(std::move(now_->received[i]));
    std::copy(message.blocks.begin(), message.blocks.end(),
              before.blocks.begin() + static_cast<std::ptrdiff_t>(values_begin(before)));
  }
  return all;
}

GravityStorage::Imported TreeExchange::import(std::span<const SourceTree> own) {
  now_->received = receive();
  trees_.assign(own.begin(), own.end());
  trees_.resize(top_.roots().size());
  tables_[TableBytes::trees] = bytes_of(trees_);
  GravityStorage::Imported imported;
  for (const Message& message : now_->received) {
    const LetCounts counts = unpack_let(message, known_.cover, top_, trees_);
    imported.counts.trees += counts.trees;
    imported.counts.nodes += counts.nodes;
    imported.counts.particles += counts.particles;
    const std::size_t before = is_kept_ ? values_begin(message) : 0;
    imported.bytes += static_cast<Count>((message.blocks.size() - before) * sizeof(MessageBlock));
  }
  return imported;
}

void TreeExchange::end_walk() {
  if (!keeps_) now_->received = {};
}

void TreeExchange::forget() {
  keeping_.forget();
  of_kind_.clear();
  now_ = nullptr;
}

}  // namespace grove
