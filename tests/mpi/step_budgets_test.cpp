// The calls that a step makes of other ranks have budgets: latency adds up, however fast a link is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "physics/run_fixture.hpp"
#include "run/start/initial_state.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

/// The most collectives that a step of a kind may make, on any number of ranks. Some particles are active,
/// and trees are refitted, unless a name says more.
const std::map<std::string, std::uint64_t> budgets = {
    // Roots of leaves; sizes of messages with trees; sums of forces; all that comes between two steps.
    {"block step", 4},
    // After a longest step, where leaves do not have to move.
    {"first block step", 4},
    // New trees in the same cells.
    {"rebuild", 10},
    // It ends: all particles are active, energy.csv has their totals.
    {"longest step", 24},
    // Some 25 and 7 a level that all ranks cut together, of which there may be 19.
    {"new cuts", 160},
};

/// By its line and the one before.
std::string kind_of(const nlohmann::json& step, const nlohmann::json& before) {
  if (step["counts"]["phases"].contains("move")) return "leaves move";  // as measured times have it
  if (step["tree_update"] == "redecompose") return "new cuts";
  if (step.contains("energy")) return "longest step";
  if (step["tree_update"] == "rebuild") return "rebuild";
  return before.contains("energy") ? "first block step" : "block step";
}

TEST(StepBudgets, of_collectives_hold) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "budgets");
  const std::string text = fmt::format(
      "units: {{system: none}}\n"
      "initial_conditions: {{model: plummer, n: 2000}}\n"
      "gravity: {{softening: 0.02}}\n"
      "time: {{end: 0.15, step: 0.05}}\n"
      "audit: {{every: 0}}\n"
      "output: {{folder: {}, render: false, times: []}}\n",
      folder.path());
  const Parameters parameters = parse_parameters(text, "test", {});
  InitialState state = initial_state(comm, parameters);
  Simulation(comm, parameters, std::move(state.particles), state.time).run();
  comm.barrier();  // the master writes the last lines
  if (!comm.is_master()) return;

  std::ifstream file(folder / "log.jsonl");
  std::map<std::string, std::uint64_t> most;
  nlohmann::json before;
  for (std::string line; std::getline(file, line);) {
    nlohmann::json step = nlohmann::json::parse(line);
    if (step["event"] != "step") continue;
    // The first two have to do with the begin: the first forces, and the first step's outputs.
    if (step["step"] > 1) {
      const std::string kind = kind_of(step, before);
      const std::uint64_t collectives = step["counts"]["collectives"];
      if (budgets.contains(kind)) {
        EXPECT_LE(collectives, budgets.at(kind)) << kind << ": " << step.dump();
      }
      most[kind] = std::max(most[kind], collectives);
      std::uint64_t in_phases = 0;
      for (const auto& [phase, counts] : step["counts"]["phases"].items())
        in_phases += counts.value("collectives", std::uint64_t{0});
      EXPECT_LE(in_phases, collectives);
      EXPECT_GT(in_phases, 0u);
    }
    before = std::move(step);
  }
  for (const auto& [kind, budget] : budgets) {
    EXPECT_GT(most[kind], 0u) << "no " << kind;
    fmt::print("{}: {} collectives of at most {}\n", kind, most[kind], budget);
  }
}

}  // namespace
}  // namespace grove
