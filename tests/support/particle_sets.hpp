#pragma once

#include <cmath>
#include <cstdint>

#include "base/hash.hpp"
#include "comm/communicator.hpp"
#include "particles/particles.hpp"

/// Particle sets that are made from the numbers of their particles alone, so every rank can make any part.
namespace grove::test {

inline double uniform(std::uint64_t seed) { return static_cast<double>(mixed(seed) >> 11) * 0x1p-53; }

enum class Shape {
  uniform,  ///< in the unit cube
  cusp,     ///< dense towards the origin, over many powers of ten
  equal,    ///< all at one point
  plane,    ///< y is the same for all
  pairs,    ///< two at every point
  lattice,  ///< on 64 points
};

inline Vec3d place(Shape shape, std::uint64_t i) {
  const Vec3d u{uniform(3 * i), uniform(3 * i + 1), uniform(3 * i + 2)};
  switch (shape) {
    case Shape::uniform:
      return u;
    case Shape::cusp:
      return std::pow(uniform(7777 + i), 6.0) * Vec3d{2 * u.x - 1, 2 * u.y - 1, 2 * u.z - 1};
    case Shape::equal:
      return {0.25, -3.0, 7.5};
    case Shape::plane:
      return {u.x, 0.125, u.z};
    case Shape::pairs:
      return place(Shape::uniform, i / 2);
    case Shape::lattice:
      return {std::floor(u.x * 4), std::floor(u.y * 4), std::floor(u.z * 4)};
  }
  return u;
}

/// Sets all fields of a particle to what belongs to number i; ids are unique and in no order.
inline void set_particle(Particles& particles, std::size_t at, Shape shape, std::uint64_t i, bool weighted) {
  const double x = static_cast<double>(i);
  particles.position[at] = place(shape, i);
  particles.velocity[at] = {x, x + 0.25, x + 0.5};
  particles.mass[at] = 1 + x;
  particles.id[at] = i * 7919 % 1000003;  // unique below that prime
  particles.type[at] = static_cast<std::uint8_t>(i % 6);
  particles.acceleration[at] = {static_cast<float>(i), 1, 2};
  particles.potential[at] = static_cast<float>(i) + 1;
  particles.old_acceleration[at] = static_cast<float>(i) + 2;
  particles.work[at] = weighted ? static_cast<std::uint32_t>(1 + mixed(i) % 1000) : 0;
  particles.rung[at] = static_cast<std::uint8_t>(i % 41);
  particles.previous_acceleration[at] = {static_cast<float>(i), 3, 4};
  if (!particles.has_gas) return;
  particles.internal_energy[at] = x + 0.125;
  particles.energy_rate[at] = x + 0.375;
  particles.density[at] = x + 0.625;
  particles.smoothing_length[at] = x + 0.75;
  particles.pressure[at] = x + 0.875;
  particles.hydro_acceleration[at] = {static_cast<float>(i), 5, 6};
  particles.velocity_divergence[at] = static_cast<float>(i) + 3;
  particles.balsara[at] = static_cast<float>(i) + 4;
  particles.density_response[at] = static_cast<float>(i) + 5;
  particles.signal_speed[at] = static_cast<float>(i) + 6;
}

/// This rank's part of a set, chosen at random; ranks below `first_rank` have none.
inline Particles make_particles(const Communicator& comm, Shape shape, std::uint64_t count,
                                bool weighted = false, int first_rank = 0, bool gas = false) {
  Particles particles;
  if (gas) particles.hold_gas();
  const auto ranks = static_cast<std::uint64_t>(comm.size() - first_rank);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (first_rank + static_cast<int>(mixed(i + 99) % ranks) != comm.rank()) continue;
    particles.resize(particles.size() + 1);
    set_particle(particles, particles.size() - 1, shape, i, weighted);
  }
  return particles;
}

/// This rank's share of `count` particles, whose numbers are their ids; place_of: the place of a number.
template <class PlaceOf>
Particles scattered(const Communicator& comm, std::uint64_t count, const PlaceOf& place_of) {
  Particles particles;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (static_cast<int>(mixed(i) % static_cast<std::uint64_t>(comm.size())) != comm.rank()) continue;
    const std::size_t at = particles.size();
    particles.resize(at + 1);
    set_particle(particles, at, Shape::uniform, i, false);
    particles.id[at] = i;
    particles.position[at] = place_of(i);
  }
  return particles;
}

}  // namespace grove::test
