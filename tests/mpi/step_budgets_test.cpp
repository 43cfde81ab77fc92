// The calls that a step makes of other ranks have budgets: latency adds up, however fast a link is.
#include "support/step_budgets.hpp"

#include "backend/host_backend.hpp"

namespace grove {
namespace {

/// On any number of ranks.
const testing::StepBudgets budgets = {
    // What ranks' cells are; sums of forces; all that comes between two steps.
    {"block step", {3, 0, 0}},
    // After a longest step, where leaves do not have to move.
    {"first block step", {3, 0, 0}},
    // It ends: all particles are active, energy.csv has their totals.
    {"longest step", {20, 0, 0}},
    // Some 25 and 7 a level that all ranks cut together, of which there may be 19.
    {"new cuts", {160, 0, 0}},
    {"first cuts of an epoch", {160, 0, 0}},
};

void check(const testing::StepBudgets& of_rule, const std::string& rule,
           const std::string& model = "plummer") {
  const Communicator comm(MPI_COMM_WORLD);
  const auto make = [&](Particles particles, const GravityParameters& gravity) {
    return std::make_unique<HostBackend>(comm, std::move(particles), gravity);
  };
  testing::check_budgets(comm, of_rule, rule, make, model);
}

TEST(StepBudgets, hold_on_the_host) { check(budgets, "middle"); }

/// Nobody is told of new trees in old leaves.
TEST(StepBudgets, of_renewed_trees_hold_on_the_host) {
  check({{"block step", {3, 0, 0}}, {"renewed trees", {3, 0, 0}}}, "domains", "hernquist");
}

/// However deep the tree is: whether particles are in the cube and have work, the new parts of the ranks, if
/// work is shared out unevenly, how many particles move, what the parts hold, and the cells that each rank
/// has cut that others are to know. Particles of joined cells move on by what all know then.
TEST(StepBudgets, of_decompositions_in_one_round_hold_on_the_host) {
  if (Communicator(MPI_COMM_WORLD).size() == 1) GTEST_SKIP() << "one rank cuts alone";
  testing::StepBudgets of_domains = budgets;
  of_domains["new cuts"].collectives = 9;
  // The ranks tell places of some particles, and weigh parts of the cube.
  of_domains["first cuts of an epoch"].collectives = 10;
  check(of_domains, "domains");
}

}  // namespace
}  // namespace grove
