// Runs that are saved and go on elsewhere, on GPUs. Ranks share GPUs if there are fewer.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "backend/backend.hpp"
#include "support/checkpoint_checks.hpp"
#include "support/gpu_ranks.hpp"
#include "support/leaf_move_checks.hpp"

namespace grove {
namespace {

std::unique_ptr<Backend> on_gpu(const Communicator& ranks, Particles own, const GravityParameters& gravity) {
  return make_backend(ranks, {"cuda", true, std::nullopt}, std::move(own), gravity);
}

const std::string block_steps = "time: {begin: 0, end: 0.1, step: 0.05, eta: 0.1}\n",
                  shared_steps = "time: {begin: 0, end: 0.15, step: 0.00625, steps: shared}\n",
                  bisections = "gravity: {softening: 0.02}\n",
                  octrees = "gravity: {softening: 0.02, tree: octree}\n",
                  kd_trees = "gravity: {softening: 0.02, tree: kd, bucket: 4}\n";

class CheckpointOnGpu : public testing::GpuRanks {
 protected:
  void check(const std::string& sections, Count particles = 5000) const {
    testing::check_relay(comm_, on_gpu, sections, particles);
  }
};

TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_after_each_step_on_other_ranks) {
  check(bisections + block_steps);
  check(bisections + shared_steps);
}

/// The galaxies reach over faces of the box.
TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_in_periodic_boxes) {
  const std::string box = "box: {periodic: true, size: 5}\n";
  check(box + bisections + block_steps);
  check(box + bisections + shared_steps);
  check(box + octrees + block_steps);
}

/// Walks of 60,000 particles split their long groups (cuda::walk_parts()). The limit follows from earlier
/// walks.
TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_where_few_walk_through_all_boxes) {
  check("box: {periodic: true, size: 5}\n" + bisections + block_steps, 60000);
}

TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_with_octrees) {
  check(octrees + block_steps);
  check(octrees + shared_steps);
  check(
      "gravity: {softening: 0.02, tree: octree, criterion: opening_cell, bucket: 2}\n"
      "tuning: {rebuild_interval: 5}\n" +
      shared_steps);
}

TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_with_rebuilds_by_what_walks_cost) {
  check(bisections + "tuning: {rebuild_above: 0.02}\n" + block_steps);
}

TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_with_kd_trees) { check(kd_trees + block_steps); }

TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_in_external_potentials) {
  check(bisections + block_steps + testing::external_potentials_of_all_kinds);
}

TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_along_ropes) {
  check("gravity: {softening: 0.02, walk: rope}\n" + block_steps);
}

TEST_F(CheckpointOnGpu, goes_on_bit_for_bit_with_direct_sums) {
  check("gravity: {softening: 0.02, direct_below: 1000}\n" + block_steps, 200);
}

TEST_F(CheckpointOnGpu, restores_a_backend_after_each_step) {
  GravityParameters gravity;
  gravity.softening.fill(0.02);
  testing::check_change(testing::OnTheWay::restores, comm_, on_gpu, gravity, 5000);
  gravity.tree = LocalTreeKind::octree;
  testing::check_change(testing::OnTheWay::restores, comm_, on_gpu, gravity, 5000);
}

}  // namespace
}  // namespace grove
