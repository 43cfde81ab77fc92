// Forces on active particles alone, on the host.
#include <gtest/gtest.h>

#include "backend/host_backend.hpp"
#include "support/active_checks.hpp"

namespace grove {
namespace {

void check(const GravityParameters& kind) {
  const Communicator comm(MPI_COMM_WORLD);
  testing::check_active_through_trees(
      comm, kind, [](const Communicator& ranks, Particles own, const GravityParameters& gravity) {
        return std::make_unique<HostBackend>(ranks, std::move(own), gravity);
      });
}

TEST(ActiveParticles, get_the_forces_that_all_would) { check({}); }

TEST(ActiveParticles, get_the_forces_that_all_would_with_octrees) {
  GravityParameters kind;
  kind.tree = LocalTreeKind::octree;
  check(kind);
}

TEST(ActiveParticles, get_the_forces_that_all_would_along_ropes) {
  GravityParameters kind;
  kind.walk = WalkKind::rope;
  check(kind);
}

TEST(ActiveParticles, get_the_forces_that_all_would_by_direct_summation) {
  GravityParameters kind;
  kind.direct_below = 10000;
  check(kind);
}

}  // namespace
}  // namespace grove
