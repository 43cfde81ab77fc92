#pragma once

#include <cstdint>
#include <string>

#include "kernels/math/cut_rule.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/walk_views.hpp"

/// The invariants of trees and groups, for tests. Each function returns what is wrong first, or nothing.
namespace grove {

/// A tree that is whole: children adjacent, behind their parent, chained by `next`; the ranges of children
/// follow one another and make up the parent's; no node is empty, no bucket has more particles than `bucket`;
/// the root holds all particles; a walk that opens everything meets every node once. particles: of the leaf.
/// Cost: O(nodes).
std::string check_shape(const SourceTree& tree, std::int32_t particles, std::int32_t bucket = bucket_size);

/// Mass, centre, second moments, radius and softening of every node, against sums over its particles in
/// double precision, to single-precision rounding. exact_radius: no larger than needed. Cost: O(particles x
/// depth).
std::string check_moments(const SourceTree& tree, const GravityParameters& gravity, const WalkUnits& units,
                          bool exact_radius);

/// Groups of at most group_size particles follow one another and hold all of the leaf, their boxes tight; the
/// leaf's bounds are those of all its groups; no bucket of the tree reaches over two groups. Cost:
/// O(particles).
std::string check_groups(const TargetLeaf& target, const SourceTree& tree, std::int32_t particles);

}  // namespace grove
