#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "physics/run_fixture.hpp"
#include "run/start/initial_state.hpp"
#include "support/particles.hpp"

namespace grove::testing {

/// The most that a step may make, on the rank that makes most.
struct StepBudget {
  static constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t collectives = any, host_waits = any;
};
/// By kind of step (kind_of()), each of which is to be seen.
using StepBudgets = std::map<std::string, StepBudget>;

/// The kind of a step, by its line in log.jsonl and the one before: "block step", in which some particles are
/// active and trees are refitted, or what it does beside.
inline std::string kind_of(const nlohmann::json& step, const nlohmann::json& before) {
  if (step["counts"]["phases"].contains("move")) return "leaves move";  // as measured times have it
  if (step["tree_update"] == "redecompose") return "new cuts";
  if (step.contains("energy")) return "longest step";
  if (step["tree_update"] == "rebuild") return "rebuild";
  return before.contains("energy") ? "first block step" : "block step";
}

/// Makes a run of three longest steps of 8 and compares its log with the budgets. make: a backend with these
/// particles. Collective.
inline void check_budgets(
    const Communicator& comm, const StepBudgets& budgets,
    const std::function<std::unique_ptr<Backend>(Particles, const GravityParameters&)>& make) {
  const TestFolder folder(comm, "budgets");
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
  Simulation(comm, parameters, make(std::move(state.particles), parameters.gravity), state.time).run();
  comm.barrier();  // the master writes the last lines
  if (!comm.is_master()) return;

  std::ifstream file(folder / "log.jsonl");
  std::map<std::string, StepBudget> most;
  nlohmann::json before;
  for (std::string line; std::getline(file, line);) {
    nlohmann::json step = nlohmann::json::parse(line);
    if (step["event"] != "step") continue;
    // The first two have to do with the begin: the first forces, and the first step's outputs.
    if (step["step"] > 1) {
      const std::string kind = kind_of(step, before);
      const std::uint64_t collectives = step["counts"]["collectives"],
                          host_waits = step["counts"]["host_waits"];
      if (const auto budget = budgets.find(kind); budget != budgets.end()) {
        EXPECT_LE(collectives, budget->second.collectives) << kind << ": " << step.dump();
        EXPECT_LE(host_waits, budget->second.host_waits) << kind << ": " << step.dump();
      }
      auto& seen = most.try_emplace(kind, StepBudget{0, 0}).first->second;
      seen.collectives = std::max(seen.collectives, collectives);
      seen.host_waits = std::max(seen.host_waits, host_waits);
    }
    before = std::move(step);
  }
  for (const auto& [kind, budget] : budgets) EXPECT_TRUE(most.contains(kind)) << "no " << kind;
  for (const auto& [kind, seen] : most)
    fmt::print("{}: {} collectives, {} waits for the GPU\n", kind, seen.collectives, seen.host_waits);
}

}  // namespace grove::testing
