#include "gravity/gpu/device_gravity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "decomposition/domain_cells.hpp"
#include "decomposition/gpu/device_transfer.hpp"
#include "gravity/direct_forces.hpp"
#include "gravity/gpu/device_far_images.hpp"
#include "gravity/gpu/gathered.hpp"
#include "kernels/cuda/direct/direct_force.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "kernels/cuda/trees/lost_separation.hpp"
#include "kernels/cuda/walk/rope_walk.hpp"

namespace grove {

void DeviceGravity::set_external(std::vector<ExternalPotential> potentials) {
  external_ = std::move(potentials);
  on_device_ = cuda::DeviceArray<ExternalPotential>{std::span<const ExternalPotential>(external_)};
}

cuda::LeafParticleFields DeviceGravity::particles_of_leaves() const {
  return {particles_.values(fields::position), particles_.values(fields::mass),
          particles_.values(fields::type), particles_.values(fields::old_acceleration)};
}

/// Particles that a warp walks together where so many walk, unless several warps walk a group.
int DeviceGravity::targets_per_warp(Count particles) const {
  if (!follows_from_counts(parameters_.tree)) return group_size;
  return targets_per_warp_.value_or(cuda::default_targets_per_warp(particles));
}

/// Collective. The numbers of nodes are alike on all ranks.
void DeviceGravity::has_new_trees(const Domain& domain) {
  trees_.has_new_trees(domain);
  groups_of_all_ranks_.reset();
  domain_cells_.reset();
  if (!follows_from_counts(parameters_.tree))
    codes_ = cuda::NodeCodes::for_trees(comm_.max(forest_.largest_tree()));
}

/// Keeps what goes wrong on this rank for the next time that ranks agree, and does no more then.
template <class Work>
void DeviceGravity::unless_at_fault(const Work& work) {
  if (fault_) return;
  try {
    work();
  } catch (const std::exception&) {
    fault_ = std::current_exception();
  }
}

/// Those that walk, or parts of them. take_chosen() finds how many they are on this rank, and their work.
void DeviceGravity::choose_groups(const GravitySetup& setup, int first_active) {
  search_.reset();
  active_ = {};
  runs_ = {};
  if (setup.walk.critical_separation > 0)
    runs_ = cuda::split_groups(forest_.trees(), forest_.leaf_of_group(), forest_.groups(), forest_.buckets(),
                               setup.walk.critical_separation);
  else if (first_active > 0)
    search_.emplace(walkable_groups(), group_size);
  chosen_ = {.groups = setup.walk.critical_separation > 0 ? runs_.count : forest_.groups()};
}

void DeviceGravity::take_chosen() {
  if (!search_) return;
  active_ = search_->list();
  search_.reset();
  chosen_ = {active_.count, active_.work()};
}

/// How these walk: that depends on how many all ranks have, and on their work.
cuda::WalkTargets DeviceGravity::targets(const GravitySetup& setup, const Domain& domain, int first_active,
                                         const Chosen& of_all_ranks) {
  const int parts = cuda::walk_parts(of_all_ranks.groups);
  cuda::LeafTrees trees = forest_.trees();
  if (setup.walk.critical_separation > 0) {
    trees.groups = runs_.runs.data();
    return {trees, runs_.leaf_of_run.data(), runs_.count, nullptr, parts};
  }
  const bool all = first_active == 0;
  const int wide = parts > 1
                       ? group_size
                       : targets_per_warp(all ? domain.cells[0].count : of_all_ranks.groups * group_size);
  if (all)
    active_ =
        cuda::all_groups(walkable_groups(), wide, wide > group_size ? forest_.pairs() : forest_.groups());
  else if (wide > group_size)
    active_ = cuda::active_groups(walkable_groups(), wide);
  cuda::WalkTargets targets{trees, forest_.leaf_of_group(), active_.count, active_.numbers.data(), parts,
                            wide};
  if (!all) targets.share_limit = share_limit(setup, of_all_ranks);
  targets.most_shares = room_for_shares(active_.count);
  return targets;
}

std::uint32_t DeviceGravity::share_limit(const GravitySetup& setup, const Chosen& of_all_ranks) {
  if (setup.target_work == 0) return cuda::share_limit(of_all_ranks.groups, of_all_ranks.work);
  if (setup.target_work == GravitySetup::unknown_work) return cuda::no_share_limit;
  // Chosen::work, too, is some 3/2 of what targets had.
  return cuda::share_limit(of_all_ranks.groups, 3 * setup.target_work * of_all_ranks.groups / 2);
}

cuda::WalkableGroups DeviceGravity::walkable_groups() const {
  return {forest_.trees(), forest_.leaf_of_group(), forest_.groups(), particles_.values(fields::work),
          particles_.values(fields::rung)};
}

/// For shares of so many groups, or of as many as once were short of room.
std::uint32_t DeviceGravity::room_for_shares(std::uint32_t groups) const {
  return std::max(most_shares_, cuda::room_for_shares(groups));
}

ForceOutput DeviceGravity::output() const {
  return {particles_.values(fields::acceleration), particles_.values(fields::potential),
          particles_.values(fields::work)};
}

std::array<WalkCounts, 2> DeviceGravity::try_walk(const GravitySetup& setup, const Domain& domain) {
  const Chosen of_walk = chosen_;
  comm_.together([&] { choose_groups(setup, 0); });
  const Chosen chosen{.groups = comm_.sum(std::exchange(chosen_, of_walk).groups)};
  const auto& [gravity, units, separation] = setup.walk;
  std::array<WalkCounts, 2> counts;
  comm_.together([&] {
    const cuda::WalkTargets targets = this->targets(setup, domain, 0, chosen);
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
  std::vector<Count> groups;  // of each rank
  {
    const auto timer = timers.time("build");
    cuda::DeviceRecords records = std::move(records_);
    if (records.size() != particles_.size()) {
      records = cuda::DeviceRecords(particles_.size());
      cuda::make_records(domain.box, {particles_.values(fields::position)}, particles_.size(), 0, records);
    }
    groups = comm_.gather_together([&] {
      forest_.cut(particles_, domain.leaf_begin, records, targets_per_warp(domain.cells[0].count));
      return Count{forest_.groups()};
    });
    phases_.leave("build");
  }
  const auto timer = timers.time("sort");
  forest_.arrange(particles_);
  has_new_trees(domain);
  groups_of_all_ranks_ = std::accumulate(groups.begin(), groups.end(), Count{0});
  phases_.leave("sort");
}

void DeviceGravity::refit(const GravitySetup& setup, const Domain& domain, const RefitPlan& plan,
                          PhaseTimers& timers) {
  phases_.settle(timers, "moments");
  phases_.enter_another();
  const auto timer = timers.time("moments");
  fault_ = nullptr;
  if (plan.renewed_from) {
    trees_.forget_selections();
    unless_at_fault([&] {
      if (!domain_cells_) domain_cells_.emplace(domain_cells(domain).view());
      forest_.renew(particles_, *domain_cells_, domain.box, *plan.renewed_from,
                    targets_per_warp(domain.cells[0].count));
    });
  }
  first_lost_.reset();
  unless_at_fault([&] {
    forest_.update(particles_, domain.box, setup.walk.gravity, setup.walk.units, setup.median_acceleration,
                   plan.first_active);
    if (plan.checks)
      first_lost_.emplace(
          cuda::find_lost_separation(particles_of_leaves(), forest_.trees(), setup.walk.gravity));
  });
}

void DeviceGravity::begin_walk(const GravitySetup& setup, const Domain& domain, int first_active,
                               Selections selections) {
  if (selections != Selections::again) phases_.leave("moments");
  first_active_ = first_active;
  own_.reset();  // of an evaluation that has ended with an error
  // Again means with the same targets: the work by which they are chosen is no longer that of their last
  // step.
  if (selections != Selections::again) {
    chosen_ = {};
    has_targets_ = false;
    unless_at_fault([&] { choose_groups(setup, first_active); });
    if (first_active == 0 && groups_of_all_ranks_ && setup.walk.critical_separation == 0)
      choose_targets(setup, domain, {.groups = *groups_of_all_ranks_});
  }
  if (has_targets_) begin_own_walk(setup);
  urgent_.emplace();
}

void DeviceGravity::choose_targets(const GravitySetup& setup, const Domain& domain,
                                   const Chosen& of_all_ranks) {
  has_targets_ = true;
  if (parameters_.walk != WalkKind::groups) return;
  unless_at_fault([&] { targets_ = targets(setup, domain, first_active_, of_all_ranks); });
}

void DeviceGravity::begin_own_walk(const GravitySetup& setup) {
  if (parameters_.walk != WalkKind::groups) return;
  unless_at_fault(
      [&] { own_.emplace(setup.walk.gravity, setup.walk.units, own_sources(), targets_, output()); });
}

void DeviceGravity::publish(const GravitySetup& setup, const Domain& domain, Selections selections,
                            PhaseTimers& timers) {
  const auto say = [&] {
    unless_at_fault([&] {
      take_chosen();
      phases_.settle(timers, "let");
    });
    chosen_.faults = fault_ ? 1 : 0;
    return chosen_;
  };
  const Chosen all =
      trees_.publish(own(setup, domain), first_active_, selections, fault_ != nullptr, say, timers);
  if (all.faults > 0) {
    urgent_.reset();
    own_.reset();
    comm_.together([&] {
      if (fault_) std::rethrow_exception(fault_);
      trees_.throw_fault();
    });
  }
  if (first_active_ == 0 && setup.walk.critical_separation == 0) groups_of_all_ranks_ = all.groups;
  if (has_targets_) return;
  choose_targets(setup, domain, all);
  begin_own_walk(setup);
}

void DeviceGravity::select(const GravitySetup& setup, const Domain& domain) {
  trees_.select(own(setup, domain));
}

GravityStorage::Imported DeviceGravity::import(const GravitySetup& setup, const Domain& domain) {
  const Imported imported = trees_.import(own(setup, domain), forest_);
  Group* const groups = targets_.trees.groups;
  targets_.trees = forest_.trees();  // which may lie elsewhere
  targets_.trees.groups = groups;
  urgent_.reset();
  phases_.leave("let");
  return imported;
}

WalkCounts DeviceGravity::walk_others(const GravitySetup& setup, const Domain& domain, PhaseTimers& timers) {
  const struct End {
    std::optional<cuda::OwnWalk>& walk;
    ~End() { walk.reset(); }
  } end{own_};
  if (fault_) std::rethrow_exception(fault_);
  if (!own_) {
    const auto timer = timers.time("other walk");
    const WalkCounts counts = walk_along_ropes(setup, domain);
    phases_.settle(timers, "walk");
    return counts;
  }
  const cuda::WalkSources sources = trees_.sources(own(setup, domain));
  WalkCounts counts;
  try {
    counts = own_->finish_with_others(setup.walk.gravity, setup.walk.units, sources, targets_, output());
  } catch (const OpensPruned&) {
    throw;
  } catch (const std::logic_error&) {
    trees_.top().check_images();
    throw;
  }
  phases_.settle(timers, "walk");
  if (targets_.most_shares > room_for_shares(targets_.groups)) most_shares_ = targets_.most_shares;
  shares_ += own_->shares();
  timers.add("own walk", {own_->seconds(), {}});
  timers.add("other walk", {own_->seconds_of_others(), {}});
  return counts;
}

/// Every rank sums over the particles of all, in the order of the leaves.
void DeviceGravity::sum_directly(const GravitySetup& setup, const Domain& domain, int first_active,
                                 PhaseTimers& timers) {
  const auto timer = timers.time("other walk");
  const std::size_t count = particles_.size();
  cuda::DirectParticles all{particles_.values(fields::position), particles_.values(fields::mass),
                            particles_.values(fields::type), count};
  cuda::DeviceArray<Vec3d> position;
  cuda::DeviceArray<double> mass;
  cuda::DeviceArray<std::uint8_t> type;
  const OrderOfLeaves order(comm_, domain);
  if (comm_.size() > 1) {
    position = gathered(comm_, exchange_, all.position, order);
    mass = gathered(comm_, exchange_, all.mass, order);
    type = gathered(comm_, exchange_, all.type, order);
    all = {position.data(), mass.data(), type.data(), position.size()};
  }
  for (const OrderOfLeaves::Run& run : order.runs())
    if (run.rank == comm_.rank())
      cuda::direct_force(setup.walk.gravity, setup.walk.units, all,
                         {run.place, run.count, particles_.values(fields::rung) + run.begin, first_active},
                         particles_.values(fields::acceleration) + run.begin,
                         particles_.values(fields::potential) + run.begin);
  cuda::set_work(particles_.values(fields::rung), count, first_active,
                 static_cast<std::uint32_t>(std::min(setup.particles, most_work)),
                 particles_.values(fields::work));
  cuda::device_synchronise();
  phases_.settle(timers, "walk");
}

void DeviceGravity::set_no_forces(int first_active) {
  cuda::set_no_forces(particles_.size(), first_active, particles_.values(fields::rung),
                      particles_.values(fields::acceleration), particles_.values(fields::potential),
                      particles_.values(fields::work));
}

void DeviceGravity::find_far(const GravitySetup& setup, const Domain& domain) {
  pieces_.reset();
  if (setup.walk.gravity.images.expands_far()) {
    unless_at_fault([&] {
      pieces_.emplace(domain.leaf_begin);
      if (far_moments_.size() != pieces_->leaves)
        far_moments_ = cuda::DeviceArray<FarMoments>(pieces_->leaves);
      cuda::sum_leaf_moments(parameters_.images, *pieces_, forest_.trees().balls,
                             particles_.values(fields::position), particles_.values(fields::mass),
                             far_moments_.data());
    });
    return;
  }
  far_field_ = far_field(box_moments<far_moments>(comm_, particles_, domain.leaf_begin, FarUnits(parameters_),
                                                  setup.walk.units.most_mass()));
}

void DeviceGravity::add_far(const Domain&, int first_active) {
  const FarUnits units(parameters_);
  if (!pieces_) {
    grove::add_far_images(*far_field_, units, particles_, first_active);
    return;
  }
  const cuda::DeviceFarTree tree = trees_.top().far_tree();
  if (tree.nodes == 0) return;  // there are no particles
  FarMoments root;
  Ball ball;
  const cuda::Download all[] = {{&root, tree.moments, sizeof(root)}, {&ball, tree.balls, sizeof(ball)}};
  cuda::device_download(all);
  cuda::add_far_cells(
      tree, far_field(box_moments(root, ball, parameters_.images)), units, *pieces_,
      {forest_.trees().balls, particles_.values(fields::rung), particles_.values(fields::position),
       particles_.values(fields::acceleration), particles_.values(fields::potential)},
      first_active);
}

void DeviceGravity::remember(int first_active) {
  cuda::add_external(particles_.size(), first_active, device_external(), particles_.values(fields::rung),
                     particles_.values(fields::position), particles_.values(fields::acceleration));
  remembered_work_ = cuda::remember(particles_.size(), first_active, step_fields(particles_));
  remembered_.emplace(remembered_work_.data());
}

GravityStorage::Remembered DeviceGravity::remembered() const {
  if (remembered_) {
    const cuda::RungWork& work = remembered_->get();
    last_remembered_ = {work.particles, work.interactions, work.not_finite};
    remembered_.reset();
  }
  return last_remembered_;
}

void DeviceGravity::move_leaves(const LeafOwners& from, const Domain& domain) {
  std::vector<Count> node_begin = LeafTransfer(comm_, from, domain.owners).beginnings(forest_.node_begin());
  const LeafTransfer of_nodes(comm_, from, domain.owners, forest_.node_begin(), node_begin);
  cuda::DeviceArray<NodeLinks> links(of_nodes.size());
  transfer(exchange_, of_nodes, forest_.trees().links, links.data(), sizeof(NodeLinks));
  cuda::DeviceArray<std::uint8_t> levels;
  if (parameters_.keeps_levels(domain.cells[0].count)) {
    levels = cuda::DeviceArray<std::uint8_t>(of_nodes.size());
    transfer(exchange_, of_nodes, forest_.trees().levels, levels.data(), 1);
  }
  forest_.adopt(std::move(links), std::move(levels), std::move(node_begin), domain.leaf_begin);
  has_new_trees(domain);
}

void DeviceGravity::restore(State state, const Domain& domain) {
  remembered_.reset();
  remembered_work_ = {};
  TreeShapes& trees = state.trees.trees;
  forest_.adopt(cuda::DeviceArray<NodeLinks>{std::span<const NodeLinks>(trees.links)},
                cuda::DeviceArray<std::uint8_t>{std::span<const std::uint8_t>(trees.levels)},
                std::move(trees.node_begin), domain.leaf_begin);
  has_new_trees(domain);
}

}  // namespace grove
