#pragma once

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "support/particle_sets.hpp"

namespace grove::test {

/// Every particle of a set (make_particles()) is on some rank, once, with all fields that migrate.
/// Collective.
inline void expect_whole_particles_once(const Communicator& comm, const Particles& particles, Shape shape,
                                        std::uint64_t count, bool weighted) {
  Particles expected;
  expected.has_gas = particles.has_gas;
  expected.resize(1);
  std::vector<std::int64_t> times(count, 0);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const auto number = static_cast<std::uint64_t>(particles.velocity[i].x);  // as set_particle() has it
    ++times.at(number);
    set_particle(expected, 0, shape, number, weighted);
    for_each_field([&](const auto& field) {
      if (!field.info.migrate || !particles.holds(field.info)) return;
      EXPECT_EQ((particles.*field.array)[i], (expected.*field.array)[0])
          << field.info.name << " of " << number;
    });
  }
  comm.sum(std::span<std::int64_t>(times));
  EXPECT_EQ(times, std::vector<std::int64_t>(count, 1));
}

}  // namespace grove::test
