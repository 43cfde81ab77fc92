#pragma once

#include <bit>
#include <cstdint>

#include "base/hash.hpp"
#include "base/host_device.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

namespace grove {

/// An exchange of particles must leave these as they are, whatever the order: sums that wrap around, so the
/// same for any order.
struct Census {
  std::uint64_t particles = 0;
  std::uint64_t id_sum = 0, id_xor = 0;
  std::uint64_t content = 0;  ///< over the bits of mass, position and velocity, mixed with their id

  GROVE_HOST_DEVICE static Census of_particle(ParticleId id, double mass, const Vec3d& position,
                                              const Vec3d& velocity) {
    std::uint64_t hash = mixed(mixed(id) ^ bits(mass));
    for (int axis = 0; axis < 3; ++axis)
      hash = mixed(mixed(hash ^ bits(position[axis])) ^ bits(velocity[axis]));
    return {1, id, id, hash};
  }

  friend bool operator==(const Census&, const Census&) = default;
  GROVE_HOST_DEVICE friend Census operator+(const Census& a, const Census& b) {
    return {a.particles + b.particles, a.id_sum + b.id_sum, a.id_xor ^ b.id_xor, a.content + b.content};
  }

 private:
  GROVE_HOST_DEVICE static std::uint64_t bits(double value) {
#ifdef __CUDA_ARCH__
    return static_cast<std::uint64_t>(__double_as_longlong(value));
#else
    return std::bit_cast<std::uint64_t>(value);
#endif
  }
};

}  // namespace grove
