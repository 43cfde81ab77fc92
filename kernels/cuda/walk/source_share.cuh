#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/trees/node_stack.cuh"
#include "kernels/cuda/walk/share_queue.cuh"

/// How many warps share the sources of a GroupWalk.
namespace grove::cuda {

/// The default of a share: the warp goes through the whole pass.
struct WholePass {
  template <class Scope>
  __device__ void start(const Scope& scope, const NodeCodes& codes, NodeStack& stack) const {
    scope.start(codes, stack);
  }
  /// True if the warp leaves what is on the stack to others. interactions: of a target, until now.
  __device__ static bool ends(const NodeStack&, std::uint32_t /*interactions*/) { return false; }
};

/// One warp sums all.
class AllSources : public WholePass {
 public:
  /// The share of the first warp of a group. limit: WalkTargets::share_limit.
  __device__ static AllSources of_group(std::uint32_t /*limit*/) { return {}; }
  /// Leaves the nodes of other warps to them, once there are enough for all.
  __device__ void divide(NodeStack&) {}
  /// True if what this lane finds is for this warp to sum.
  __device__ bool has_find() const { return true; }
  /// Adds tests that this warp makes; those that all make count once.
  __device__ void count_tests(int more, std::uint32_t& tests) const {
    tests += static_cast<std::uint32_t>(more);
  }
  /// True if this warp sums what the targets do to each other.
  __device__ bool has_targets() const { return true; }
};

/// One of several warps, a power of two of them. All test the same nodes until there are enough to go round:
/// few nodes may hold most of the work.
class PartOfSources : public WholePass {
 public:
  PartOfSources() = default;
  __device__ PartOfSources(int number, int parts) : number_(number), parts_(parts) {}

  __device__ void divide(NodeStack& stack) {
    if (is_divided_ || !stack.holds(enough_nodes())) return;
    stack.keep(number_, parts_);
    is_divided_ = true;
  }
  __device__ bool has_find() const { return is_divided_ || lane_index() % parts_ == number_; }
  __device__ void count_tests(int more, std::uint32_t& tests) const {
    if (is_divided_ || number_ == 0) tests += static_cast<std::uint32_t>(more);
  }
  __device__ bool has_targets() const { return number_ == parts_ - 1; }

 private:
  __device__ int enough_nodes() const { return max(2 * parts_, min(8 * parts_, 32)); }

  int number_ = 0, parts_ = 1;
  bool is_divided_ = false;
};

/// One warp goes through all nodes or some, and stops at a limit. Others sum the nodes that it leaves.
class LimitedShare : public AllSources {
 public:
  LimitedShare() = default;
  __device__ static LimitedShare of_group(std::uint32_t limit) { return {limit, nullptr, 0}; }
  /// nodes: [count]; null: all.
  __device__ LimitedShare(std::uint32_t limit, const std::uint32_t* nodes, int count)
      : limit_(limit), nodes_(nodes), count_(count) {}

  template <class Scope>
  __device__ void start(const Scope& scope, const NodeCodes& codes, NodeStack& stack) const {
    if (nodes_ == nullptr)
      scope.start(codes, stack);
    else
      stack.start(nodes_, count_);
  }
  __device__ bool ends(const NodeStack& stack, std::uint32_t interactions) const {
    return interactions >= limit_ && stack.holds(least_left);
  }

 private:
  static constexpr int least_left = 16;  ///< nodes: two for each share
  static_assert(least_left >= static_cast<int>(shares_per_split));

  std::uint32_t limit_ = 0;
  const std::uint32_t* nodes_ = nullptr;
  int count_ = 0;
};

}  // namespace grove::cuda
