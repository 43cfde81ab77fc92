#pragma once

#include <cstdint>
#include <span>

#include "base/vec3.hpp"
#include "fourier/mesh_transform.hpp"

namespace grove {

/// How the mass of a particle is spread over the points of a mesh (Hockney and Eastwood 1981, section 5-3).
enum class Assignment : std::uint8_t {
  cic,  ///< cloud in cell: two points along each axis
  tsc,  ///< triangular-shaped cloud: three
};

/// The share of its mass that a particle at u, in spacings of the mesh, gives the points first, first + 1,
/// ... along an axis.
struct AxisWeights {
  int first;
  double share[3];  ///< cic: two of them
};
AxisWeights axis_weights(Assignment assignment, double u);
constexpr int points_of(Assignment assignment) { return assignment == Assignment::cic ? 2 : 3; }

/// A periodic mesh that particles are assigned to. It can stand for less than the box, as a mesh that is
/// folded onto a part of it (Jenkins et al. 1998, ApJ 499, 20): its points are box / scale / n apart, and
/// particles of all parts meet there.
struct MassMesh {
  Assignment assignment = Assignment::tsc;
  double box = 1;     ///< length
  int scale = 1;      ///< parts that an edge of the box is folded into
  double offset = 0;  ///< of the mesh's points from the corner, in their distances
  double total = 1;   ///< mass of all particles, > 0
};

/// The density over its mean at this rank's points of the mesh. Masses are added as integers of total *
/// 2^-61, so that it has the same bits on any number of ranks, whichever of them has a particle. position:
/// anywhere; what is outside of the box counts as its image inside. Collective. Cost: particles go to the
/// ranks that have their points, 32 bytes each and a million from a rank at once; 16 bytes a point.
Array<double> density_mesh(const MeshTransform& transform, std::span<const Vec3d> position,
                           std::span<const double> mass, const MassMesh& mesh);

}  // namespace grove
