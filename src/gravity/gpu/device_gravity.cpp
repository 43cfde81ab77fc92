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
#include "comm/joint_reduction.hpp"
#include "comm/radix_select.hpp"
#include "decomposition/gpu/device_transfer.hpp"
#include "gravity/direct_forces.hpp"
#include "gravity/gpu/device_far_images.hpp"
#include "gravity/gpu/gathered.hpp"
#include "gravity/resolution.hpp"
#include "kernels/cuda/cuts/services/digit_counts.hpp"
#include "kernels/cuda/direct/direct_force.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/particles/particle_steps.hpp"
#include "kernels/cuda/trees/lost_separation.hpp"
#include "kernels/cuda/walk/rope_walk.hpp"

namespace grove {
namespace {

/// The lower median of |a_old| over all ranks; see grove::median().
float median_of(const Communicator& comm, const DeviceParticles& particles, JointReduction& joint) {
  const DigitCounter count_digits = [&](const DigitQuestion& question) {
    std::vector<Count> counts(std::size_t{1} << (question.high - question.low));
    cuda::count_digits(particles.values(fields::old_acceleration), particles.size(),
                       {question.prefix, question.high, question.low}, counts);
    return counts;
  };
  return std::bit_cast<float>(static_cast<std::uint32_t>(median_key(comm, 32, count_digits, joint)));
}

}  // namespace

GravityStorage::Sums DeviceGravity::reduce(bool with_median) const {
  Sums sums;
  sums.particles = static_cast<Count>(particles_.size());
  sums.largest_mass = cuda::largest_of(particles_.values(fields::mass), particles_.size());
  JointReduction joint;
  joint.sum(sums.particles).max(sums.largest_mass);
  if (with_median)
    sums.median_acceleration = median_of(comm_, particles_, joint);
  else
    joint.apply(comm_);
  return sums;
}

void DeviceGravity::set_external(std::vector<ExternalPotential> potentials) {
  external_ = std::move(potentials);
  on_device_ = cuda::DeviceArray<ExternalPotential>{std::span<const ExternalPotential>(external_)};
}

/// Says which separation single precision loses; empty: it loses none.
std::string DeviceGravity::fault_of_separations(const GravityParameters& gravity) const {
  const auto lost = cuda::find_lost_separation(
      {particles_.values(fields::position), particles_.values(fields::mass), particles_.values(fields::type),
       particles_.values(fields::old_acceleration)},
      forest_.trees(), gravity);
  if (!lost) return {};
  const auto element = [](const auto* array, std::uint64_t i) {
    std::remove_cvref_t<decltype(*array)> value;
    cuda::device_download(&value, array + i, sizeof(value));
    return value;
  };
  const Vec3d* const position = particles_.values(fields::position);
  const ParticleId* const id = particles_.values(fields::id);
  const Vec3d first = element(position, lost->first);
  return describe_lost_separation(element(id, lost->first), element(id, lost->second),
                                  element(position, lost->second) - first,
                                  first - element(forest_.trees().origin, lost->leaf));
}

/// Without walks nothing is counted by which blocks could be judged.
bool DeviceGravity::has_blocks(const Domain& domain) const {
  return parameters_.self_gravity && blocks_.can_recut(domain);
}

/// Particles that a warp walks together where so many walk, unless several warps walk a group.
int DeviceGravity::targets_per_warp(Count particles) const {
  if (!follows_from_counts(parameters_.tree)) return group_size;
  return targets_per_warp_.value_or(cuda::default_targets_per_warp(particles));
}

/// Chooses the groups that walk, and the numbers of nodes, which are alike on all ranks.
cuda::WalkTargets DeviceGravity::agree_on_targets(const GravitySetup& setup, const Domain& domain,
                                                  int first_active) {
  if (!follows_from_counts(parameters_.tree))
    codes_ = cuda::NodeCodes::for_trees(comm_.max(forest_.largest_tree()));
  if (setup.walk.critical_separation > 0) return split_targets(setup);
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
          all ? nullptr : active_.numbers.data(),
          parts,
          wide};
}

/// Parts of groups.
cuda::WalkTargets DeviceGravity::split_targets(const GravitySetup& setup) {
  runs_ = cuda::split_groups(forest_.trees(), forest_.leaf_of_group(), forest_.groups(), forest_.buckets(),
                             setup.walk.critical_separation);
  cuda::LeafTrees trees = forest_.trees();
  trees.groups = runs_.runs.data();
  const int parts = cuda::walk_parts(comm_.sum(Count{runs_.count}));
  return {trees, runs_.leaf_of_run.data(), runs_.count, nullptr, parts};
}

ForceOutput DeviceGravity::output() const {
  return {particles_.values(fields::acceleration), particles_.values(fields::potential),
          particles_.values(fields::work)};
}

std::array<WalkCounts, 2> DeviceGravity::try_walk(const GravitySetup& setup, const Domain& domain) {
  const cuda::WalkTargets targets = agree_on_targets(setup, domain, 0);
  const auto& [gravity, units, separation] = setup.walk;
  std::array<WalkCounts, 2> counts;
  comm_.together([&] {
    const cuda::DeviceArray<Vec3f> acceleration(particles_.size());
    const cuda::DeviceArray<float> potential(particles_.size());
    const cuda::DeviceArray<std::uint32_t> work(particles_.size());
    const ForceOutput unused{acceleration.data(), potential.data(), work.data()};
    counts = {cuda::walk_own(gravity, units, own_sources(), targets, unused),
              cuda::walk_others(gravity, units, trees_.sources(own(setup, domain)), targets, unused)};
  });
  return counts;
}

cuda::WalkSources DeviceGravity::own_sources() const {
  return cuda::WalkSources::of(forest_.trees(), codes_);
}

WalkCounts DeviceGravity::walk_along_ropes(const GravitySetup& setup, const Domain& domain) const {
  const cuda::WalkSources sources = trees_.sources(own(setup, domain));
  const cuda::TopCells cells = trees_.top().cells();
  const auto ropes = cuda::top_ropes(trees_.top().sources(), cells);
  const cuda::ActiveList active =
      cuda::active_particles(particles_.values(fields::rung), particles_.size(), first_active_);
  return cuda::rope_walk(
      setup.walk.gravity, setup.walk.units, setup.median_acceleration, sources, {cells, ropes.data()},
      {forest_.trees(), particles_.values(fields::old_acceleration), active.numbers.data(), active.count},
      output());
}

void DeviceGravity::grow(const Domain& domain, PhaseTimers& timers) {
  {
    const auto timer = timers.time("build");
    cuda::DeviceRecords records = std::move(records_);
    if (records.size() != particles_.size()) {
      records = cuda::DeviceRecords(particles_.size());
      cuda::make_records(domain.box, particles_.values(fields::position), particles_.size(), 0, records);
    }
    comm_.together([&] {
      forest_.cut(particles_, domain.leaf_begin, records, targets_per_warp(domain.cells[0].count));
    });
    cuda::device_synchronise();
  }
  const auto timer = timers.time("sort");
  forest_.arrange(particles_);
  if (has_blocks(domain)) blocks_.begin(domain);
  trees_.forget();
  cuda::device_synchronise();
}

std::string DeviceGravity::refit(const GravitySetup& setup, const Domain& domain, int first_active,
                                 bool checks, PhaseTimers& timers) {
  const auto timer = timers.time("moments");
  std::string fault;
  comm_.together([&] {
    forest_.update(particles_, domain.box, setup.walk.gravity, setup.walk.units, setup.median_acceleration,
                   first_active);
    if (checks) fault = fault_of_separations(setup.walk.gravity);
  });
  cuda::device_synchronise();
  return fault;
}

void DeviceGravity::begin_walk(const GravitySetup& setup, const Domain& domain, int first_active) {
  first_active_ = first_active;
  targets_ = agree_on_targets(setup, domain, first_active);
  if (parameters_.walk == WalkKind::groups)
    comm_.together(
        [&] { own_.emplace(setup.walk.gravity, setup.walk.units, own_sources(), targets_, output()); });
  urgent_.emplace();
}

void DeviceGravity::publish(const GravitySetup& setup, const Domain& domain, Selections,
                            PhaseTimers& timers) {
  trees_.publish(own(setup, domain), timers);
}

void DeviceGravity::select(const GravitySetup& setup, const Domain& domain) {
  trees_.select(own(setup, domain));
}

GravityStorage::Imported DeviceGravity::import(const GravitySetup& setup, const Domain& domain) {
  const Imported imported = trees_.import(own(setup, domain), forest_);
  Group* const groups = targets_.trees.groups;
  targets_.trees = forest_.trees();  // which may lie elsewhere
  targets_.trees.groups = groups;
  urgent_->wait();
  urgent_.reset();
  return imported;
}

WalkCounts DeviceGravity::walk_others(const GravitySetup& setup, const Domain& domain, PhaseTimers& timers) {
  WalkCounts counts;
  comm_.together([&] {
    if (own_) {
      counts += own_->finish();
      timers.add("own walk", {own_->seconds(), {}});
    }
    const auto timer = timers.time("other walk");
    counts += own_ ? cuda::walk_others(setup.walk.gravity, setup.walk.units,
                                       trees_.sources(own(setup, domain)), targets_, output())
                   : walk_along_ropes(setup, domain);
    own_.reset();
  });
  cuda::device_synchronise();
  return counts;
}

/// Every rank sums over the particles of all, in the order of the leaves.
void DeviceGravity::sum_directly(const GravitySetup& setup, const Domain&, int first_active,
                                 PhaseTimers& timers) {
  const auto timer = timers.time("other walk");
  const std::size_t count = particles_.size();
  cuda::DirectParticles all{particles_.values(fields::position), particles_.values(fields::mass),
                            particles_.values(fields::type), count};
  cuda::DeviceArray<Vec3d> position;
  cuda::DeviceArray<double> mass;
  cuda::DeviceArray<std::uint8_t> type;
  if (comm_.size() > 1) {
    const std::vector<Count> gathered_counts = comm_.all_gather(static_cast<Count>(count));
    const std::span<const Count> counts(gathered_counts);
    position = gathered(comm_, exchange_, all.position, counts);
    mass = gathered(comm_, exchange_, all.mass, counts);
    type = gathered(comm_, exchange_, all.type, counts);
    all = {position.data(), mass.data(), type.data(), position.size()};
  }
  const auto first = static_cast<std::size_t>(comm_.exclusive_scan(static_cast<Count>(count)));
  cuda::direct_force(setup.walk.gravity, setup.walk.units, all,
                     {first, count, particles_.values(fields::rung), first_active},
                     particles_.values(fields::acceleration), particles_.values(fields::potential));
  cuda::set_work(particles_.values(fields::rung), count, first_active,
                 static_cast<std::uint32_t>(std::min(setup.particles, most_work)),
                 particles_.values(fields::work));
  cuda::device_synchronise();
}

void DeviceGravity::set_no_forces(int first_active) {
  cuda::set_no_forces(particles_.size(), first_active, particles_.values(fields::rung),
                      particles_.values(fields::acceleration), particles_.values(fields::potential),
                      particles_.values(fields::work));
}

void DeviceGravity::add_far_images(const Domain& domain, int first_active) {
  grove::add_far_images(comm_, particles_, domain, parameters_, first_active);
}

GravityStorage::Remembered DeviceGravity::remember(const GravitySetup&, const Domain& domain,
                                                   int first_active, bool walked) {
  if (walked && has_blocks(domain)) blocks_.count(domain, forest_, particles_, first_active);
  cuda::add_external(particles_.size(), first_active, device_external(), particles_.values(fields::rung),
                     particles_.values(fields::position), particles_.values(fields::acceleration));
  const cuda::RungWork work = cuda::remember(particles_.size(), first_active, step_fields(particles_));
  cuda::device_synchronise();
  return {work.particles, work.interactions, work.not_finite};
}

BlockExcess::Due DeviceGravity::due(const Domain& domain, int first_active, double rate) const {
  return has_blocks(domain) ? blocks_.due(domain, first_active, rate) : BlockExcess::Due{};
}

bool DeviceGravity::rebuild(Domain& domain, int first_active, double rate, PhaseTimers& timers) {
  if (!has_blocks(domain)) return true;
  const auto timer = timers.time("build");
  blocks_.recut(particles_, forest_, domain, first_active, rate, targets_per_warp(domain.cells[0].count));
  trees_.forget();
  cuda::device_synchronise();
  return false;
}

void DeviceGravity::move_leaves(std::span<const std::int32_t> from, const Domain& domain) {
  const LeafTransfer of_leaves(comm_, from, domain.first_leaf),
      of_nodes(comm_, from, domain.first_leaf, forest_.node_begin());
  cuda::DeviceArray<NodeLinks> links(of_nodes.size());
  transfer(exchange_, of_nodes, forest_.trees().links, links.data(), sizeof(NodeLinks));
  cuda::DeviceArray<std::uint8_t> levels;
  if (parameters_.keeps_levels(domain.cells[0].count)) {
    levels = cuda::DeviceArray<std::uint8_t>(of_nodes.size());
    transfer(exchange_, of_nodes, forest_.trees().levels, levels.data(), 1);
  }
  forest_.adopt(std::move(links), std::move(levels), of_leaves.beginnings(forest_.node_begin()),
                domain.leaf_begin);
  blocks_.give_out(domain);
  trees_.forget();
}

void DeviceGravity::restore(State state, const Domain& domain) {
  TreeShapes& trees = state.trees.trees;
  forest_.adopt(cuda::DeviceArray<NodeLinks>{std::span<const NodeLinks>(trees.links)},
                cuda::DeviceArray<std::uint8_t>{std::span<const std::uint8_t>(trees.levels)},
                std::move(trees.node_begin), domain.leaf_begin);
  if (has_blocks(domain)) blocks_.restore(domain, std::move(state.blocks));
  trees_.forget();
}

}  // namespace grove
