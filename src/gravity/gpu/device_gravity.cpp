#include "gravity/gpu/device_gravity.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "comm/radix_select.hpp"
#include "decomposition/gpu/device_transfer.hpp"
#include "gravity/critical_separation.hpp"
#include "gravity/gpu/gathered.hpp"
#include "gravity/resolution.hpp"
#include "kernels/cuda/cuts/services/digit_counts.hpp"
#include "kernels/cuda/device/urgent_work.hpp"
#include "kernels/cuda/direct/direct_force.hpp"
#include "kernels/cuda/let/leaf_lists.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/particles/particle_steps.hpp"
#include "kernels/cuda/trees/lost_separation.hpp"
#include "kernels/cuda/walk/rope_walk.hpp"

namespace grove {
namespace {

/// The lower median of |a_old| over all ranks; see grove::median().
float median_of(const Communicator& comm, const DeviceParticles& particles, Count all) {
  if (all == 0) return 0;
  const DigitCounter count_digits = [&](const DigitQuestion& question) {
    std::vector<Count> counts(std::size_t{1} << (question.high - question.low));
    cuda::count_digits(particles.values(fields::old_acceleration), particles.size(),
                       {question.prefix, question.high, question.low}, counts);
    return counts;
  };
  return std::bit_cast<float>(static_cast<std::uint32_t>(select_key(comm, 32, count_digits, (all - 1) / 2)));
}

/// To the end of what the GPU does in it.
template <class Work>
void timed(PhaseTimers& timers, const char* phase, const Work& work) {
  const auto timer = timers.time(phase);
  work();
  cuda::device_synchronise();
}

}  // namespace

GravitySetup DeviceGravity::agree_on_setup(const DeviceParticles& particles, const Domain& domain) const {
  GravitySetup setup;
  setup.particles = comm_.sum(static_cast<Count>(particles.size()));
  if (parameters_.needs_old_acceleration())
    setup.median_acceleration = median_of(comm_, particles, setup.particles);
  setup.opening_angle = parameters_.needs_old_acceleration() && setup.median_acceleration == 0;
  const double largest = comm_.max(cuda::largest_of(particles.values(fields::mass), particles.size()));
  const double softening = *std::max_element(parameters_.softening.begin(), parameters_.softening.end());
  const WalkUnits units = WalkUnits::of(domain.box.edge, softening, largest, setup.particles);
  check_range([&] { return farthest_particle(comm_, particles.download()); }, parameters_, units,
              domain.box.edge, setup.particles, largest > 0);
  setup.walk = {setup.opening_angle ? parameters_.first_evaluation() : parameters_, units};
  return setup;
}

void DeviceGravity::set_external(std::vector<ExternalPotential> potentials) {
  external_ = std::move(potentials);
  on_device_ = cuda::DeviceArray<ExternalPotential>{std::span<const ExternalPotential>(external_)};
}

void DeviceGravity::check_separations(const DeviceParticles& particles) const {
  const auto lost =
      cuda::find_lost_separation({particles.values(fields::position), particles.values(fields::mass),
                                  particles.values(fields::type), particles.values(fields::old_acceleration)},
                                 forest_.trees(), parameters_);
  if (!lost) return;
  const auto element = [](const auto* array, std::uint64_t i) {
    std::remove_cvref_t<decltype(*array)> value;
    cuda::device_download(&value, array + i, sizeof(value));
    return value;
  };
  const Vec3d* const position = particles.values(fields::position);
  const ParticleId* const id = particles.values(fields::id);
  const Vec3d first = element(position, lost->first);
  throw InputError(describe_lost_separation(element(id, lost->first), element(id, lost->second),
                                            element(position, lost->second) - first,
                                            first - element(forest_.trees().origin, lost->leaf)));
}

std::int32_t DeviceGravity::first_leaf(const Domain& domain) const {
  return domain.first_leaf[static_cast<std::size_t>(comm_.rank())];
}

/// Particles that a warp walks together where so many walk, unless several warps walk a group.
int DeviceGravity::targets_per_warp(Count particles) const {
  if (parameters_.tree == LocalTreeKind::octree) return group_size;
  return targets_per_warp_.value_or(cuda::default_targets_per_warp(particles));
}

/// What is walked, and how nodes are numbered on all ranks.
cuda::WalkTargets DeviceGravity::agree_on_targets(const Domain& domain, int first_active) {
  if (parameters_.tree == LocalTreeKind::octree)
    codes_ = cuda::NodeCodes::for_trees(comm_.max(forest_.largest_tree()));
  if (parameters_.splits_groups() && critical_separation_ > 0) return split_targets(domain);
  const bool all = first_active == 0;
  const Group* const groups = forest_.trees().groups;
  active_ = {};
  if (!all) active_ = cuda::active_groups(groups, forest_.groups(), group_size);
  const Count walked = comm_.sum(Count{all ? forest_.groups() : active_.count});
  const int parts = cuda::walk_parts(walked);
  const int wide =
      parts > 1 ? group_size : targets_per_warp(all ? domain.cells[0].count : walked * group_size);
  if (!all && wide > group_size) active_ = cuda::active_groups(groups, forest_.groups(), wide);
  return {forest_.trees(),
          forest_.leaf_of_group(),
          all ? forest_.groups() : active_.count,
          first_leaf(domain),
          all ? nullptr : active_.numbers.data(),
          parts,
          wide};
}

/// Parts of groups.
cuda::WalkTargets DeviceGravity::split_targets(const Domain& domain) {
  runs_ = cuda::split_groups(forest_.trees(), forest_.leaf_of_group(), forest_.groups(), forest_.buckets(),
                             in_walk_units(critical_separation_, setup_.walk.units));
  cuda::LeafTrees trees = forest_.trees();
  trees.groups = runs_.runs.data();
  const int parts = cuda::walk_parts(comm_.sum(Count{runs_.count}));
  return {trees, runs_.leaf_of_run.data(), runs_.count, first_leaf(domain), nullptr, parts};
}

/// Finds it for all particles, while the sources of the last walk are there.
void DeviceGravity::tune_groups(const DeviceParticles& particles, const Domain& domain) {
  const cuda::DeviceArray<Vec3f> acceleration(particles.size());
  const cuda::DeviceArray<float> potential(particles.size());
  const cuda::DeviceArray<std::uint32_t> work(particles.size());
  const cuda::WalkOutput unused{acceleration.data(), potential.data(), work.data()};
  const WalkSetup& setup = setup_.walk;
  const auto cost = [&](double separation) {
    critical_separation_ = separation;
    std::array<WalkCounts, 2> counts;
    const cuda::WalkTargets targets = agree_on_targets(domain, 0);
    comm_.together([&] {
      counts = {cuda::walk_own(setup.gravity, setup.units, own_sources(), targets, unused),
                cuda::walk_others(setup.gravity, setup.units, sources(), targets, unused)};
    });
    return walk_cost(comm_, counts);
  };
  critical_separation_ = find_critical_separation(comm_, domain.box.edge, cost);
}

/// As far as the own leaves have them.
cuda::WalkSources DeviceGravity::own_sources() const {
  const cuda::LeafTrees own = forest_.trees();
  return {{{nullptr, own.core, own.moments, own.links}, {}},
          own.sources,
          own.softening,
          own.children,
          nullptr,
          nullptr,
          codes_};
}

cuda::WalkSources DeviceGravity::sources() const {
  const cuda::TopSources top = top_.sources();
  cuda::WalkSources from = own_sources();
  from.nodes[0].frames = frames_.data();
  from.nodes[1] = top.cells;
  from.beginnings = top.beginnings;
  from.first_beginning = top.first_beginning;
  if (!joint_) return from;
  from.nodes[0] = {frames_.data(), joint_->core.data(), joint_->moments.data(), joint_->links.data()};
  from.particles = joint_->particles.data();
  from.softening = joint_->softening.data();
  from.children = joint_->children.data();
  return from;
}

WalkCounts DeviceGravity::walk_along_ropes(const DeviceParticles& particles, const Domain& domain,
                                           int first_active, const cuda::WalkOutput& output) const {
  const cuda::TopCells cells = top_.cells();
  const auto ropes = cuda::top_ropes(top_.sources(), cells, static_cast<std::size_t>(domain.leaves()));
  const cuda::ActiveList active =
      cuda::active_particles(particles.values(fields::level), particles.size(), first_active);
  return cuda::rope_walk(setup_.walk.gravity, setup_.walk.units, setup_.median_acceleration, sources(),
                         {cells, ropes.data()},
                         {forest_.trees(), first_leaf(domain), particles.values(fields::old_acceleration),
                          active.numbers.data(), active.count},
                         output);
}

/// Every rank sums over the particles of all, in the order of the leaves.
void DeviceGravity::sum_directly(const DeviceParticles& particles, int first_active) const {
  const std::size_t count = particles.size();
  cuda::DirectParticles all{particles.values(fields::position), particles.values(fields::mass),
                            particles.values(fields::type), count};
  cuda::DeviceArray<Vec3d> position;
  cuda::DeviceArray<double> mass;
  cuda::DeviceArray<std::uint8_t> type;
  if (comm_.size() > 1) {
    position = gathered(comm_, exchange_, all.position, count);
    mass = gathered(comm_, exchange_, all.mass, count);
    type = gathered(comm_, exchange_, all.type, count);
    all = {position.data(), mass.data(), type.data(), position.size()};
  }
  const auto first = static_cast<std::size_t>(comm_.exclusive_scan(static_cast<Count>(count)));
  cuda::direct_force(setup_.walk.gravity, setup_.walk.units, all,
                     {first, count, particles.values(fields::level), first_active},
                     particles.values(fields::acceleration), particles.values(fields::potential));
  cuda::set_work(particles.values(fields::level), count, first_active,
                 static_cast<std::uint32_t>(setup_.particles), particles.values(fields::work));
}

/// What the leaves' trees do to the active particles. The own leaf acts on each group while trees are
/// exchanged.
void DeviceGravity::walk_trees(const DeviceParticles& particles, const Domain& domain,
                               const EvaluationPlan& plan, ForceReport& report, PhaseTimers& timers) {
  const int first_active = plan.first_active;
  const WalkSetup& setup = setup_.walk;
  const cuda::WalkOutput output{particles.values(fields::acceleration), particles.values(fields::potential),
                                particles.values(fields::work)};
  cuda::WalkTargets targets;
  std::optional<cuda::OwnWalk> own;
  {
    const auto timer = timers.time("let");
    targets = agree_on_targets(domain, first_active);
    if (parameters_.walk == WalkKind::groups)
      comm_.together([&] { own.emplace(setup.gravity, setup.units, own_sources(), targets, output); });
    const cuda::UrgentWork urgent;
    publish(domain);
    import(domain, report);
    urgent.wait();
  }
  timed(timers, "walk", [&] {
    comm_.together([&] {
      if (own) {
        report.interactions += own->finish();
        timers.add("own walk", own->seconds());
      }
      const auto timer = timers.time("other walk");
      report.interactions += own ? cuda::walk_others(setup.gravity, setup.units, sources(), targets, output)
                                 : walk_along_ropes(particles, domain, first_active, output);
    });
  });
  if (setup_.tunes_groups(plan)) timed(timers, "tune", [&] { tune_groups(particles, domain); });
  joint_.reset();
}

void DeviceGravity::grow(DeviceParticles& particles, const Domain& domain, cuda::DeviceRecords records,
                         PhaseTimers& timers) {
  timed(timers, "build", [&] {
    if (records.size() != particles.size()) {
      records = cuda::DeviceRecords(particles.size());
      cuda::make_records(domain.box, particles.values(fields::position), particles.size(), 0, records);
    }
    comm_.together(
        [&] { forest_.cut(particles, domain.leaf_begin, records, targets_per_warp(domain.cells[0].count)); });
    records = {};
  });
  timed(timers, "sort", [&] { forest_.arrange(particles); });
  has_new_cells_ = true;
}

void DeviceGravity::recut(DeviceParticles& particles, Domain& domain, int first_active, double cut_rate,
                          PhaseTimers& timers) {
  timed(timers, "build", [&] {
    blocks_.recut(particles, forest_, domain, first_active, cut_rate,
                  targets_per_warp(domain.cells[0].count));
  });
  has_new_cells_ = true;
}

void DeviceGravity::move_leaves(std::span<const std::int32_t> from, const Domain& domain) {
  const LeafTransfer of_leaves(comm_, from, domain.first_leaf),
      of_nodes(comm_, from, domain.first_leaf, forest_.node_begin());
  cuda::DeviceArray<NodeLinks> links(of_nodes.size());
  transfer(exchange_, of_nodes, forest_.trees().links, links.data(), sizeof(NodeLinks));
  forest_.adopt(std::move(links), of_leaves.beginnings(forest_.node_begin()), domain.leaf_begin);
  blocks_.give_out(domain);
}

void DeviceGravity::restore(const GravityState& state, std::vector<BlockExcess::Block> blocks,
                            TreeShapes trees, const Domain& domain) {
  setup_ = state.setup;
  critical_separation_ = state.critical_separation;
  forest_.adopt(cuda::DeviceArray<NodeLinks>{std::span<const NodeLinks>(trees.links)},
                std::move(trees.node_begin), domain.leaf_begin);
  if (can_recut(domain)) blocks_.restore(domain, std::move(blocks));
  has_new_cells_ = true;
}

ForceReport DeviceGravity::evaluate(DeviceParticles& particles, const Domain& domain,
                                    cuda::DeviceRecords records, const EvaluationPlan& plan,
                                    PhaseTimers& timers) {
  timed(timers, "wait", [&] { comm_.barrier(); });  // so that no other phase counts waiting for slower ranks
  if (plan.grows) {
    grow(particles, domain, std::move(records), timers);
    if (can_recut(domain)) blocks_.begin(domain);
  }
  const bool agrees = plan.grows || plan.first_active == 0;
  if (agrees) timed(timers, "moments", [&] { setup_ = agree_on_setup(particles, domain); });
  ForceReport report;
  report.particles = setup_.particles;
  report.median_acceleration = setup_.median_acceleration;
  report.opening_angle = setup_.opening_angle;
  const auto walked = [&] { return timers.seconds("own walk") + timers.seconds("other walk"); };
  const double walked_before = walked();
  const bool is_direct = parameters_.is_direct(report.particles);
  if (is_direct) {
    timed(timers, "walk",
          [&] { timed(timers, "other walk", [&] { sum_directly(particles, plan.first_active); }); });
  } else {
    timed(timers, "moments", [&] {
      comm_.together([&] {
        forest_.update(particles, setup_.walk.gravity, setup_.walk.units, setup_.median_acceleration,
                       plan.first_active);
        if (agrees) check_separations(particles);
      });
    });
    if (parameters_.splits_groups()) report.critical_separation = critical_separation_;
    walk_trees(particles, domain, plan, report, timers);
  }
  if (!is_direct) report.own.seconds = walked() - walked_before;
  timed(timers, "advance", [&] {
    if (!is_direct && !setup_.opening_angle && can_recut(domain))
      blocks_.count(forest_, particles, plan.first_active);
    cuda::add_external(particles.size(), plan.first_active, device_external(),
                       particles.values(fields::level), particles.values(fields::position),
                       particles.values(fields::acceleration));
    const cuda::LevelWork work = cuda::remember(particles.size(), plan.first_active, step_fields(particles));
    report.active_of = work.particles;
    report.work = work.interactions;
    report.not_finite = work.not_finite;
    if (is_direct)
      report.interactions.particle =
          std::accumulate(work.interactions.begin(), work.interactions.end(), Count{0});
  });
  timed(timers, "wait", [&] { report.add_over_ranks(comm_); });
  return report;
}

}  // namespace grove
