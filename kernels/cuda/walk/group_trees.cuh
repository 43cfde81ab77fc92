#pragma once

#include <type_traits>

#include "kernels/cuda/walk/source_lists.cuh"

/// The kinds of trees that GroupWalk goes through.
namespace grove::cuda {

/// Bisections: all divided nodes have two children, and buckets are nearly full.
struct BinaryTrees {
  using Buckets = FullBuckets;

  /// True if a stack never spills in the pass through one leaf: no node is below another one on the stack, so
  /// each has a bucket of its own.
  static constexpr bool leaf_fits_stack = most_in_leaf / bucket_size <= NodeStack::size;
  static_assert(leaf_fits_stack);

  __device__ static constexpr NodeCodes codes(const WalkSources&) { return bisection_codes; }
  /// How many nodes to take from the stack at a time.
  __device__ static int most_at_a_time(const NodeStack&) { return 32; }
  /// The number of a node's children, if it has some.
  __device__ static int children_of(const WalkSources&, const NodePlace&) { return 2; }

  /// The children of the lanes whose node is divided. Returns false if there is no room.
  template <bool may_spill>
  __device__ static bool push(bool is_divided, std::uint32_t left, std::uint32_t right, int /*children*/,
                              NodeStack& stack) {
    return stack.push<may_spill>(is_divided, left, right);
  }
};

/// Trees whose nodes have families of any size, and buckets of few particles: octrees and kd-trees.
struct AnyTrees {
  using Buckets = PackedBuckets;
  static constexpr bool leaf_fits_stack = false;

  __device__ static NodeCodes codes(const WalkSources& sources) { return sources.codes; }
  __device__ static int most_at_a_time(const NodeStack& stack) { return stack.most_with_families(); }
  __device__ static int children_of(const WalkSources& sources, const NodePlace& place) {
    int children = 2;
    if (!place.is_top) children = sources.children[place.node];
    return children;
  }

  template <bool may_spill>
  __device__ static bool push(bool is_divided, std::uint32_t left, std::uint32_t right, int children,
                              NodeStack& stack) {
    return stack.push_families(left, right, is_divided ? children : 0);
  }
};

/// True if the stack may spill in a pass.
template <class Scope, class Trees>
inline constexpr bool may_spill_nodes = !(Scope::has_targets && Trees::leaf_fits_stack);

/// Calls f with std::type_identity of the class for trees of a kind.
template <class F>
decltype(auto) with_trees(LocalTreeKind kind, F&& f) {
  if (follows_from_counts(kind)) return f(std::type_identity<BinaryTrees>{});
  return f(std::type_identity<AnyTrees>{});
}

}  // namespace grove::cuda
