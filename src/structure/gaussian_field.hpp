#pragma once

#include <cstdint>
#include <functional>

#include "base/array.hpp"
#include "fourier/mesh_transform.hpp"

namespace grove {

/// The random numbers of a Gaussian field.
struct NoiseParameters {
  std::uint64_t seed = 1;
  bool fixed = false;   ///< every mode has the amplitude that the spectrum says, phases alone are random
  bool paired = false;  ///< all phases the other way around: the partner of the field without it
};

/// The random number of a mode, of mean square 1: the same in a mesh of any size, and that of mode -k is the
/// conjugate of that of mode k. 0 for k = 0. Mode numbers below 2^20 in size.
Complex noise_of(const Mode& mode, const NoiseParameters& noise);

/// Modes delta_k of a periodic field delta(x) = sum over k of delta_k exp(i k x), whose mean |delta_k|^2 is
/// P(k) / L^3: this rank's part. The mean mode is 0, and so are Nyquist's, which a mesh cannot tell from
/// their mirror images. power: P(k), of wavenumbers and with the cube of the length that `box` L is in. Fixed
/// amplitudes and pairs: Angulo and Pontzen 2016 (MNRAS 462, L1).
///
/// Cost: one cipher, logarithm, sine and cosine a mode; the power once for each |k|, some 3/4 n^2 of them.
Array<Complex> gaussian_field(const MeshPart& part, const std::function<double(double)>& power, double box,
                              const NoiseParameters& noise);

/// True if a mode is its own mirror image along an axis, and not 0 there.
inline bool is_nyquist(const MeshPart& part, const Mode& mode) {
  return 2 * mode.x == part.points || 2 * mode.y == part.points || 2 * mode.z == part.points;
}

}  // namespace grove
