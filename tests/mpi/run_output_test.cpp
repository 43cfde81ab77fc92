#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "io/render.hpp"
#include "io/snapshot.hpp"
#include "physics/run_fixture.hpp"
#include "run/guard/stop_requests.hpp"
#include "run/log/run_log.hpp"
#include "run/simulation.hpp"
#include "run/start/initial_state.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using testing::bytes_of;
using testing::TestFolder;

/// Runs a parameter file as `grove run` does.
void run(const Communicator& comm, const std::string& text) {
  const Parameters parameters = parse_parameters(text, "test", {});
  InitialState state = initial_state(comm, parameters);
  Simulation(comm, parameters, std::move(state.particles), state.time).run();
}

std::string circular_orbit(const std::string& folder, const std::string& output,
                           const std::string& time = "end: 0.1, step: 0.01") {
  return fmt::format(
      "units: {{system: none}}\n"
      "initial_conditions: {{model: kepler}}\n"
      "gravity: {{softening: 0}}\n"
      "time: {{{}, steps: shared}}\n"
      "output: {{folder: {}, render: false, {}}}\n",
      time, folder, output);
}

TEST(RunOutput, is_of_exactly_the_listed_times) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "listed-times");
  run(comm, circular_orbit(folder.path(), "times: [0, 0.0237, 0.1]"));
  const double times[] = {0, 0.0237, 0.1};
  double first_angle = 0;
  for (int i = 0; i < 3; ++i) {
    const Snapshot snapshot = read_snapshot(comm, folder / fmt::format("snapshot_{:03}.hdf5", i));
    EXPECT_EQ(snapshot.header.time, times[i]);
    const Particles both = testing::gathered_by_id(comm, snapshot.particles);
    ASSERT_EQ(both.size(), 2u);
    const Vec3d separation = both.position[1] - both.position[0];
    // On the circle of radius 1 at angle t. The leapfrog's error after 10 steps is below 10 dt^3 / 12 ~ 1e-6;
    // the prediction over less than dt adds dt^3 / 6 ~ 2e-7. The state at the nearest step is 3.7e-3 away.
    const double angle = std::atan2(separation.y, separation.x);
    if (i == 0) first_angle = angle;
    EXPECT_NEAR(norm(separation), 1, 2e-6);
    EXPECT_NEAR(angle - first_angle, times[i], 2e-6);
  }
}

TEST(RunOutput, of_a_step_is_its_state_though_the_times_round_differently) {
  // 3 * 0.1 is the double after 0.3: taken for a later time, the state at 0.2 would be
  // predicted over a whole step, with velocities wrong by a' dt^2 / 2 = 5e-3.
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "rounded"), exact(comm, "exact");
  run(comm, circular_orbit(folder.path(), "every: 0.3", "end: 0.6, step: 0.1"));
  run(comm, circular_orbit(exact.path(), "times: [0.3]", "end: 0.3, step: 0.1"));
  const auto state = [&](const std::string& path) {
    return testing::gathered_by_id(comm, read_snapshot(comm, path).particles);
  };
  const Particles rounded = state(folder / "snapshot_001.hdf5"), final = state(exact / "snapshot_000.hdf5");
  for (int i = 0; i < 2; ++i) EXPECT_LT(norm(rounded.velocity[i] - final.velocity[i]), 1e-12);
}

TEST(RunOutput, holds_everything_that_a_user_expects_and_repeats_to_the_bit) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "run-output"), again(comm, "run-again");
  if (comm.rank() == 0) std::ofstream(folder / "timebins.csv") << "of grove 0.1\n";
  run(comm, circular_orbit(folder.path(), "every: 0.05, types: [1]"));
  comm.barrier();  // the master writes the last lines
  EXPECT_EQ(folder.files(),
            (std::vector<std::string>{"audit.csv", "checkpoints", "energy.csv", "log.jsonl", "rungs.csv",
                                      "snapshot_000.hdf5", "snapshot_001.hdf5", "snapshot_002.hdf5",
                                      "timing.csv", "used-parameters.yml"}));
  const std::string energy = bytes_of(folder / "energy.csv");
  EXPECT_EQ(std::count(energy.begin(), energy.end(), '\n'), 1 + 11) << "a header, the begin and ten steps";

  EXPECT_EQ(read_snapshot(comm, folder / "snapshot_002.hdf5").header.leaf_size, default_leaf_size(2))
      << "a run that goes on from here keeps its leaves";

  const Parameters used =
      parse_parameters(bytes_of(folder / "used-parameters.yml"), "used", {"output.folder=" + again.path()});
  InitialState state = initial_state(comm, used);
  Simulation(comm, used, std::move(state.particles), state.time).run();
  EXPECT_EQ(bytes_of(folder / "snapshot_002.hdf5"), bytes_of(again / "snapshot_002.hdf5"));
}

std::vector<nlohmann::json> lines_of(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(RunOutput, log_has_a_line_of_every_step_that_agrees_with_the_tables) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "run-log");
  run(comm, circular_orbit(folder.path(), "every: 0.05") +
                "audit: {every: 5}\ncheckpoint: {every: 1e-9}\n"
                "potentials: [{type: plummer, mass: 1, scale: 0.5}]\n");
  comm.barrier();
  auto lines = lines_of(folder / "log.jsonl");
  std::vector<int> saved;
  std::erase_if(lines, [&](const nlohmann::json& line) {
    if (line["event"] != "checkpoint") return false;
    saved.push_back(line["step"]);
    return true;
  });
  EXPECT_EQ(saved, (std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  ASSERT_EQ(lines.size(), 1u + 11 + 1) << "start, the begin and ten steps, end";
  EXPECT_EQ(lines.front()["event"], "start");
  EXPECT_EQ(lines.front()["ranks"], comm.size());
  EXPECT_EQ(lines.front()["particles"], 2);
  EXPECT_FALSE(lines.front()["commit"].get<std::string>().empty());
  int on_hosts = 0;
  for (const auto& [host, ranks] : lines.front()["hosts"].items()) on_hosts += ranks.get<int>();
  EXPECT_EQ(on_hosts, comm.size());
  EXPECT_EQ(lines.back()["event"], "end");
  EXPECT_GT(lines.back()["memory"]["host_peak"], 0);
  EXPECT_EQ(lines.back()["verdict"]["audit"]["audits"], 3);
  EXPECT_EQ(lines.back()["verdict"]["angular_momentum"]["of"], "size");
  EXPECT_LT(lines.back()["verdict"]["energy"]["largest"], 0.01);
  EXPECT_TRUE(lines.back()["verdict"]["warnings"].empty());
  for (const char* phase : {"output", "checkpoint"}) EXPECT_GT(lines.back()["phases"][phase], 0) << phase;

  std::ifstream energy(folder / "energy.csv");
  std::string row;
  std::getline(energy, row);
  for (std::size_t i = 0; i < 11; ++i) {
    const nlohmann::json& line = lines[1 + i];
    EXPECT_EQ(line["event"], "step");
    EXPECT_EQ(line["step"], i);
    EXPECT_EQ(line["phases"].size(), step_phases.size());
    // A checkpoint behind each step is told of with the next one, whose seconds it is in.
    EXPECT_EQ(line["phases"]["checkpoint"] > 0, i > 1);
    // Another rank may be at it while the master is still at the line before.
    if (comm.size() == 1) {
      EXPECT_LE(line["phases"]["checkpoint"], line["seconds"]);
    }
    if (i == 0) {
      double phases = 0;
      for (const auto& [phase, seconds] : line["phases"].items()) phases += seconds.get<double>();
      EXPECT_NEAR(line["seconds"].get<double>(), phases, 1e-12 * phases) << "the first forces";
    }
    EXPECT_EQ(line.contains("audit"), i % 5 == 0);
    EXPECT_GT(line["memory"]["host"], 0);
    EXPECT_GE(line["bytes"]["sent"], line["bytes"]["trees"]);
    EXPECT_LE(line["counts"]["bytes"], line["bytes"]["sent"]);
    EXPECT_GE(line["counts"]["bytes"].get<double>() * comm.size(), line["bytes"]["sent"].get<double>());
    std::getline(energy, row);
    const nlohmann::json& e = line["energy"];
    EXPECT_EQ(
        row.find(fmt::format("{},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g},", i, line["time"].get<double>(),
                             e["kinetic"].get<double>(), e["potential"].get<double>(),
                             e["external"].get<double>(), e["total"].get<double>())),
        0u)
        << row;
    EXPECT_LT(e["external"], -0.1);
    EXPECT_DOUBLE_EQ(e["total"],
                     e["kinetic"].get<double>() + e["potential"].get<double>() + e["external"].get<double>());
  }
}

TEST(RunOutput, shows_types_that_there_are) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto run_with = [&](const std::string& types) {
    const TestFolder folder(comm, "types-of-pictures");
    run(comm, fmt::format("units: {{system: none}}\n"
                          "initial_conditions: {{model: kepler}}\n"
                          "gravity: {{softening: 0.1}}\n"
                          "time: {{end: 0.1, step: 0.1}}\n"
                          "output: {{folder: {}, render: {{types: {}, pixels: 16}}}}\n",
                          folder.path(), types));
  };
  EXPECT_NO_THROW(run_with("[1, 2]"));
  try {
    run_with("[0, 2]");
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "output.render.types: there are no particles of type 0, 2; their types are 1");
  }
}

// A sphere about the origin, which is a corner of the box.
TEST(RunOutput, pictures_of_a_periodic_box_are_those_of_its_snapshots) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "pictures-of-a-box");
  run(comm, fmt::format("units: {{system: none}}\ninitial_conditions: {{model: uniform-sphere, n: 1000}}\n"
                        "box: {{periodic: true, size: 3}}\ngravity: {{softening: 0.1, direct_below: 2000}}\n"
                        "time: {{end: 0.1, step: 0.05}}\n"
                        "output: {{folder: {}, every: 0.1, render: {{pixels: 64}}}}\n",
                        folder.path()));
  View view;
  view.pixels = 64;
  view.images = {3};
  Frame frame;
  for (const std::string name : {"snapshot_000", "snapshot_001"}) {
    const Snapshot snapshot = read_snapshot(comm, folder / (name + ".hdf5"));
    frame = render_png(comm, snapshot.particles, view, {snapshot.header.time, DisplayUnits::none()},
                       folder / "again.png", frame);
    EXPECT_EQ(frame.width, 3);
    comm.barrier();
    EXPECT_TRUE(bytes_of(folder / "again.png") == bytes_of(folder / (name + ".png"))) << name;
    comm.barrier();  // before the file is written again
  }
}

// In a uniform field the total energy depends on where its potential is 0. The pair has -0.125, and a field
// of 3 gives a mass of 1 three times the height of that place: for the first of these the total is 0, for the
// other
// 30. The error is relative to 0.375, so rounding tells them apart by a few times 2^-53 30 / 0.375 = 1e-14.
TEST(RunOutput, error_of_the_energy_does_not_depend_on_an_arbitrary_zero) {
  const Communicator comm(MPI_COMM_WORLD);
  std::vector<std::vector<double>> errors;
  for (const double zero : {0.125 / 3, 10.0}) {
    const TestFolder folder(comm, "zero-of-potential");
    run(comm,
        circular_orbit(folder.path(), "every: 0.1") +
            fmt::format("potentials: [{{type: uniform, acceleration: [0, 3, 0], position: [0, {}, 0]}}]\n",
                        zero));
    comm.barrier();
    errors.emplace_back();
    for (const nlohmann::json& line : lines_of(folder / "log.jsonl"))
      if (line["event"] == "step") errors.back().push_back(line["energy"]["error"]);
    comm.barrier();
  }
  ASSERT_EQ(errors[0].size(), 11u);
  for (std::size_t i = 0; i < errors[0].size(); ++i) EXPECT_NEAR(errors[0][i], errors[1][i], 1e-13);
  EXPECT_NE(errors[0].back(), 0);
}

TEST(RunOutput, is_in_the_units_that_the_user_wrote) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "run-units");
  // Two masses of 1e11 Msun on a circle: with masses of 0.5 in total 1, at a distance of 1 (grove ic --help).
  const auto energy_of = [&](const std::string& units, const std::string& values) {
    run(comm, fmt::format("units: {{system: {}}}\ninitial_conditions: {{model: kepler{}}}\n"
                          "gravity: {{softening: 0}}\ntime: {{end: 1 Myr, step: 0.5 Myr, steps: shared}}\n"
                          "output: {{folder: {}, render: false}}\n",
                          units, values, folder.path()));
    comm.barrier();
    std::ifstream file(folder / "energy.csv");
    std::string head, row;
    std::getline(file, head);
    while (std::getline(file, row) && file.peek() != EOF) {
    }
    return std::pair(head, row);
  };
  const auto [head, row] = energy_of("galactic", ", mass: 1e11 Msun, scale: 5 kpc");
  EXPECT_EQ(head.find("step,time [Myr],kinetic [Msun (km/s)^2],potential [Msun (km/s)^2]"), 0u) << head;
  EXPECT_NE(head.find("angular_momentum_z [Msun kpc km/s],centre_x [kpc]"), std::string::npos) << head;
  std::vector<double> values;
  std::istringstream cells(row);
  for (std::string cell; std::getline(cells, cell, ',') && !cell.empty();) values.push_back(std::stod(cell));
  ASSERT_GE(values.size(), 6u);
  EXPECT_NEAR(values[1], 1, 1e-11) << "12 digits";
  // E = -G m1 m2 / (2 a) with m1 = m2 = 5e10 Msun, a = 5 kpc, G = 4.30219e-6 kpc (km/s)^2 / Msun from
  // 6.6743e-8 * 1.989e33 / 3.085678e21 / 1e10; on a circle E = -K. In so short a time the orbit is exact to
  // 1e-5.
  const double exact = -6.6743e-8 * 1.989e33 / 3.085678e21 / 1e10 * 5e10 * 5e10 / 10;
  EXPECT_NEAR(values[5] / exact, 1, 1e-5);
  EXPECT_NEAR(values[2] / -exact, 1, 1e-4);
  const nlohmann::json start = lines_of(folder / "log.jsonl").front();
  EXPECT_EQ(start["units"]["energy"], "Msun (km/s)^2");
  EXPECT_NEAR(start["time_end"].get<double>(), 1, 1e-12);
}

/// Rows of block steps come with the next call: the last one, too, of a run that is left between two steps.
TEST(RunOutput, has_the_row_of_a_last_step_that_ends_no_longest_one) {
  const Communicator comm(MPI_COMM_WORLD);
  const TestFolder folder(comm, "run-last-row");
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: plummer, n: 500}\n"
      "gravity: {softening: 0.02}\n"
      "time: {end: 1, step: 0.25}\n"
      "output: {folder: " +
          folder.path() + ", render: false, times: []}\n",
      "test", {});
  InitialState state = initial_state(comm, parameters);
  StopRequests requests(comm, folder.path(), 0);
  Simulation simulation(comm, parameters, std::move(state.particles), state.time);
  if (comm.is_master()) std::raise(SIGUSR1);
  EXPECT_EQ(simulation.run(&requests), Ended::stopped);
  EXPECT_FALSE(simulation.is_synchronised());
  comm.barrier();  // the master writes the last lines
  if (!comm.is_master()) return;
  int rows = -2;  // the heading, and the begin
  std::ifstream file(folder / "timing.csv");
  for (std::string line; std::getline(file, line);) ++rows;
  EXPECT_EQ(rows, 1);
}

// Each line reaches the system at once: what a run leaves that is killed between two steps can be parsed to
// the end.
TEST(RunOutput, log_is_whole_after_every_step) {
  const Communicator comm(MPI_COMM_WORLD);
  if (!comm.is_master()) return;
  const Communicator alone(MPI_COMM_SELF);
  const TestFolder folder(alone, "run-log-whole");
  Telemetry telemetry(folder.path(), DisplayUnits::none());
  StepReport report;
  for (std::size_t steps = 1; steps < 10; ++steps) {
    report.step = static_cast<std::int64_t>(steps);
    report.wall_seconds = std::nan("");  // JSON has no such number
    telemetry.add(report);
    const auto lines = lines_of(folder / "log.jsonl");
    ASSERT_EQ(lines.size(), steps);
    EXPECT_EQ(lines.back()["step"], steps);
    EXPECT_TRUE(lines.back()["seconds"].is_null());
  }
}

}  // namespace
}  // namespace grove
