#include "gravity/host_gravity.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/errors.hpp"
#include "comm/joint_reduction.hpp"
#include "comm/radix_select.hpp"
#include "decomposition/domain_cells.hpp"
#include "decomposition/leaf_transfer.hpp"
#include "gravity/direct_forces.hpp"
#include "gravity/far_cells.hpp"
#include "gravity/far_images.hpp"
#include "kernels/host/rope_walk.hpp"
#include "kernels/kokkos/particle_loops.hpp"

namespace grove {

GravityStorage::Sums HostGravity::reduce(bool with_median, float last_median) const {
  Sums sums;
  sums.particles = static_cast<Count>(particles_.size());
  if (!particles_.empty())
    sums.largest_mass = *std::max_element(particles_.mass.begin(), particles_.mass.end());
  JointReduction joint;
  joint.sum(sums.particles).max(sums.largest_mass);
  if (with_median)
    sums.median_acceleration = rough_median(comm_, particles_.old_acceleration, last_median, joint);
  else
    joint.apply(comm_);
  return sums;
}

void HostGravity::grow(const Domain& domain, PhaseTimers& timers) {
  Array<Record> records = std::exchange(records_, {});
  exchange_.forget();
  forest_.build(particles_, domain.box, domain.leaf_begin, records, *builder_, &timers);
}

void HostGravity::refit(const GravitySetup& setup, const Domain& domain, const RefitPlan& plan,
                        PhaseTimers& timers) {
  if (plan.renewed_from) {
    const auto timer = timers.time("build");
    exchange_.forget();
    forest_.renew(particles_, *plan.renewed_from, domain_cells(domain).view());
  }
  const auto timer = timers.time("moments");
  forest_.update(particles_, setup.walk.gravity, setup.walk.units, setup.median_acceleration,
                 plan.first_active);
  lost_separation_ = plan.checks ? lost_separation(particles_, domain.leaf_begin, forest_, setup.walk.gravity)
                                 : std::string();
}

void HostGravity::publish(const GravitySetup& setup, const Domain& domain, Selections selections,
                          PhaseTimers& timers) {
  exchange_.publish({setup, domain, forest_, particles_, far_moments_}, first_active_, selections, timers);
}

void HostGravity::select(const GravitySetup& setup, const Domain&) { exchange_.select(setup, forest_); }

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
    exchange_.progress();
  }
  return counts;
}

GravityStorage::Imported HostGravity::import(const GravitySetup&, const Domain&) {
  return exchange_.import(own_.trees);
}

WalkCounts HostGravity::walk_others(const GravitySetup& setup, const Domain&, PhaseTimers& timers) {
  const auto timer = timers.time("other walk");
  if (parameters_.walk == WalkKind::rope)
    return rope_walk(setup.walk, setup.median_acceleration,
                     RopeForest(exchange_.top(), exchange_.trees(), exchange_.roots()), own_.targets,
                     own_.outputs);
  return grove::walk_others(setup.walk, own_.targets, exchange_.top(), exchange_.trees(), own_.outputs);
}

std::array<WalkCounts, 2> HostGravity::try_walk(const GravitySetup& setup, const Domain&) {
  Particles unused;
  unused.acceleration.resize(particles_.size());
  unused.potential.resize(particles_.size());
  unused.work.resize(particles_.size());
  const Forest::OwnLeaves own = forest_.own_leaves(particles_, unused);
  const WalkCounts of_own = grove::walk_own(setup.walk, own.targets, own.trees, own.outputs);
  return {of_own,
          grove::walk_others(setup.walk, own.targets, exchange_.top(), exchange_.trees(), own.outputs)};
}

void HostGravity::end_walk() {
  own_ = {};
  exchange_.end_walk();
}

void HostGravity::sum_directly(const GravitySetup& setup, const Domain& domain, int first_active,
                               PhaseTimers& timers) {
  const auto timer = timers.time("other walk");
  evaluate_directly(comm_, particles_, domain, setup.walk.gravity, first_active);
}

void HostGravity::set_no_forces(int first_active) {
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    if (particles_.rung[i] < first_active) continue;
    particles_.acceleration[i] = {0, 0, 0};
    particles_.potential[i] = 0;
    particles_.work[i] = 0;
  }
}

void HostGravity::find_far(const GravitySetup& setup, const Domain& domain) {
  far_moments_.clear();
  far_field_.reset();
  if (setup.walk.gravity.images.expands_far())
    far_moments_ = leaf_moments(particles_, domain.leaf_begin, forest_.balls(), parameters_.images);
  else
    far_field_ = far_field(box_moments<far_moments>(comm_, particles_, domain.leaf_begin,
                                                    FarUnits(parameters_), setup.walk.units.most_mass()));
}

void HostGravity::add_far(const Domain& domain, int first_active) {
  const FarUnits units(parameters_);
  const std::span<const FarMoments> of_cells = exchange_.far_moments();
  if (far_field_) {
    add_far_images(*far_field_, units, particles_, first_active);
    return;
  }
  if (of_cells.empty()) return;  // there are no particles
  const TopTree top = exchange_.top();
  add_far_cells({top.links, top.balls, of_cells.data(), top.nodes, parameters_.images},
                far_field(box_moments(of_cells[0], top.balls[0], parameters_.images)), units, forest_.balls(),
                domain.leaf_begin, first_active, particles_);
}

void HostGravity::remember(int first_active) {
  if (!external_.empty())
    run(particles_.size(), ExternalBody{external(), first_active, particles_.rung.data(),
                                        particles_.position.data(), particles_.acceleration.data()});
  remembered_ = {};
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    const std::uint8_t rung = particles_.rung[i];
    if (rung < first_active) continue;
    ++remembered_.particles[rung];
    remembered_.interactions[rung] += particles_.work[i];
    particles_.work[i] = work_per_cycle(particles_.work[i], rung);
    const auto strength = static_cast<float>(norm(particles_.acceleration[i].as<double>()));
    particles_.old_acceleration[i] = strength;
    if (!std::isfinite(strength)) ++remembered_.not_finite;
  }
}

void HostGravity::restore(State state, const Domain& domain) {
  remembered_ = {};
  exchange_.forget();
  forest_.adopt(std::move(state.trees), domain.box, domain.leaf_begin, *builder_);
}

void HostGravity::move_leaves(const LeafOwners& from, const Domain& domain) {
  exchange_.forget();
  Forest::Shape shape = forest_.take_shape();
  const LeafTransfer of_leaves(comm_, from, domain.owners);
  of_leaves.apply(shape.origins);
  const std::vector<Count> before = std::move(shape.trees.node_begin);
  shape.trees.node_begin = of_leaves.beginnings(before);
  const LeafTransfer of_nodes(comm_, from, domain.owners, before, shape.trees.node_begin);
  of_nodes.apply(shape.trees.links);
  if (parameters_.keeps_levels(domain.cells[0].count)) of_nodes.apply(shape.trees.levels);
  forest_.adopt(std::move(shape), domain.box, domain.leaf_begin, *builder_);
}

}  // namespace grove
