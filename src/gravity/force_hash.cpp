#include "gravity/force_hash.hpp"

#include <bit>
#include <cstddef>

#include "base/hash.hpp"

namespace grove {
namespace {

std::uint64_t word(float low, float high) {
  return std::bit_cast<std::uint32_t>(low) | std::uint64_t{std::bit_cast<std::uint32_t>(high)} << 32;
}

}  // namespace

std::uint64_t force_hash(const Communicator& comm, const Particles& particles) {
  std::uint64_t sum = 0;  // modulo 2^64, so in any order
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Vec3f& a = particles.acceleration[i];
    sum += mixed(mixed(mixed(particles.id[i]) ^ word(a.x, a.y)) ^ word(a.z, particles.potential[i]));
  }
  return comm.sum(sum);
}

}  // namespace grove
