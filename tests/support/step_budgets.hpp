#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "physics/run_fixture.hpp"
#include "run/start/initial_state.hpp"
#include "support/particles.hpp"
#include "time/epoch.hpp"

namespace grove::testing {

/// The most that a step may make, on the rank that makes most.
struct StepBudget {
  static constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t collectives = any, host_waits = any, nccl_groups = any;
};
/// By kind of step (StepKinds), each of which is to be seen.
using StepBudgets = std::map<std::string, StepBudget>;

/// Kinds of steps, by their lines in log.jsonl.
class StepKinds {
 public:
  explicit StepKinds(double longest_step) : longest_step_(longest_step) {}

  /// The kind of the next line. In a "block step" some particles are active and trees are refitted; other
  /// kinds are named for what they do beside. The first cuts of an epoch have other axes than those before.
  std::string operator()(const nlohmann::json& step) {
    const bool is_first = std::exchange(ends_longest_, step.contains("energy"));
    if (step["counts"]["phases"].contains("move")) return "leaves move";  // as measured times have it
    if (step["tree_update"] == "redecompose") {
      const double longest = step["time"].get<double>() / longest_step_;
      constexpr int told = 20;  // rungs, by digits of the time in the log
      const auto ticks = std::llround(std::ldexp(longest, told)) << (deepest_rung - told);
      const bool is_first_of_epoch =
          epoch_.cut(step["step"].get<std::int64_t>() - 1,
                     {ticks / BlockClock::ticks_per_step, ticks % BlockClock::ticks_per_step});
      const std::string cuts = is_first_of_epoch ? "first cuts of an epoch" : "new cuts";
      return ends_longest_ ? "longest step, " + cuts : cuts;
    }
    if (ends_longest_) return "longest step";
    if (step["tree_update"] == "renew") return "renewed trees";
    return is_first ? "first block step" : "block step";
  }

 private:
  bool ends_longest_ = false;
  double longest_step_;
  Epoch epoch_;  ///< of the last cuts
};

/// Makes a run of twelve longest steps and compares its log with the budgets. rule: of the decomposition;
/// make: a backend with these particles; model: "hernquist" renews trees; particles: so many, or some fewer.
/// Collective.
inline void check_budgets(
    const Communicator& comm, const StepBudgets& budgets, const std::string& rule,
    const std::function<std::unique_ptr<Backend>(Particles, const GravityParameters&)>& make,
    const std::string& model = "plummer", Count particles = 2000) {
  const TestFolder folder(comm, "budgets");
  const std::string text = fmt::format(
      "units: {{system: none}}\n"
      "initial_conditions: {{model: {}, n: {}}}\n"
      "gravity: {{softening: 0.02}}\n"
      "decomposition: {{rule: {}}}\n"
      "time: {{end: 0.6, step: 0.05}}\n"
      "audit: {{every: 0}}\n"
      "output: {{folder: {}, render: false, times: []}}\n",
      model, particles, rule, folder.path());
  const Parameters parameters = parse_parameters(text, "test", {});
  InitialState state = initial_state(comm, parameters);
  Simulation(comm, parameters, make(std::move(state.particles), parameters.gravity), state.time).run();
  comm.barrier();  // the master writes the last lines
  if (!comm.is_master()) return;

  std::ifstream file(folder / "log.jsonl");
  std::map<std::string, StepBudget> most;
  StepKinds kind_of(0.05);
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json step = nlohmann::json::parse(line);
    if (step["event"] != "step") continue;
    const std::string kind = kind_of(step);
    // The first two have to do with the begin: the first forces, and the first step's outputs; the last one
    // with the end.
    if (step["step"] > 1 && step["time"] < 0.59) {
      const std::uint64_t collectives = step["counts"]["collectives"],
                          host_waits = step["counts"]["host_waits"],
                          nccl_groups = step["counts"]["nccl_groups"];
      if (const auto budget = budgets.find(kind); budget != budgets.end()) {
        EXPECT_LE(collectives, budget->second.collectives) << kind << ": " << step.dump();
        EXPECT_LE(host_waits, budget->second.host_waits) << kind << ": " << step.dump();
        EXPECT_LE(nccl_groups, budget->second.nccl_groups) << kind << ": " << step.dump();
      }
      auto& seen = most.try_emplace(kind, StepBudget{0, 0, 0}).first->second;
      seen.collectives = std::max(seen.collectives, collectives);
      seen.host_waits = std::max(seen.host_waits, host_waits);
      seen.nccl_groups = std::max(seen.nccl_groups, nccl_groups);
    }
  }
  for (const auto& [kind, budget] : budgets) EXPECT_TRUE(most.contains(kind)) << "no " << kind;
  for (const auto& [kind, seen] : most)
    fmt::print("{}: {} collectives, {} waits for the GPU, {} groups of NCCL\n", kind, seen.collectives,
               seen.host_waits, seen.nccl_groups);
}

}  // namespace grove::testing
