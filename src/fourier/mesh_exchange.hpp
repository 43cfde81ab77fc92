#pragma once

#include <vector>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "fourier/line_transform.hpp"
#include "fourier/mesh_part.hpp"

namespace grove {

/// Takes the modes of a mesh from ranks that have planes of equal x, of all y and z, to those that have rows
/// of equal y, of all x and z, and back. A plane is [y][z], as MeshPart::values() has them, with half() in
/// the place of n along z; rows are MeshPart::modes().
class MeshExchange {
 public:
  /// points: n, at least 1. The communicator must outlive this.
  MeshExchange(const Communicator& comm, int points)
      : comm_(comm), part_(MeshPart::of(points, comm.rank(), comm.size())) {}

  const Communicator& comm() const { return comm_; }
  const MeshPart& part() const { return part_; }

  /// Collective. Cost: all modes travel, but for one rank. Memory beside the argument and the result: the
  /// pieces that are under way.
  Array<Complex> rows_of(Array<Complex> planes) const;
  Array<Complex> planes_of(Array<Complex> rows) const;

  /// How many modes this rank shares with each: of its planes and their rows, or the other way around.
  std::vector<Count> elements(bool of_planes) const;

 private:
  const Communicator& comm_;
  MeshPart part_;
};

}  // namespace grove
