#pragma once

#include <cstddef>
#include <span>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"

namespace grove {

/// Fewer members are summed directly.
inline constexpr std::size_t potential_by_tree = 1000;

/// The member where the potential of all members is deepest; of several the first. position, mass (in): of
/// the members, without periodic images; softening: positive, Plummer-equivalent length. alone: a
/// communicator of this rank. Cost: n^2, from potential_by_tree on one evaluation of a tree's forces, by
/// which another one of nearly equal potentials may be the deepest.
std::size_t deepest_member(const Communicator& alone, std::span<const Vec3d> position,
                           std::span<const double> mass, double softening);

}  // namespace grove
