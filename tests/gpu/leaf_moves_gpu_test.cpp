// Leaves that change their owners between decompositions, on GPUs. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "support/gpu_ranks.hpp"
#include "support/leaf_move_checks.hpp"

namespace grove {
namespace {

class LeafMovesOnGpu : public testing::GpuRanks {
 protected:
  LeafMovesOnGpu() { gravity_.softening.fill(0.02); }
  void check(Count particles, std::optional<PayloadPath> payload = {},
             const std::string& model = "merger") const {
    const auto on_gpu = [&](const Communicator& ranks, Particles own, const GravityParameters& gravity) {
      return make_backend(ranks, {"cuda", true, ranks.size() > 1 ? payload : std::nullopt}, std::move(own),
                          gravity);
    };
    testing::check_leaf_moves(comm_, on_gpu, gravity_, particles, model);
  }

  GravityParameters gravity_;
};

TEST_F(LeafMovesOnGpu, change_no_bit) { check(5000); }

TEST_F(LeafMovesOnGpu, change_no_bit_with_octrees) {
  gravity_.tree = LocalTreeKind::octree;
  check(5000);
  gravity_.critical_separation = 0.2;  // so that groups are split
  check(5000);
  gravity_.criterion = Criterion::opening_cell;
  check(5000);
}

TEST_F(LeafMovesOnGpu, change_no_bit_with_kd_trees) {
  gravity_.tree = LocalTreeKind::kd;
  check(5000);
}

TEST_F(LeafMovesOnGpu, change_no_bit_along_ropes) {
  gravity_.walk = WalkKind::rope;
  check(5000);
}

TEST_F(LeafMovesOnGpu, change_no_bit_of_gas) { check(3000, {}, "evrard"); }

TEST_F(LeafMovesOnGpu, change_no_bit_of_direct_sums) {
  gravity_.direct_below = 10000;
  check(5000);
}

TEST_F(LeafMovesOnGpu, change_no_bit_whichever_way_they_travel) {
  for (const auto& exchange : exchanges()) {
    SCOPED_TRACE(static_cast<int>(exchange->path()));
    check(3000, exchange->path());
  }
}

}  // namespace
}  // namespace grove
