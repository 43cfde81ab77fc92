#include "particles/models/random.hpp"

#include <cmath>
#include <numbers>

namespace grove {
namespace {

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// 52 bits, shifted by half a unit so that neither 0 nor 1 occurs.
double to_open_interval(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(a) << 20) | (b >> 12);
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * counter[0];
    const std::uint64_t p1 = 0xCD9E8D57ull * counter[2];
    counter = {high(p1) ^ counter[1] ^ key[0], low(p1), high(p0) ^ counter[3] ^ key[1], low(p0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

double RandomStream::uniform() {
  if (left_ == 0) {
    const auto r =
        philox4x32({low(block_), high(block_), low(particle_), high(particle_)}, {low(seed_), high(seed_)});
    ready_ = {to_open_interval(r[2], r[3]), to_open_interval(r[0], r[1])};
    left_ = 2;
    ++block_;
  }
  return ready_[static_cast<std::size_t>(--left_)];
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

Vec3d RandomStream::isotropic(double length) {
  const double z = 2 * uniform() - 1;
  const double angle = 2 * std::numbers::pi * uniform();
  const double r = std::sqrt((1 - z) * (1 + z));
  return Vec3d{r * std::cos(angle), r * std::sin(angle), z} * length;
}

}  // namespace grove
