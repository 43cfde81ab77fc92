#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/device/device.hpp"
#include "kernels/math/mode_shells.hpp"

namespace grove::cuda {

/// Adds up modes in shells, as integers.
class ShellSums {
 public:
  /// shells: with tables on the host, which are needed no longer afterwards.
  explicit ShellSums(const ModeShells& shells);

  /// Device memory that it takes, at most.
  static double bytes(int points);

  /// The modes of all x and z of one y: [x][n / 2 + 1] (device), of the mesh and the one half a spacing
  /// further (interlaced only). y: number of these modes, not their place. Cost: some 8 atomic additions a
  /// mode.
  void add_row(int y, const FieldMode* plain, const FieldMode* shifted);

  /// Returns the sums over all rows so far, one for each shell. Waits for the GPU.
  std::vector<ShellTotals> totals() const;

 private:
  ModeShells shells_;  ///< with tables on the device
  JointUpload tables_;
  int copies_;                         ///< of the totals, so that fewer blocks meet in one
  DeviceArray<ShellTotals> totals_{};  ///< [copies][shells]
};

}  // namespace grove::cuda
