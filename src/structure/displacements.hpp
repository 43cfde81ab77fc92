#pragma once

#include <functional>

#include "fourier/mesh_transform.hpp"

namespace grove {

/// Displacements of a field of small density contrasts, by Lagrangian perturbation theory: what was at q
/// comes to x = q + first(q) + (D2 / D1^2) second(q). With the potentials that solve Laplace phi1 = delta and
/// Laplace phi2 = sum over i > j of (phi1,ii phi1,jj - phi1,ij^2), first = -grad phi1 (Zel'dovich 1970) and
/// second = grad phi2 (Bouchet et al. 1995, A&A 296, 575; Scoccimarro 1998, MNRAS 299, 1097).
///
/// They are given at the middles of the mesh's cells, q = (i + 1/2) L / n. Modes of Nyquist's frequency do
/// not count. For places in between (MeshReading) they are divided by the transform of a cloud.
class Displacements {
 public:
  /// density: modes of delta (gaussian_field()). box: L. Collective. Cost: to second order 7 transforms and,
  /// while they are done, 48 bytes a point on a rank; 8 or 16 of them stay. pause (optional): called by all
  /// ranks together now and then; what it throws ends the work.
  Displacements(const MeshTransform& transform, Array<Complex> density, double box, bool second_order,
                const std::function<void()>& pause = {}, bool for_clouds = false);

  /// At this rank's points, along an axis; length of the box. Collective; one transform.
  Array<double> first(int axis) const { return gradient(first_, axis, 1); }
  Array<double> second(int axis) const { return gradient(second_, axis, -1); }

 private:
  Array<double> tidal(int i, int j) const;
  Array<Complex> source(const std::function<void()>& pause) const;
  Array<double> gradient(const Array<Complex>& modes, int axis, double sign) const;

  const MeshTransform& transform_;
  double box_;
  bool for_clouds_;
  Array<Complex> first_, second_;  ///< modes of Laplace phi1 and phi2 at the middles of cells
};

}  // namespace grove
