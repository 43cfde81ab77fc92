#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"

namespace grove {

/// v += a dt, in double precision.
GROVE_HOST_DEVICE inline Vec3d kicked(const Vec3d& velocity, const Vec3f& acceleration, double kick) {
  return velocity + kick * acceleration.as<double>();
}

/// x += v dt, in double precision.
GROVE_HOST_DEVICE inline Vec3d drifted(const Vec3d& position, const Vec3d& velocity, double drift) {
  return position + drift * velocity;
}

/// Position at a time between synchronised states, second order: x + v dt + a dt^2 / 2.
GROVE_HOST_DEVICE inline Vec3d predicted(const Vec3d& position, const Vec3d& velocity,
                                         const Vec3f& acceleration, double dt) {
  return position + dt * velocity + (0.5 * dt * dt) * acceleration.as<double>();
}

}  // namespace grove
