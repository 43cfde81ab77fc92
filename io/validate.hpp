#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "io/snapshot.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The use of particles, so far as it decides what is wrong with them.
struct ValidationOptions {
  std::string source;                              ///< file or model that they come from, named in messages
  std::uint8_t tracer = 0;                         ///< bit t set: particles of type t may have no mass
  std::array<double, particle_types> softening{};  ///< by type, length; a pair uses the larger
  std::uint8_t softened = all_types;               ///< bit t set: a softening was given for type t
  Count leaves = 0;                                ///< leaves asked for; 0: no number is asked for
  /// The particles stand as read_snapshot() gave them with this header; then messages tell the file and the
  /// place in it (from 0), and name the first particle of the file that is at fault. Unset: one that is.
  const SnapshotHeader* header = nullptr;
  /// The options that the user gave these with.
  std::string softening_option = "gravity.softening", tracer_option = "initial_conditions.tracer";
};

/// Beyond these (absolute) values the single precision of the walk overflows.
inline constexpr double greatest_coordinate = 1e18;  ///< length
inline constexpr double greatest_mass = 1e30;        ///< mass
inline constexpr double greatest_velocity = 1e18;    ///< velocity
inline constexpr double greatest_softening = 1e18;   ///< length

/// Refuses particles that no force can be computed for: none at all; positions, velocities or masses that are
/// not finite or too large; masses that are negative, or zero in a type that is not a tracer; two particles
/// with the same id; two at exactly the same position that are not softened; a type that was given no
/// softening; fewer particles than leaves.
///
/// Collective; InputError on all ranks together, naming the source, the dataset and the particle. Exact.
/// Cost: one pass where ids rise from particle to particle and rank to rank; else ids (and always positions
/// of unsoftened particles) travel once to the rank that their hash names, at most `piece` of each rank at a
/// time, or an eighth of them, which bounds the memory, and each time costs a pass.
void validate(const Communicator& comm, const Particles& particles, const ValidationOptions& options,
              Count piece = Count{1} << 22);

/// Refuses a softening that leaves out a type of which there are particles. counts: of all ranks, by type.
void require_softening(const std::array<Count, particle_types>& counts, const ValidationOptions& options);

/// Its parts, for themselves: what single particles are, and that no id occurs twice.
void validate_values(const Communicator& comm, const Particles& particles, const ValidationOptions& options);
void validate_ids(const Communicator& comm, const Particles& particles, const ValidationOptions& options,
                  Count piece = Count{1} << 22);

/// True if these can be the edges of a box: lengths, or 0 for open space.
bool is_box(const Vec3d& edges);
/// As a length, or three if they differ.
std::string text_of_box(const Vec3d& edges);
/// Refuses what is no box, and positions outside of the one that options.header states: of 0 to its edges,
/// both included. Collective.
void validate_box(const Communicator& comm, const Particles& particles, const ValidationOptions& options);

/// Refuses units of which the constant of gravity is not Newton's, but for dimensionless ones with G = 1. By
/// how much it may be off: 1 in 1000, more than the values that codes use differ by.
void validate_units(const Units& units, const std::string& source);

}  // namespace grove
