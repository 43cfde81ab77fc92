#pragma once

#include <cstddef>

#include "kernels/cuda/device/device.hpp"
#include "kernels/math/mode_shells.hpp"

namespace grove::cuda {

/// Fourier transforms of a mesh of n^3 real points by cuFFT, in double precision, a plane or a row at a time.
/// So each comes from the same calls wherever it is made, and has the same bits on all GPUs of a kind.
class MeshTransforms {
 public:
  /// points: n, at least 1. std::runtime_error without memory.
  explicit MeshTransforms(int points);
  ~MeshTransforms();
  MeshTransforms(const MeshTransforms&) = delete;
  MeshTransforms& operator=(const MeshTransforms&) = delete;

  /// Device memory that it takes, at most.
  static double bytes(int points);

  /// Along y and z: modes (device) [y][n / 2 + 1] of values (device) [y][z]. values: undefined afterwards.
  void transform_plane(double* values, FieldMode* modes) const;
  /// Along x, in place: modes (device) [x][n / 2 + 1] of one y.
  void transform_row(FieldMode* modes) const;

 private:
  int plane_ = 0, row_ = 0;  ///< plans
  DeviceArray<std::byte> scratch_;
};

}  // namespace grove::cuda
