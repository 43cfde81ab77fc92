#include "selftest/selftest.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "commands/backend_options.hpp"
#include "commands/commands.hpp"

namespace grove {
namespace {

void run_selftest(const Communicator& comm, BackendChoice choice) {
  const std::string no_gpu = resolve(comm, choice);
  if (comm.is_master()) {
    if (!no_gpu.empty()) fmt::print("no GPU is used: {}\n", no_gpu);
    fmt::print("backend {}, {}\n", choice.name, how_many(comm.size(), "rank"));
  }
  const auto start = std::chrono::steady_clock::now();
  int checks = 0, failures = 0;
  const BackendMaker make = [&](const Communicator& ranks, Particles particles,
                                const GravityParameters& gravity) {
    return make_backend(ranks, choice, std::move(particles), gravity);
  };
  selftest({comm, make}, [&](const SelfCheck& check) {
    ++checks;
    failures += !check.passed();
    if (!comm.is_master()) return;
    fmt::print("{}  {}: {:.6g}, expected {:.6g} within {:.2g}\n", check.passed() ? "pass" : "FAIL",
               check.name, check.found, check.expected, check.tolerance);
    std::fflush(stdout);
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (comm.is_master()) {
    fmt::print("{} of {} checks passed in {:.1f} s\n", checks - failures, checks, seconds.count());
    std::fflush(stdout);
  }
  if (failures > 0)
    throw Agreed<std::runtime_error>(fmt::format(
        "{} of {} checks failed: this build does not compute right on this machine; do not trust its results",
        failures, checks));
}

}  // namespace

void add_selftest(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "selftest",
      "Compute what is known from formulas, on this machine, and compare; status 1 if anything is off");
  auto choice = std::make_shared<BackendChoice>();
  add_backend_options(*command, *choice);
  command->callback(
      [choice, &action] { action = [choice](const Communicator& comm) { run_selftest(comm, *choice); }; });
}

}  // namespace grove
