#include "gravity/gravity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "comm/radix_select.hpp"
#include "decomposition/leaf_transfer.hpp"
#include "gravity/critical_separation.hpp"
#include "gravity/direct_forces.hpp"
#include "gravity/resolution.hpp"
#include "kernels/kokkos/particle_loops.hpp"
#include "let/receivers.hpp"
#include "let/selection.hpp"

namespace grove {
namespace {

/// Own leaves between two looks at the messages under way: MPI moves them only when it is called.
constexpr std::size_t leaves_per_look = 8;

/// What was filled in of own leaves, in order.
struct OwnLeaves {
  std::vector<TargetLeaf> targets;
  std::vector<SourceTree> trees;
  std::vector<ForceOutput> outputs;
};

OwnLeaves views_of(const Forest& forest, Particles& particles) {
  OwnLeaves views;
  for (std::int32_t i = 0; i < forest.leaves(); ++i) {
    views.targets.push_back(forest.target(i));
    views.trees.push_back(forest.tree(i));
    views.outputs.push_back(forest.output(i, particles));
  }
  return views;
}

/// The first pass, with looks at the messages in between.
WalkCounts walk_own_leaves(const WalkSetup& setup, const OwnLeaves& own, MessageExchange& exchange) {
  WalkCounts counts;
  const std::size_t leaves = own.targets.size();
  for (std::size_t first = 0; first < leaves; first += leaves_per_look) {
    const std::size_t some = std::min(leaves_per_look, leaves - first);
    counts +=
        walk_own(setup, std::span(own.targets).subspan(first, some),
                 std::span(own.trees).subspan(first, some), std::span(own.outputs).subspan(first, some));
    exchange.progress();
  }
  return counts;
}

/// What the next steps need of the active particles' forces; counts them and their interactions.
void remember(Particles& particles, int first_active, ForceReport& report) {
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const std::uint8_t level = particles.level[i];
    if (level < first_active) continue;
    ++report.active_of[level];
    report.work[level] += particles.work[i];
    particles.work[i] = work_per_cycle(particles.work[i], level);
    const auto strength = static_cast<float>(norm(particles.acceleration[i].as<double>()));
    particles.old_acceleration[i] = strength;
    if (!std::isfinite(strength)) ++report.not_finite;
  }
}

}  // namespace

void ForceReport::add_over_ranks(const Communicator& comm) {
  std::array<Count, 8> counts = {interactions.cell, interactions.particle, interactions.tests, let.trees,
                                 let.nodes,         let.particles,         let_bytes,          not_finite};
  own.interactions = interactions.cell + interactions.particle;
  busiest = comm.max(own.interactions);
  comm.sum(std::span<Count>(counts));
  interactions = {counts[0], counts[1], counts[2]};
  let = {counts[3], counts[4], counts[5]};
  let_bytes = counts[6];
  not_finite = counts[7];
  comm.sum(std::span<Count>(active_of));
  comm.sum(std::span<Count>(work));
  active = std::accumulate(active_of.begin(), active_of.end(), Count{0});
  let_fraction =
      static_cast<double>(counts[4] + counts[5]) / static_cast<double>(std::max<Count>(1, particles));
}

GravitySetup Gravity::agree_on_setup(const Particles& particles, const Domain& domain) const {
  GravitySetup setup;
  setup.particles = comm_.sum(static_cast<Count>(particles.size()));
  if (parameters_.needs_old_acceleration())
    setup.median_acceleration = median(comm_, particles.old_acceleration);
  setup.opening_angle = parameters_.needs_old_acceleration() && setup.median_acceleration == 0;
  const double largest =
      comm_.max(particles.empty() ? 0 : *std::max_element(particles.mass.begin(), particles.mass.end()));
  const double softening = *std::max_element(parameters_.softening.begin(), parameters_.softening.end());
  const WalkUnits units = WalkUnits::of(domain.box.edge, softening, largest, setup.particles);
  check_range([&] { return farthest_particle(comm_, particles); }, parameters_, units, domain.box.edge,
              setup.particles, largest > 0);
  setup.walk = {setup.opening_angle ? parameters_.first_evaluation() : parameters_, units};
  return setup;
}

void Gravity::build(Particles& particles, const Domain& domain, Array<Record> records, PhaseTimers& timers) {
  forest_.build(particles, domain.box, domain.leaf_begin, records, tree_builder(parameters_), &timers);
}

std::vector<TargetBounds> Gravity::publish(const Domain& domain) {
  std::vector<LeafNotice> own;
  for (std::int32_t i = 0; i < forest_.leaves(); ++i)
    own.push_back({forest_.root(i), forest_.target(i).bounds});
  const std::vector<LeafNotice> all = comm_.all_gather_arrays(std::span<const LeafNotice>(own));

  std::vector<LeafRoot> roots;
  std::vector<TargetBounds> bounds;
  origins_.clear();
  for (const LeafNotice& notice : all) {
    origins_.push_back(notice.root.origin);
    roots.push_back(notice.root);
    bounds.push_back(notice.bounds);
  }
  const WalkSetup& walk = setup_.walk;
  top_.combine(domain.cells, roots, walk.units,
               AcceptanceRule::of(walk.gravity, walk.units, setup_.median_acceleration));
  return bounds;
}

std::vector<Message> Gravity::select(const Domain& domain, const WalkUnits& units,
                                     std::span<const TargetBounds> bounds) const {
  if (comm_.size() == 1) return {};
  const std::int32_t first = domain.first_leaf[static_cast<std::size_t>(comm_.rank())];
  const ReceiverSearch search(domain, comm_.rank(), bounds, origins_, units);
  std::map<int, Selection> selections;  // by receiving rank
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
  std::vector<Message> messages;
  for (auto& [rank, selection] : selections) {
    messages.push_back(
        {rank, pack_let(selection, [&](std::int32_t leaf) { return forest_.tree(leaf - first); })});
    selection = {};
  }
  return messages;
}

void Gravity::import(const std::vector<Message>& messages, const Domain& domain, ForceReport& report) {
  trees_.assign(static_cast<std::size_t>(domain.leaves()), SourceTree{});
  const auto first = static_cast<std::size_t>(domain.first_leaf[static_cast<std::size_t>(comm_.rank())]);
  for (std::int32_t i = 0; i < forest_.leaves(); ++i)
    trees_[first + static_cast<std::size_t>(i)] = forest_.tree(i);
  for (const Message& message : messages) {
    const LetCounts counts = unpack_let(message, origins_, trees_);
    report.let.trees += counts.trees;
    report.let.nodes += counts.nodes;
    report.let.particles += counts.particles;
    report.let_bytes += static_cast<Count>(message.blocks.size() * sizeof(MessageBlock));
  }
}

/// checks: whether single precision holds the separations.
void Gravity::update(const Particles& particles, const Domain& domain, bool checks, int first_active,
                     PhaseTimers& timers) {
  std::string fault;
  {
    const auto timer = timers.time("moments");
    forest_.update(particles, setup_.walk.gravity, setup_.walk.units, setup_.median_acceleration,
                   domain.first_leaf[static_cast<std::size_t>(comm_.rank())], first_active);
    if (checks) fault = lost_separation(particles, domain.leaf_begin, forest_, parameters_);
  }
  if (!checks) return;
  const auto timer = timers.time("wait");
  comm_.together([&] {
    if (!fault.empty()) throw InputError(fault);
  });
}

void Gravity::walk(Particles& particles, const Domain& domain, const EvaluationPlan& plan,
                   ForceReport& report, PhaseTimers& timers) {
  std::vector<Message> messages;
  {
    const auto timer = timers.time("let");
    const std::vector<TargetBounds> bounds = publish(domain);
    messages = select(domain, setup_.walk.units, bounds);
  }
  MessageExchange exchange(comm_, std::move(messages));
  const OwnLeaves own = views_of(forest_, particles);
  {
    const auto timer = timers.time("walk");
    report.interactions += walk_own_leaves(setup_.walk, own, exchange);
  }
  {
    const auto timer = timers.time("let");
    import(messages = exchange.finish(), domain, report);
  }
  {
    const auto timer = timers.time("walk");
    report.interactions += walk_others(setup_.walk, own.targets, top_.view(), trees_, own.outputs);
  }
  if (!setup_.tunes_groups(plan)) return;
  const auto timer = timers.time("tune");
  tune_groups(domain, particles);
}

/// Finds it for all particles, while the trees of the last walk are there.
void Gravity::tune_groups(const Domain& domain, const Particles& particles) {
  Particles unused;
  unused.acceleration.resize(particles.size());
  unused.potential.resize(particles.size());
  unused.work.resize(particles.size());
  const OwnLeaves own = views_of(forest_, unused);
  const auto cost = [&](double separation) {
    WalkSetup walk = setup_.walk;
    walk.critical_separation = in_walk_units(separation, walk.units);
    const WalkCounts counts[] = {walk_own(walk, own.targets, own.trees, own.outputs),
                                 walk_others(walk, own.targets, top_.view(), trees_, own.outputs)};
    return walk_cost(comm_, counts);
  };
  critical_separation_ = find_critical_separation(comm_, domain.box.edge, cost);
}

void Gravity::move_leaves(std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                          std::span<const Count> leaf_begin) {
  Forest::Shape shape = forest_.take_shape();
  const LeafTransfer of_leaves(comm_, from, to), of_nodes(comm_, from, to, shape.trees.node_begin);
  of_leaves.apply(shape.origins);
  of_nodes.apply(shape.trees.links);
  shape.trees.node_begin = of_leaves.beginnings(std::move(shape.trees.node_begin));
  forest_.adopt(std::move(shape), leaf_begin);
}

void Gravity::restore(const GravityState& state, Forest::Shape trees, std::span<const Count> leaf_begin) {
  setup_ = state.setup;
  critical_separation_ = state.critical_separation;
  forest_.adopt(std::move(trees), leaf_begin);
}

ForceReport Gravity::evaluate(Particles& particles, const Domain& domain, PhaseTimers& timers,
                              Array<Record> records, const EvaluationPlan& plan) {
  {
    const auto timer = timers.time("wait");  // so that no other phase counts waiting for slower ranks
    comm_.barrier();
  }
  const bool agrees = plan.grows || plan.first_active == 0;
  if (agrees) {
    const auto timer = timers.time("moments");
    setup_ = agree_on_setup(particles, domain);
  }
  ForceReport report;
  report.particles = setup_.particles;
  report.median_acceleration = setup_.median_acceleration;
  report.opening_angle = setup_.opening_angle;
  const double walked_before = timers.seconds("walk");
  if (plan.grows) build(particles, domain, std::move(records), timers);
  const bool is_direct = parameters_.is_direct(report.particles);
  if (is_direct) {
    const auto timer = timers.time("walk");
    report.interactions.particle =
        evaluate_directly(comm_, particles, domain, parameters_, plan.first_active);
  } else {
    update(particles, domain, agrees, plan.first_active, timers);
    if (parameters_.splits_groups()) {
      report.critical_separation = critical_separation_;
      setup_.walk.critical_separation = in_walk_units(critical_separation_, setup_.walk.units);
    }
    walk(particles, domain, plan, report, timers);
  }
  if (!is_direct) report.own.seconds = timers.seconds("walk") - walked_before;
  {
    const auto timer = timers.time("advance");
    if (!external_.empty())
      run(particles.size(), ExternalBody{external(), plan.first_active, particles.level.data(),
                                         particles.position.data(), particles.acceleration.data()});
    remember(particles, plan.first_active, report);
  }
  const auto timer = timers.time("wait");
  report.add_over_ranks(comm_);
  return report;
}

}  // namespace grove
