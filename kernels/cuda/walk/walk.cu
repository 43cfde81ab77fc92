#include "kernels/cuda/walk/walk.hpp"

#include <stdexcept>

#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/walk/walk_launch.cuh"

namespace grove::cuda {
namespace {

template <class Scope>
WalkMemory begin(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                 WalkTargets targets, const ForceOutput& output) {
  targets.expansion_excess = gravity.expansion_excess();
  WalkMemory memory;
  memory.state.clear();
  if (targets.groups == 0) return memory;
  const bool has_shares = !Scope::has_targets && targets.share_limit != no_share_limit;
  if (has_shares) memory.shares = ShareArrays(targets);
  const ForceUnits force = ForceUnits::of(gravity, units);
  if (targets.parts > 1)
    walk_in_parts<Scope>(gravity, force, sources, targets, output, memory);
  else if (targets.targets_per_warp == group_size)
    walk_groups<Scope, OneGroup>(gravity, force, sources, targets, output, memory);
  else
    walk_groups<Scope, TwoGroups>(gravity, force, sources, targets, output, memory);
  if (has_shares) walk_shares(gravity, force, sources, targets, output, memory);
  return memory;
}

/// The counts of a walk that is done.
WalkCounts counts_of(const WalkState& result) {
  if (result.fault == static_cast<int>(Fault::shares_full))
    throw std::logic_error("walk: no room for all shares of groups");
  if (result.fault == static_cast<int>(Fault::opened_pruned))
    throw OpensPruned("walk: a group opens what was not sent for it");
  if (result.fault == static_cast<int>(Fault::stack_full))
    throw std::logic_error("walk: a tree is deeper than the stack of a group");
  return {static_cast<std::int64_t>(result.cell),         static_cast<std::int64_t>(result.particle),
          static_cast<std::int64_t>(result.tests),        static_cast<std::int64_t>(result.expanded),
          static_cast<std::int64_t>(result.instructions), static_cast<std::int64_t>(result.longest)};
}

/// Waits for what begin() has launched.
WalkCounts end(const WalkMemory& memory) {
  WalkState result;
  memory.state.download(std::span(&result, 1));
  return counts_of(result);
}

}  // namespace

WalkCounts walk_own(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                    const WalkTargets& targets, const ForceOutput& output) {
  return end(begin<OwnLeaf>(gravity, units, sources, targets, output));
}

WalkCounts walk_others(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                       const WalkTargets& targets, const ForceOutput& output) {
  return end(begin<OtherLeaves>(gravity, units, sources, targets, output));
}

struct OwnWalk::Impl {
  Event ready, started, done, others_started, others_done;
  WalkMemory memory;
  std::uint32_t shares = 0;
};

OwnWalk::OwnWalk(const GravityParameters& gravity, const WalkUnits& units, const WalkSources& sources,
                 const WalkTargets& targets, const ForceOutput& output)
    : impl_(std::make_unique<Impl>()) {
  const cudaStream_t background = background_stream();
  impl_->ready.record(stream());
  impl_->ready.hold(background);
  const OnStream in_background(background);
  impl_->started.record(background);
  impl_->memory = begin<OwnLeaf>(gravity, units, sources, targets, output);
  impl_->done.record(background);
}

// The next request, such as the freeing of memory, must not overtake it.
OwnWalk::~OwnWalk() { impl_->done.hold(stream()); }

WalkCounts OwnWalk::finish() {
  impl_->done.hold(stream());
  return end(impl_->memory);
}

WalkCounts OwnWalk::finish_with_others(const GravityParameters& gravity, const WalkUnits& units,
                                       const WalkSources& sources, WalkTargets& targets,
                                       const ForceOutput& output) {
  impl_->done.hold(stream());
  WalkState results[2];
  while (true) {
    impl_->others_started.record(stream());
    const WalkMemory others = begin<OtherLeaves>(gravity, units, sources, targets, output);
    impl_->others_done.record(stream());
    const Download both[] = {impl_->memory.state.download_to(std::span(&results[0], 1)),
                             others.state.download_to(std::span(&results[1], 1))};
    device_download(both);
    if (results[1].fault != static_cast<int>(Fault::shares_full)) break;
    targets.most_shares = 2 * results[1].queue.produced;
    impl_->memory = begin<OwnLeaf>(gravity, units, sources, targets, output);
  }
  impl_->shares = results[1].queue.produced;
  WalkCounts counts = counts_of(results[0]);
  counts += counts_of(results[1]);
  return counts;
}

std::int64_t OwnWalk::shares() const { return impl_->shares; }

double OwnWalk::seconds_of_others() const { return impl_->others_done.seconds_since(impl_->others_started); }
double OwnWalk::seconds() const { return impl_->done.seconds_since(impl_->started); }

}  // namespace grove::cuda
