#pragma once

#include <cstddef>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/field_list.hpp"
#include "kernels/math/opening.hpp"

namespace grove::cuda {

/// The arrays of LeafTrees, by node and by particle, that travel with locally essential trees beside their
/// links. One more is a member there and a row here. A row whose arrays some runs have not got says when
/// they are there, from what all ranks know alike: a rank without leaves has no arrays to look at.
namespace let_fields {

/// An array of all trees.
template <auto Member>
struct Always : ArrayField<Member> {
  static bool is_there(const GravityParameters&) { return true; }
};

/// The numbers of children, where these are not two throughout.
struct Children : ArrayField<&LeafTrees::children> {
  static bool is_there(const GravityParameters& gravity) { return !follows_from_counts(gravity.tree); }
};

/// The boxes of nodes, where walks look at them.
struct Boxes : ArrayField<&LeafTrees::node_boxes> {
  static bool is_there(const GravityParameters& gravity) { return needs_boxes(gravity.criterion); }
};

using OfNodes = FieldList<Always<&LeafTrees::core>, Always<&LeafTrees::moments>, Children, Boxes>;
using OfParticles = FieldList<Always<&LeafTrees::sources>, Always<&LeafTrees::softening>>;

}  // namespace let_fields

/// The links and these arrays of some trees, those of one tree after those of another. Device memory,
/// uninitialised.
class LetArrays {
 public:
  /// nodes, particles: of all trees.
  LetArrays(const GravityParameters& gravity, std::size_t nodes, std::size_t particles) : links_(nodes) {
    trees_.links = links_.data();
    trees_.kind = gravity.tree;
    const auto make = [&](auto field, std::size_t count) {
      using Value = typename decltype(field)::Value;
      if (!field.is_there(gravity)) return;
      trees_.*field.member = reinterpret_cast<Value*>(memory_.emplace_back(count * sizeof(Value)).data());
    };
    let_fields::OfNodes::for_each([&](auto field, std::size_t) { make(field, nodes); });
    let_fields::OfParticles::for_each([&](auto field, std::size_t) { make(field, particles); });
  }

  NodeLinks* links() const { return links_.data(); }
  /// The pointers to them, and their kind; of LeafTrees nothing else is set.
  const LeafTrees& trees() const { return trees_; }

 private:
  DeviceArray<NodeLinks> links_;
  std::vector<DeviceArray<std::byte>> memory_;  ///< an array of the list each
  LeafTrees trees_{};
};

}  // namespace grove::cuda
