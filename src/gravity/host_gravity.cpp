#include "gravity/host_gravity.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/errors.hpp"
#include "comm/joint_reduction.hpp"
#include "comm/radix_select.hpp"
#include "decomposition/leaf_transfer.hpp"
#include "gravity/direct_forces.hpp"
#include "kernels/host/rope_walk.hpp"
#include "kernels/kokkos/particle_loops.hpp"
#include "let/receivers.hpp"
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
  forest_.update(particles_, setup.walk.gravity, setup.walk.units, setup.median_acceleration,
                 static_cast<std::int32_t>(first_leaf(domain)), first_active);
  return checks ? lost_separation(particles_, domain.leaf_begin, forest_, parameters_) : std::string();
}

void HostGravity::publish(const GravitySetup& setup, const Domain& domain, PhaseTimers& timers) {
  std::vector<LeafNotice> own, all;
  {
    const auto timer = timers.time("let");
    for (std::int32_t i = 0; i < forest_.leaves(); ++i)
      own.push_back({forest_.root(i), forest_.target(i).bounds});
  }
  {
    const auto timer = timers.time("wait");  // for slower ranks
    std::vector<Count> leaves(static_cast<std::size_t>(comm_.size()));
    for (std::size_t rank = 0; rank < leaves.size(); ++rank)
      leaves[rank] = domain.first_leaf[rank + 1] - domain.first_leaf[rank];
    all = comm_.all_gather_arrays(std::span<const LeafNotice>(own), std::span<const Count>(leaves));
  }
  const auto timer = timers.time("let");
  roots_.clear();
  bounds_.clear();
  origins_.clear();
  for (const LeafNotice& notice : all) {
    origins_.push_back(notice.root.origin);
    roots_.push_back(notice.root);
    bounds_.push_back(notice.bounds);
  }
  tables_ = {};
  tables_[TableBytes::notices] = bytes_of(all, roots_, bounds_, origins_);
  const WalkSetup& walk = setup.walk;
  top_.combine(domain.cells, roots_, walk.units,
               AcceptanceRule::of(walk.gravity, walk.units, setup.median_acceleration));
  tables_[TableBytes::top_tree] = top_.bytes();
}

void HostGravity::select(const GravitySetup& setup, const Domain& domain) {
  std::map<int, Selection> selections;  // by receiving rank
  const auto first = static_cast<std::int32_t>(first_leaf(domain));
  if (comm_.size() > 1) {
    const ReceiverSearch search(domain, comm_.rank(), bounds_, origins_, setup.walk.units);
    tables_[TableBytes::search] = search.bytes();
    tables_[TableBytes::exchange] = 2 * bytes_of(std::vector<Count>(static_cast<std::size_t>(comm_.size())));
    std::vector<Receiver> receivers;
    for (std::int32_t i = 0; i < forest_.leaves(); ++i) {
      search.find(first + i, top_.view(), receivers);
      for (std::size_t begin = 0, end = 0; begin < receivers.size(); begin = end) {
        const int rank = receivers[begin].rank;
        while (end < receivers.size() && receivers[end].rank == rank) ++end;
        select_nodes(forest_.tree(i), first + i, std::span(receivers).subspan(begin, end - begin),
                     selections[rank]);
      }
    }
  }
  std::vector<Message> messages;
  for (auto& [rank, selection] : selections) {
    messages.push_back(
        {rank, pack_let(selection, [&](std::int32_t leaf) { return forest_.tree(leaf - first); })});
    selection = {};
  }
  exchange_.emplace(comm_, std::move(messages));
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

GravityStorage::Imported HostGravity::import(const GravitySetup&, const Domain& domain) {
  imported_ = exchange_->finish();
  exchange_.reset();
  trees_.assign(static_cast<std::size_t>(domain.leaves()), SourceTree{});
  std::copy(own_.trees.begin(), own_.trees.end(),
            trees_.begin() + static_cast<std::ptrdiff_t>(first_leaf(domain)));
  tables_[TableBytes::trees] = bytes_of(trees_);
  Imported imported;
  for (const Message& message : imported_) {
    const LetCounts counts = unpack_let(message, origins_, trees_);
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
    return rope_walk(setup.walk, setup.median_acceleration, RopeForest(top_.view(), trees_, roots_),
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

std::size_t HostGravity::first_leaf(const Domain& domain) const {
  return static_cast<std::size_t>(domain.first_leaf[static_cast<std::size_t>(comm_.rank())]);
}

}  // namespace grove
