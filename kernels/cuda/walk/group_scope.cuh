#pragma once

#include <cstring>

#include "kernels/cuda/trees/node_stack.cuh"
#include "kernels/cuda/walk/walk.hpp"
#include "kernels/math/interaction.hpp"

/// The trees that a pass of GroupWalk goes through: that of the targets' own leaf, or all others.
namespace grove::cuda {

/// Data that are read once from many places, in loads of 16 bytes. The compiler would leave out what is not
/// needed, at the price of more loads.
template <class T>
__device__ inline T load_whole(const T* from) {
  static_assert(sizeof(T) % sizeof(int4) == 0 && alignof(T) >= sizeof(int4));
  int4 parts[sizeof(T) / sizeof(int4)];
  for (std::size_t i = 0; i < sizeof(T) / sizeof(int4); ++i)
    parts[i] = __ldg(reinterpret_cast<const int4*>(from) + i);
  T whole;
  memcpy(&whole, parts, sizeof(T));
  return whole;
}

/// The place of a node in the arrays of all nodes, and in space.
struct NodePlace {
  Vec3f shift;             ///< from the node's frame to that of the targets
  std::uint32_t node;      ///< its number
  std::uint32_t particle;  ///< the first one of its tree
  bool is_top;             ///< a cell above the leaves
};

/// The pass through the targets' own leaf, whose nodes all have the frame of the targets. It comes first, and
/// begins the output.
class OwnLeaf {
 public:
  static constexpr bool has_targets = true;

  __device__ explicit OwnLeaf(const WalkSources&) {}

  __device__ void enter(const LeafPlaces& leaf, std::int32_t number) {
    number_ = number;
    node_ = static_cast<std::uint32_t>(leaf.node);
    particle_ = static_cast<std::uint32_t>(leaf.first);
  }
  __device__ void start(const NodeCodes& codes, NodeStack& stack) const {
    stack.start(codes.root_of(number_));
  }

  __device__ NodePlace place_of(const NodeCodes& codes, std::uint32_t code) const {
    return {{0, 0, 0}, node_ + codes.node(code), particle_, false};
  }
  __device__ static constexpr bool expands_far() { return false; }
  __device__ static bool is_far(const NodeCodes&, std::uint32_t, const NodePlace&) { return false; }
  __device__ static Vec3f moved(const Vec3f& p, const NodePlace&) { return p; }
  __device__ static Vec3f moved(const Vec3f& p, const NodePlace&, int) { return p; }

  __device__ static void put(std::uint32_t particle, const Vec3f& acceleration, float potential,
                             std::uint32_t work, const ForceOutput& out) {
    out.set(particle, acceleration, potential, work);
  }

 private:
  std::int32_t number_;
  std::uint32_t node_, particle_;  ///< the first ones of the leaf
};

/// The pass through all other leaves and the cells above them, which adds to the output.
class OtherLeaves {
 public:
  static constexpr bool has_targets = false;

  __device__ explicit OtherLeaves(const WalkSources& sources) : from_(sources) {}

  /// The targets' leaf.
  __device__ void enter(const LeafPlaces&, std::int32_t number) {
    number_ = number;
    frame_ = from_.nodes[0].frames[number];
    if (expands_far()) ball_ = from_.balls[0][number];
  }
  __device__ void start(const NodeCodes&, NodeStack& stack) const {
    const std::uint32_t* const first = from_.first_beginning + number_;
    stack.start(from_.beginnings + first[0], static_cast<int>(first[1] - first[0]));
  }

  __device__ NodePlace place_of(const NodeCodes& codes, std::uint32_t code) const {
    const bool is_top = code & of_top;
    const SourceFrame frame = load_whole(from_.nodes[is_top].frames + codes.frame(code));
    return {shift_between(frame, frame_), frame.node + codes.node(code), frame.particle, is_top};
  }
  /// True if no cell above the leaves stands for its particles: what could acts from far.
  __device__ bool expands_far() const { return from_.balls[0] != nullptr; }
  /// True of cells and leaves that no walk of these targets goes through.
  __device__ bool is_far(const NodeCodes& codes, std::uint32_t code, const NodePlace& place) const {
    return expands_far() && codes.node(code) == 0 &&
           acts_from_far(from_.balls[place.is_top][codes.frame(code)], ball_);
  }
  /// A point of the node's frame in that of the targets.
  __device__ static Vec3f moved(const Vec3f& p, const NodePlace& place) { return p + place.shift; }
  /// The same with the place that another lane has.
  __device__ static Vec3f moved(const Vec3f& p, const NodePlace& place, int lane) {
    return p + Vec3f{__shfl_sync(~0u, place.shift.x, lane), __shfl_sync(~0u, place.shift.y, lane),
                     __shfl_sync(~0u, place.shift.z, lane)};
  }

  __device__ static void put(std::uint32_t particle, const Vec3f& acceleration, float potential,
                             std::uint32_t work, const ForceOutput& out) {
    out.add(particle, acceleration, potential, work);
  }

 private:
  const WalkSources& from_;
  std::int32_t number_;  ///< of the targets' leaf
  SourceFrame frame_;    ///< its frame
  Ball ball_;            ///< of that leaf, where cells have some
};

/// Puts the sum of what acts on a particle into the output, or adds it there.
template <class Scope>
__device__ inline void put_force(const ForceUnits& units, const Accumulator<float>& sum, std::uint32_t work,
                                 std::uint32_t particle, const ForceOutput& out) {
  Scope::put(particle, units.acceleration_of(sum.acceleration), units.potential_of(sum.potential), work, out);
}

}  // namespace grove::cuda
