#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "halos/friends.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The groups whose first member (GroupLabel) is on this rank, with all of their members.
struct GroupMembers {
  std::vector<Count> begin{0};    ///< [groups + 1] first member of each, in the arrays
  std::vector<ParticleId> label;  ///< [groups] least id of each, ascending
  /// Members of each group, those of type 0 first, then type 1 and so on, within a type in the order of their
  /// ids: mass, id, type, velocity, and position as it is.
  Array<Vec3d> position, velocity;
  Array<double> mass;
  Array<ParticleId> id;
  Array<std::uint8_t> type;

  std::size_t groups() const { return label.size(); }
  std::size_t members() const { return id.size(); }
};

/// Brings the members of groups of at least `least` particles together. labels (in): of the own particles.
/// Collective. Cost: 16 bytes for each part of a group on a rank, and the members' fields, one exchange each;
/// memory: the largest group must fit on a rank.
GroupMembers gather_members(const Communicator& comm, const Particles& particles,
                            std::span<const GroupLabel> labels, Count least);

}  // namespace grove
