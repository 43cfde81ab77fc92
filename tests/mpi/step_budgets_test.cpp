// The calls that a step makes of other ranks have budgets: latency adds up, however fast a link is.
#include "support/step_budgets.hpp"

#include "backend/host_backend.hpp"

namespace grove {
namespace {

/// On any number of ranks.
const testing::StepBudgets budgets = {
    // Roots of leaves; sizes of messages with trees; sums of forces; all that comes between two steps.
    {"block step", {4, 0}},
    // After a longest step, where leaves do not have to move.
    {"first block step", {4, 0}},
    // New trees in the same cells.
    {"rebuild", {10, 0}},
    // It ends: all particles are active, energy.csv has their totals.
    {"longest step", {24, 0}},
    // Some 25 and 7 a level that all ranks cut together, of which there may be 19.
    {"new cuts", {160, 0}},
};

TEST(StepBudgets, hold_on_the_host) {
  const Communicator comm(MPI_COMM_WORLD);
  testing::check_budgets(comm, budgets, [&](Particles particles, const GravityParameters& gravity) {
    return std::make_unique<HostBackend>(comm, std::move(particles), gravity);
  });
}

}  // namespace
}  // namespace grove
