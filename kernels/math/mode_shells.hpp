#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/host_device.hpp"
#include "kernels/math/wide_sum.hpp"

namespace grove {

/// Sums over the modes of a shell, each counted with its mirror image. Nothing but integers of 64 bits, so
/// that ranks add them up as such.
struct ShellTotals {
  std::int64_t modes = 0;
  WideSum wavenumber{};  ///< in fundamental wavenumbers of the mesh
  WideSum power{};       ///< |delta_k|^2, corrected for the assignment
  WideSum noise{};       ///< what shot noise of 1 has become there
};

/// A Fourier mode of a real field.
struct FieldMode {
  double real, imaginary;
};

/// The shells of wavenumbers, a fundamental one of the mesh wide, that modes on a mesh are summed in, and
/// what is to be known of modes by their numbers along an axis.
struct ModeShells {
  int points;       ///< n of the mesh
  int first, last;  ///< wavenumbers, rounded; last: behind it
  bool interlaced;  ///< there is a second mesh, half a spacing further
  double scale;     ///< from the modes of a transform to delta_k: 1 / n^3
  const double *window, *images,
      *alternating;       ///< [n / 2 + 1] factors of the assignment, by size of the number: ShellTables
  const FieldMode* turn;  ///< [.] exp(-i pi (x + y + z) / n) / 2, by that sum of numbers from least_sum() on

  GROVE_HOST_DEVICE int count() const { return last - first; }
  GROVE_HOST_DEVICE int least_sum() const { return -2 * ((points - 1) / 2); }
  GROVE_HOST_DEVICE int last_sum() const { return 3 * (points / 2); }

  /// Calls add(shell, modes, wavenumber, power, noise) with the terms of the mode with these numbers (z >=
  /// 0), if it belongs to a shell and has no number of Nyquist's frequency. plain, shifted: the transforms on
  /// the two meshes.
  template <class Add>
  GROVE_HOST_DEVICE void terms(int x, int y, int z, const FieldMode& plain, const FieldMode& shifted,
                               const Add& add) const {
    const std::int64_t square = std::int64_t{x} * x + std::int64_t{y} * y + std::int64_t{z} * z;
    const double size = std::sqrt(static_cast<double>(square));
    const int shell = static_cast<int>(size + 0.5);
    if (shell < first || shell >= last || 2 * x == points || 2 * y == points || 2 * z == points) return;
    const auto product = [&](const double* f) { return f[x < 0 ? -x : x] * f[y < 0 ? -y : y] * f[z]; };
    FieldMode mode = plain;
    double seen = product(images);
    if (interlaced) {
      const FieldMode by = turn[x + y + z - least_sum()];
      mode.real = 0.5 * plain.real + (by.real * shifted.real - by.imaginary * shifted.imaginary);
      mode.imaginary = 0.5 * plain.imaginary + (by.real * shifted.imaginary + by.imaginary * shifted.real);
      seen = 0.5 * (seen + product(alternating));
    }
    mode.real *= scale, mode.imaginary *= scale;
    const double over_window = 1 / product(window);
    const int copies = z == 0 ? 1 : 2;
    add(shell - first, copies, copies * size,
        copies * (mode.real * mode.real + mode.imaginary * mode.imaginary) * over_window,
        copies * seen * over_window);
  }
};

}  // namespace grove
