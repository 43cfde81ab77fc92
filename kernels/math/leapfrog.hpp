#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/block_steps.hpp"

/// Kick-drift-kick leapfrog under block time steps. Inside its step a particle has the velocity u of the
/// middle of the step; where it is in the meantime, two integrators tell differently:
///   leapfrog             x moves with u (Quinn et al. 1997, astro-ph/9710043, KDK)
///   predictor_corrector  x = x0 + v0 s + a0 s^2 / 2 a time s into the step, which is u = v0 + a0 h / 2 less
///                        a0 (h - s) / 2 on average (Miki and Umemura 2017, New Astron. 52, 65)
/// At the end of the step both are where the leapfrog is.
namespace grove {

enum class Integrator : std::uint8_t { leapfrog, predictor_corrector };

/// v += a times the factor of the rung, of active particles.
struct Kick {
  int first_active = 0;
  RungTable factor{};  ///< time
};

/// x += factor (v - lag a), the lag by rung.
struct Drift {
  double factor = 0;  ///< time
  bool has_lag = false;
  RungTable lag{};  ///< time
};

/// Position and velocity at another time: x + ahead v + position a, v + velocity a, both by rung.
struct Prediction {
  double ahead = 0;      ///< time
  RungTable position{};  ///< time squared
  RungTable velocity{};  ///< time
};

/// v += a dt, in double precision.
GROVE_HOST_DEVICE inline Vec3d kicked(const Vec3d& velocity, const Vec3f& acceleration, double kick) {
  return velocity + kick * acceleration.as<double>();
}

/// x += v dt, in double precision.
GROVE_HOST_DEVICE inline Vec3d drifted(const Vec3d& position, const Vec3d& velocity, double drift) {
  return position + drift * velocity;
}

/// The same with the velocity that the particle had `lag` earlier.
GROVE_HOST_DEVICE inline Vec3d drifted(const Vec3d& position, const Vec3d& velocity,
                                       const Vec3f& acceleration, double drift, double lag) {
  return position + drift * kicked(velocity, acceleration, -lag);
}

}  // namespace grove
