#pragma once

#include <cstddef>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/kokkos/bisection.hpp"
#include "kernels/math/leapfrog.hpp"

/// Loops over particles, each with its body: a struct of plain pointers, copied by value, that works on
/// particle i wherever its pointers are valid, in host memory on the host or in device memory on a device.
namespace grove {

/// Of make_records() (kernels/kokkos/bisection.hpp).
struct RecordBody {
  Box box;
  std::size_t first;      ///< index of particle 0
  const Vec3d* position;  ///< in, units of the run
  Record* records;        ///< out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    const IntegerPosition c = box.coordinates(position[i]);
    records[i] = {c.x, c.y, c.z, static_cast<std::uint32_t>(first + i)};
  }
};

/// velocity += factor acceleration.
struct KickBody {
  double factor;
  const Vec3f* acceleration;  ///< in
  Vec3d* velocity;            ///< in/out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    velocity[i] = kicked(velocity[i], acceleration[i], factor);
  }
};

/// position += factor velocity.
struct DriftBody {
  double factor;
  const Vec3d* velocity;  ///< in
  Vec3d* position;        ///< in/out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    position[i] = drifted(position[i], velocity[i], factor);
  }
};

/// Position and velocity a time dt later: second and first order.
struct PredictBody {
  double dt;
  const Vec3f* acceleration;  ///< in
  Vec3d* position;            ///< in/out
  Vec3d* velocity;            ///< in/out

  GROVE_HOST_DEVICE void operator()(std::size_t i) const {
    position[i] = predicted(position[i], velocity[i], acceleration[i], dt);
    velocity[i] = kicked(velocity[i], acceleration[i], dt);
  }
};

/// Runs a body for particles 0 .. count - 1 of arrays in host memory, and waits.
void run(std::size_t count, const KickBody& body);
void run(std::size_t count, const DriftBody& body);
void run(std::size_t count, const PredictBody& body);

}  // namespace grove
