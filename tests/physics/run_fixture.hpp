#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/migration.hpp"
#include "io/parameters.hpp"
#include "particles/particles.hpp"
#include "run/simulation.hpp"

namespace grove::testing {

/// Rank's share of a set of particles that every rank holds whole.
Particles share_of(const Communicator& comm, const Particles& all);

using grove::gathered_by_id;

/// All fields, bit for bit.
void expect_same(const Particles& actual, const Particles& expected);

/// Radius about `centre` that holds a fraction of the particles (of equal mass).
double lagrange_radius(const Particles& all, const Vec3d& centre, double fraction);

}  // namespace grove::testing
