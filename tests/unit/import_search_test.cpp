#include "neighbours/import_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/math/neighbour_box.hpp"

namespace grove {
namespace {

NeighbourNode particle_at(double x, double reach) { return {{x, 0, 0}, {0, 0, 0}, reach, 1, 0, 1}; }

// Targets in a box of half 2 with radii up to 3; other particles are at x from its face at 2 on. Groups take
// those closer than r = R + slack (half + 3 + R), slack = 2^-20, R the larger radius, as candidates
// (SweepFrame::around(), is_below()).
TEST(ImportSearch, asks_for_all_that_groups_may_take_as_candidates) {
  const NeighbourTarget target{{0, 0, 0}, {2, 2, 2}, 3};
  for (const double reach : {0.0, 3.0, 40.0}) {
    const double largest = std::max(3.0, reach), beyond = 0x1p-20 * (2 + 3 + largest);
    EXPECT_TRUE(may_have_candidates(particle_at(2 + largest + beyond, reach), target, {}));
    EXPECT_FALSE(may_have_candidates(particle_at(2 + 1.001 * largest, reach), target, {}));
  }
}

// Separations there are rounded by 2^-50 of the edge more.
TEST(ImportSearch, asks_for_them_across_the_faces_of_a_periodic_box) {
  const NearestImage nearest{1024, 1.0 / 1024};
  const NeighbourTarget target{{511, 0, 0}, {0x1p-30, 0x1p-30, 0x1p-30}, 0x1p-30};
  const double distance = 2 * 0x1p-30 + 0x1p-20 * 3 * 0x1p-30 + 0x1p-50 * 1024;
  EXPECT_TRUE(may_have_candidates(particle_at(511 + distance - 1024, 0), target, nearest));
}

TEST(ImportSearch, asks_for_nothing_where_there_are_no_targets) {
  EXPECT_FALSE(may_have_candidates(particle_at(0, 40), NeighbourBounds{}.target(), {}));
}

}  // namespace
}  // namespace grove
