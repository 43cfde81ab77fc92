#pragma once

#include "fourier/mesh_transform.hpp"
#include "structure/mass_mesh.hpp"

namespace grove {

/// Values of a mesh between its points: sums over three points along each axis, as those that a
/// triangular-shaped cloud is assigned to (axis_weights()). So what is read is smoothed by the transform of a
/// cloud: cloud_transform(), by which modes are to be divided before.
class MeshReading {
 public:
  /// values: at this rank's points. Collective: neighbours give each other a plane.
  MeshReading(const MeshTransform& transform, Array<double> values);

  /// At a place in spacings from the first point, in a periodic mesh; its nearest point along x must be on
  /// one of this rank's planes.
  double at(const Vec3d& u) const;

 private:
  int points_;
  Slab planes_;
  Array<double> own_, before_, behind_;  ///< the planes, and those on both sides
};

/// The transform of a triangular-shaped cloud along one axis, of mode `number` in a mesh of so many points.
double cloud_transform(int number, int points);

}  // namespace grove
