#include "gravity/host_gravity.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "base/errors.hpp"
#include "comm/joint_reduction.hpp"
#include "comm/radix_select.hpp"
#include "decomposition/leaf_transfer.hpp"
#include "gravity/direct_forces.hpp"
#include "kernels/host/rope_walk.hpp"
#include "kernels/kokkos/particle_loops.hpp"
#include "let/selection.hpp"

namespace grove {

GravityStorage::Sums HostGravity::reduce(bool with_median) const {
  Sums sums;
  sums.particles = static_cast<Count>(particles_.size());
  if (!particles_.empty())
    sums.largest_mass = *std::max_element(particles_.mass.begin(), particles_.mass.end());
  JointReduction joint;
  joint.sum(sums.particles).max(sums.largest_mass);
  if (with_median)
    sums.median_acceleration = median(comm_, particles_.old_acceleration, joint);
  else
    joint.apply(comm_);
  return sums;
}

void HostGravity::grow(const Domain& domain, PhaseTimers& timers) {
  Array<Record> records = std::exchange(records_, {});
  forest_.build(particles_, domain.box, domain.leaf_begin, records, *builder_, &timers);
}

std::string HostGravity::refit(const GravitySetup& setup, const Domain& domain, int first_active, bool checks,
                               PhaseTimers& timers) {
  const auto timer = timers.time("moments");
  forest_.update(particles_, setup.walk.gravity, setup.walk.units, setup.median_acceleration, 0,
                 first_active);
  return checks ? lost_separation(particles_, domain.leaf_begin, forest_, parameters_) : std::string();
}

void HostGravity::publish(const GravitySetup& setup, const Domain& domain, PhaseTimers& timers) {
  std::vector<CoverNotice> own, all;
  tables_ = {};
  {
    const auto timer = timers.time("let");
    known_ = known_cells(domain, comm_.rank());
    std::vector<LeafRoot> roots;
    for (std::int32_t i = 0; i < forest_.leaves(); ++i) roots.push_back(forest_.root(i));
    const WalkSetup& walk = setup.walk;
    top_.begin(known_.cells, domain.first_leaf[static_cast<std::size_t>(comm_.rank())], roots, walk.units,
               AcceptanceRule::of(walk.gravity, walk.units, setup.median_acceleration));
    own = notices(setup);
  }
  {
    const auto timer = timers.time("wait");  // for slower ranks
    std::vector<Count> covers(static_cast<std::size_t>(comm_.size()));
    std::adjacent_difference(known_.first_cover.begin() + 1, known_.first_cover.end(), covers.begin());
    all = comm_.all_gather_arrays(std::span<const CoverNotice>(own), std::span<const Count>(covers));
  }
  const auto timer = timers.time("let");
  for (std::size_t cover = 0; cover < all.size(); ++cover) top_.take(known_.cover[cover], all[cover].sum);
  top_.finish();
  tables_[TableBytes::cells] = bytes_of(known_.cells, known_.cover);
  tables_[TableBytes::runs] = bytes_of(known_.first_cover);
  wanted_.clear();
  for (const CoverNotice& notice : all) wanted_.push_back(notice.wanted);
  tables_[TableBytes::notices] = bytes_of(all, wanted_);
  tables_[TableBytes::top_tree] = top_.bytes();
  reach_.emplace(known_, top_.view(), wanted_, setup.walk.units.length, comm_.rank());
  tables_[TableBytes::search] = reach_->bytes();
  send_targets();
}

/// What all ranks are to know of the own covers.
std::vector<HostGravity::CoverNotice> HostGravity::notices(const GravitySetup& setup) const {
  std::vector<CoverNotice> own;
  const auto rank = static_cast<std::size_t>(comm_.rank());
  for (std::int32_t c = known_.first_cover[rank]; c < known_.first_cover[rank + 1]; ++c) {
    CoverNotice notice{top_.sum(known_.cover[static_cast<std::size_t>(c)]), Wanted::nothing()};
    for_each_target(c, [&](const LeafTargets& leaf) {
      notice.wanted = Wanted::united_if_any(
          notice.wanted, Wanted::of_leaf(leaf.bounds, leaf.origin, setup.walk.units.length));
    });
    own.push_back(notice);
  }
  return own;
}

/// The leaves of an own cover with active particles.
template <class Take>
void HostGravity::for_each_target(std::int32_t cover, const Take& take) const {
  const std::int32_t first_own = known_.first_cover[static_cast<std::size_t>(comm_.rank())];
  const Cell& cell = known_.cover_cell(cover);
  const std::int32_t first = cell.first_leaf - known_.cover_cell(first_own).first_leaf;
  for (std::int32_t leaf = first; leaf < first + cell.leaves; ++leaf) {
    const TargetLeaf target = forest_.target(leaf);
    if (const LeafTargets targets{target.bounds, target.origin}; !targets.are_none()) take(targets);
  }
}

/// Near ranks whose cells own walks may open get the bounds of all leaves in the covers from where. For far
/// ones the covers say enough.
void HostGravity::send_targets() {
  std::vector<Message> messages;
  for (const Reach::Part& part : reach_->in()) {
    if (!part.is_near) continue;
    std::vector<LeafTargets> targets;
    for (const std::int32_t cover : part.own)
      for_each_target(cover, [&](const LeafTargets& leaf) { targets.push_back(leaf); });
    messages.push_back({part.rank, pack_targets(targets)});
  }
  exchange_.emplace(comm_, std::move(messages), near_ranks_of(reach_->out()));
}

void HostGravity::select(const GravitySetup& setup, const Domain&) {
  const std::vector<Message> received = exchange_->finish();
  std::vector<Message> messages;
  std::size_t next = 0, most_bytes = 0;
  for (const Reach::Part& part : reach_->out()) {
    std::vector<LeafTargets> targets;
    if (part.is_near)
      targets = unpack_targets(received[next++]);
    else
      for (const std::int32_t cover : part.other)
        targets.push_back(LeafTargets::of(wanted_[static_cast<std::size_t>(cover)], setup.walk.units.length));
    const ReceiverSearch receivers(targets, setup.walk.units);
    most_bytes = std::max<std::size_t>(most_bytes, receivers.bytes());
    std::vector<std::int32_t> nodes;
    for (const std::int32_t cover : part.own) nodes.push_back(known_.cover[static_cast<std::size_t>(cover)]);
    Selection selection;
    const auto tree = [&](std::int32_t leaf) { return forest_.tree(leaf); };
    select_cells(top_.view(), part.own, nodes, receivers, tree, selection);
    const auto cell = [&](std::int32_t node) { return top_.cell(node); };
    messages.push_back({part.rank, pack_let(selection, cell, tree)});
  }
  tables_[TableBytes::search] += most_bytes;
  for (const Message& message : received) tables_[TableBytes::notices] += bytes_of(message.blocks);
  exchange_.emplace(comm_, std::move(messages), ranks_of(reach_->in()));
}

/// With looks at the messages in between: MPI moves them only when it is called. Walks along ropes have one
/// pass alone, that of the others.
WalkCounts HostGravity::walk_own(const GravitySetup& setup, PhaseTimers& timers) {
  constexpr std::size_t leaves_per_look = 8;
  const auto timer = timers.time("own walk");
  own_ = forest_.own_leaves(particles_, particles_);
  WalkCounts counts;
  if (parameters_.walk == WalkKind::rope) return counts;
  const std::size_t leaves = own_.targets.size();
  for (std::size_t first = 0; first < leaves; first += leaves_per_look) {
    const std::size_t some = std::min(leaves_per_look, leaves - first);
    counts += grove::walk_own(setup.walk, std::span(own_.targets).subspan(first, some),
                              std::span(own_.trees).subspan(first, some),
                              std::span(own_.outputs).subspan(first, some));
    exchange_->progress();
  }
  return counts;
}

GravityStorage::Imported HostGravity::import(const GravitySetup&, const Domain&) {
  imported_ = exchange_->finish();
  exchange_.reset();
  trees_.assign(own_.trees.begin(), own_.trees.end());
  trees_.resize(top_.roots().size());
  tables_[TableBytes::trees] = bytes_of(trees_);
  Imported imported;
  for (const Message& message : imported_) {
    const LetCounts counts = unpack_let(message, known_.cover, top_, trees_);
    imported.counts.trees += counts.trees;
    imported.counts.nodes += counts.nodes;
    imported.counts.particles += counts.particles;
    imported.bytes += static_cast<Count>(message.blocks.size() * sizeof(MessageBlock));
  }
  return imported;
}

WalkCounts HostGravity::walk_others(const GravitySetup& setup, const Domain&, PhaseTimers& timers) {
  const auto timer = timers.time("other walk");
  if (parameters_.walk == WalkKind::rope)
    return rope_walk(setup.walk, setup.median_acceleration, RopeForest(top_.view(), trees_, top_.roots()),
                     own_.targets, own_.outputs);
  return grove::walk_others(setup.walk, own_.targets, top_.view(), trees_, own_.outputs);
}

std::array<WalkCounts, 2> HostGravity::try_walk(const GravitySetup& setup, const Domain&) {
  Particles unused;
  unused.acceleration.resize(particles_.size());
  unused.potential.resize(particles_.size());
  unused.work.resize(particles_.size());
  const Forest::OwnLeaves own = forest_.own_leaves(particles_, unused);
  const WalkCounts of_own = grove::walk_own(setup.walk, own.targets, own.trees, own.outputs);
  return {of_own, grove::walk_others(setup.walk, own.targets, top_.view(), trees_, own.outputs)};
}

void HostGravity::end_walk() {
  own_ = {};
  imported_.clear();
}

void HostGravity::sum_directly(const GravitySetup&, const Domain& domain, int first_active,
                               PhaseTimers& timers) {
  const auto timer = timers.time("other walk");
  evaluate_directly(comm_, particles_, domain, parameters_, first_active);
}

GravityStorage::Remembered HostGravity::remember(const GravitySetup&, const Domain&, int first_active, bool) {
  if (!external_.empty())
    run(particles_.size(), ExternalBody{external(), first_active, particles_.rung.data(),
                                        particles_.position.data(), particles_.acceleration.data()});
  Remembered remembered;
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    const std::uint8_t rung = particles_.rung[i];
    if (rung < first_active) continue;
    ++remembered.particles[rung];
    remembered.interactions[rung] += particles_.work[i];
    particles_.work[i] = work_per_cycle(particles_.work[i], rung);
    const auto strength = static_cast<float>(norm(particles_.acceleration[i].as<double>()));
    particles_.old_acceleration[i] = strength;
    if (!std::isfinite(strength)) ++remembered.not_finite;
  }
  return remembered;
}

void HostGravity::restore(State state, const Domain& domain) {
  forest_.adopt(std::move(state.trees), domain.box, domain.leaf_begin, *builder_);
}

void HostGravity::move_leaves(std::span<const std::int32_t> from, const Domain& domain) {
  Forest::Shape shape = forest_.take_shape();
  const LeafTransfer of_leaves(comm_, from, domain.first_leaf),
      of_nodes(comm_, from, domain.first_leaf, shape.trees.node_begin);
  of_leaves.apply(shape.origins);
  of_nodes.apply(shape.trees.links);
  if (parameters_.keeps_levels(domain.cells[0].count)) of_nodes.apply(shape.trees.levels);
  shape.trees.node_begin = of_leaves.beginnings(std::move(shape.trees.node_begin));
  forest_.adopt(std::move(shape), domain.box, domain.leaf_begin, *builder_);
}

}  // namespace grove
