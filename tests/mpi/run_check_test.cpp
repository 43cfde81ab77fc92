// `grove run --check`: what a run would take, without running it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/memory.hpp"
#include "io/snapshot.hpp"
#include "run/first_steps.hpp"
#include "run/start/run_needs.hpp"
#include "support/foreign_formats.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

class RunCheck : public ::testing::Test {
 protected:
  std::string write_parameters(const std::string& particles, const std::string& output = "every: 0.1") {
    testing::put(comm, folder / "run.yml", [&] {
      return fmt::format(
          "units: {{system: none}}\ninitial_conditions: {{{}}}\ngravity: {{softening: 0.1}}\n"
          "time: {{begin: 0, end: 1, step: 0.01, steps: shared}}\n"
          "output: {{folder: {}, render: false, {}}}\n",
          particles, folder / "output", output);
    });
    return folder / "run.yml";
  }
  void run(const std::string& file, const std::vector<std::string>& more) const {
    std::vector<std::string> words{"run", file, "--backend", "kokkos"};
    words.insert(words.end(), more.begin(), more.end());
    testing::grove(comm, words);
    comm.barrier();
  }
  /// The output; error: the message of the InputError, if there is one.
  std::string told(const std::string& file, const std::vector<std::string>& more = {},
                   std::string* error = nullptr) {
    ::testing::internal::CaptureStdout();
    std::string message;
    std::vector<std::string> words{"--check"};
    words.insert(words.end(), more.begin(), more.end());
    try {
      run(file, words);
    } catch (const InputError& e) {
      message = e.what();
    }
    std::fflush(stdout);
    const std::string text = comm.broadcast(::testing::internal::GetCapturedStdout());
    EXPECT_EQ(message.empty(), error == nullptr) << message;
    if (error) *error = message;
    comm.barrier();
    return text;
  }
  std::string refusal(const std::string& file, const std::vector<std::string>& more = {}) {
    std::string error;
    told(file, more, &error);
    return error;
  }
  static void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
  }
  /// The numbers that a pattern's groups find in a text.
  static std::vector<double> numbers(const std::string& text, const std::string& pattern) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(text, match, std::regex(pattern))) << pattern << " is not in: " << text;
    std::vector<double> found;
    for (std::size_t i = 1; i < match.size(); ++i) found.push_back(std::stod(match[i]));
    return found;
  }
  /// The time that stands before a pattern, of which units of at least 2 are printed where there are such.
  static double seconds(const std::string& text, const std::string& pattern) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(text, match, std::regex("([0-9.e+-]+) (s|min|h) " + pattern))) << text;
    const double value = std::stod(match[1]);
    const std::string unit = match[2];
    EXPECT_TRUE(unit == "s" ? value <= 120 : unit == "min" ? value >= 2 && value <= 120 : value >= 2) << text;
    return value * (unit == "s" ? 1 : unit == "min" ? 60 : 3600);
  }
  /// Bytes of the files in the output folder that `is_meant`, those in its folders included.
  double bytes_in_output(const std::function<bool(const std::filesystem::path&)>& is_meant) const {
    double bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "output"))
      if (entry.is_regular_file() && is_meant(entry.path())) bytes += static_cast<double>(entry.file_size());
    return bytes;
  }

  const Communicator comm{MPI_COMM_WORLD};
  const testing::TestFolder folder{comm, "run-check"};
};

TEST_F(RunCheck, tells_what_a_run_takes_and_writes_nothing) {
  const std::string text = told(write_parameters("model: plummer, n: 100000"));
  expect_parts(
      text, {"particles    100000\n", "steps        100 longest ones, 11 snapshots", "logs         0.24 MB\n",
             comm.size() == 1 ? std::string("MB on its rank")
                              : fmt::format("MB on each of its {} ranks", comm.size()),
             "MB are available", "mass: 0.999 in 100000 of type 1\n", "virial ratio",
             "s for a longest step, trees included",
             fmt::format("sample       {} particles with the mass of all stand for these in what follows\n",
                         20000 * comm.size()),
             fmt::format("measured here with the sample of {}\n", 20000 * comm.size())});
  const std::string of_all = told(write_parameters("model: plummer, n: 1000"));
  expect_parts(of_all, {"mass: 0.999 in 1000 of type 1\n", "measured here with all 1000\n"});
  EXPECT_EQ(of_all.find("sample"), std::string::npos) << of_all;
  EXPECT_EQ(folder.files(), std::vector<std::string>{"run.yml"});
}

// So many particles that they take more than the program itself: what was predicted is enough, and not more
// than twice of what a run takes that writes snapshots and checkpoints.
TEST_F(RunCheck, predicts_the_memory_and_the_disk_of_a_run) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer keeps what is freed";
#endif
  const std::string file = write_parameters(fmt::format("model: plummer, n: {}", 400000 * comm.size()));
  const std::vector<std::string> two_steps{"-P", "time.end=0.02",        "-P", "output.every=0.01",
                                           "-P", "checkpoint.every=1e-6"};
  const std::string text = told(file, two_steps);
  const double memory = 1e6 * numbers(text, "memory +.* host .*, ([0-9.]+) MB on (?:each|its)")[0],
               disk = 1e6 * numbers(text, "disk +([0-9.]+) MB")[0];
  reset_peak_memory();
  run(file, two_steps);
  const double peak = comm.max(memory_use().peak);
  EXPECT_LE(peak, memory);
  EXPECT_GE(2 * peak, memory);
  const double written = bytes_in_output([](const auto&) { return true; });
  EXPECT_LE(written, disk);
  EXPECT_GE(2 * written, disk);
}

TEST_F(RunCheck, predicts_the_logs_of_a_run_that_goes_on) {
  const std::string file = write_parameters("model: plummer, n: 1000");
  const std::vector<std::string> block{"-P", "time.steps=block", "-P", "time.eta=0.02", "-P", "time.end=0.2"};
  expect_parts(told(file, block), {"as there are at the beginning"});
  run(file, block);
  const double written = bytes_in_output(
      [](const auto& path) { return path.extension() == ".csv" || path.extension() == ".jsonl"; });
  // As many steps again.
  std::vector<std::string> further{block};
  further.back() = "time.end=0.4";
  further.insert(further.end(), {"--resume", "auto"});
  const std::string text = told(file, further);
  expect_parts(text, {"as there were so far", "20 longest ones are left, 2 snapshots"});
  const double logs = 1e6 * numbers(text, "logs +([0-9.e+-]+) MB for")[0];
  EXPECT_LE(written, logs);
  EXPECT_GE(2 * written, logs);
}

// How short block steps become in the end nobody knows before, and does not decide whether a run fits. The
// largest acceleration of a Plummer sphere is 0.385, to which a neighbour adds 0.04 at most: a step is
// 1.3e-4 sqrt(0.1 / 0.4) = 6.5e-5, so an eighth of 4e-4, 5e-5.
TEST_F(RunCheck, counts_no_guess_on_the_disk) {
  const std::string file = write_parameters("model: plummer, n: 1000");
  const auto disk = [&](const std::string& text) { return numbers(text, "disk +([0-9.]+) MB")[0]; };
  const double shared = disk(told(file, {"-P", "time.step=4e-4"}));
  const std::string text =
      told(file, {"-P", "time.step=4e-4", "-P", "time.steps=block", "-P", "time.eta=1.3e-4"});
  EXPECT_EQ(disk(text), shared);
  const auto logs =
      numbers(text, "logs +([0-9.]+) MB for ([0-9]+) steps in each .* one in each ([0-9.]+) MB\n");
  EXPECT_EQ(logs.at(1), 8);
  EXPECT_GT(logs.at(0), logs.at(2));
}

TEST_F(RunCheck, tells_times_in_units_that_suit) {
  const std::string file = write_parameters("model: plummer, n: 1000");
  for (const char* step : {"1", "1e-4", "1e-6"}) {
    const std::string text = told(file, {"-P", fmt::format("time.step={}", step)});
    const double one = seconds(text, "for a longest step"), all = seconds(text, "for [0-9]+ longest steps?");
    EXPECT_NEAR(all * std::stod(step) / one, 1, 0.011) << "both are printed with three digits: " << text;
  }
}

TEST_F(RunCheck, tells_that_a_collapse_takes_longer_than_its_begin) {
  const auto says_so = [&](const std::string& model) {
    return told(write_parameters("model: " + model + ", n: 500"), {"-P", "time.steps=block"})
               .find("begins cold") != std::string::npos;
  };
  EXPECT_TRUE(says_so("cold-sphere"));
  EXPECT_FALSE(says_so("plummer"));
}

TEST_F(RunCheck, tells_that_steps_of_a_universe_get_shorter) {
  testing::put(comm, folder / "universe.yml", [&] {
    return fmt::format(
        "initial_conditions: {{model: cosmological-box, sites: 8, box_size: 50 Mpc}}\n"
        "cosmology: {{preset: planck2018}}\nbox: {{periodic: true}}\ngravity: {{softening: 100 kpc}}\n"
        "time: {{begin: z=49, end: z=0, step_ln_a: 0.1}}\noutput: {{folder: {}, render: false}}\n",
        folder / "output");
  });
  const std::string text = told(folder / "universe.yml");
  expect_parts(text, {"as structure forms"});
  EXPECT_EQ(text.find("begins cold"), std::string::npos);
}

TEST_F(RunCheck, tells_what_pictures_take) {
  const std::string file = write_parameters("model: plummer, n: 1000");
  EXPECT_EQ(told(file).find("pictures"), std::string::npos);
  expect_parts(told(file, {"-P", "output.render=true"}), {" s for 11 pictures\n"});
}

TEST_F(RunCheck, knows_direct_sums) {
  const std::string file = write_parameters("model: plummer, n: 1000");
  expect_parts(told(file, {"-P", "gravity.direct_below=1001"}), {"by direct sums", "with all 1000\n"});
  expect_parts(told(file, {"-P", "gravity.direct_below=1000"}), {"trees included"});
}

TEST(FirstSteps, of_more_particles_take_longer) {
  FirstSteps first;
  first.sample = 100, first.seconds = 1;
  EXPECT_DOUBLE_EQ(first.seconds_of(400, true), 16) << "pairs";
  EXPECT_DOUBLE_EQ(first.seconds_of(10000, false), 200) << "each walks a tree of twice the depth";
  EXPECT_DOUBLE_EQ(first.seconds_of(100, false), 1);
}

TEST_F(RunCheck, says_what_would_fit) {
  std::string error;
  const std::string text = told(write_parameters("model: plummer, n: 1e12"), {}, &error);
  expect_parts(text, {"DOES NOT FIT"});
  expect_parts(error, {"memory: ", "MB are available", "particles fit on", "use more hosts",
                       "disk: ", "there is room for 0 of 11 snapshots"});
}

TEST(Needs, grow_with_the_largest_leaf_and_with_other_ranks) {
  const auto bytes = [](int ranks, Count leaf_size, bool pictures) {
    return host_bytes_of_rank(2e5, ranks, {.pictures = pictures, .gravity = {}, .leaf_size = leaf_size});
  };
  EXPECT_EQ(bytes(1, 0, false), 68e6 + 232 * 2e5);
  EXPECT_EQ(bytes(1, 0, true), 128e6 + 232 * 2e5);
  EXPECT_GT(bytes(1, 4096, false), bytes(1, 0, false));
  EXPECT_GT(bytes(1, 200000, false), bytes(1, 4096, false) + 10e6) << "measured: 14.6 MB more in one leaf";
  EXPECT_EQ(bytes(1, 1000000, false), bytes(1, 200000, false)) << "no leaf has more than all particles";
  EXPECT_GT(bytes(2, 0, false), bytes(1, 0, false));
  EXPECT_EQ(bytes(8, 0, false), bytes(16, 0, false));
  HostUse spectra;
  spectra.mesh = 128;
  EXPECT_GT(host_bytes_of_rank(2e5, 1, spectra) - host_bytes_of_rank(2e5, 1, {}), 16.0 * 128 * 128 * 128)
      << "two meshes of a double and their transforms";
}

// A bound that is rough refuses nothing.
TEST(Need, that_is_not_certain_is_warned_of) {
  const Communicator comm(MPI_COMM_WORLD);
  const Need certain{
      .name = "disk", .where = "", .bytes = 9e6, .at_least = 3e6, .available = 2e6, .remedy = "less"};
  Need rough = certain;
  rough.at_least = 1e6;
  EXPECT_THROW(require_room(comm, {rough, certain}), Agreed<InputError>);
  ::testing::internal::CaptureStderr();
  EXPECT_NO_THROW(require_room(comm, {rough}));
  std::fflush(stderr);
  EXPECT_EQ(
      ::testing::internal::GetCapturedStderr(),
      comm.is_master()
          ? "warning: there may not be room enough; at most it takes disk: 9 MB, 2 MB are available; less\n"
          : "");
}

// A checkpoint does not tell particles by type, so snapshots of some types may be smaller than is thought.
TEST_F(RunCheck, of_a_run_that_goes_on_is_not_certain_of_snapshots_of_some_types) {
  RunAhead ahead;
  ahead.particles = 1000;
  ahead.written = 1e15;
  ahead.snapshots = 1;
  const Parameters parameters = parse_parameters(
      fmt::format(
          "initial_conditions: {{model: plummer}}\ngravity: {{softening: 1}}\ntime: {{end: 1, step: 1}}\n"
          "output: {{folder: {}}}\n",
          folder / "output"),
      "test", {});
  EXPECT_TRUE(disk_need(comm, parameters, ahead, false).may_fit());
  EXPECT_FALSE(disk_need(comm, parameters, ahead, false).fits());
  ahead.certainly_written = ahead.written;
  EXPECT_FALSE(disk_need(comm, parameters, ahead, false).may_fit());
}

TEST(Need, is_not_met_by_nothing) {
  EXPECT_FALSE(
      (Need{.name = "disk", .where = "", .bytes = 1, .at_least = 0, .available = 0, .remedy = ""}.fits()));
  EXPECT_TRUE(
      (Need{.name = "disk", .where = "", .bytes = 1, .at_least = 1, .available = {}, .remedy = ""}.fits()));
}

TEST_F(RunCheck, looks_into_the_files_of_particles) {
  write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, 100000),
                 {.units = Units::dimensionless()});
  const std::string file = write_parameters("file: " + folder / "a.hdf5");
  const double all = numbers(told(file), "disk +([0-9.]+) MB")[0];
  // Every seventh id is of type 4; 64 bytes of each, in 11 snapshots, are 10 MB, of 70.
  const double some = numbers(told(write_parameters("file: " + folder / "a.hdf5", "every: 0.1, types: [4]")),
                              "disk +([0-9.]+) MB")[0];
  EXPECT_NEAR(all - some, 11 * 64 * 0.1 * 6 / 7, 1) << "megabytes, rounded";
  if (comm.is_master()) {
    std::string bytes = testing::bytes_of(folder / "a.hdf5");
    bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
    std::ofstream(folder / "a.hdf5", std::ios::binary) << bytes;
  }
  comm.barrier();
  expect_parts(refusal(file), {"a.hdf5: damaged"});
}

// Density, smoothing length and internal energy in 11 snapshots, and 68 bytes of all fields of gas in three
// checkpoints, of 100,000 particles.
TEST_F(RunCheck, counts_what_gas_takes_unless_its_particles_get_another_type) {
  Particles gas = testing::scattered_particles(comm, 100000);
  gas.hold_gas();
  std::fill(gas.type.begin(), gas.type.end(), gas_type);
  std::fill(gas.internal_energy.begin(), gas.internal_energy.end(), 1.0);
  write_snapshot(comm, folder / "gas.hdf5", gas, {.units = Units::dimensionless()});
  const auto disk = [&](const std::string& type) {
    return numbers(told(write_parameters("components: [{file: " + folder / ("gas.hdf5" + type) + "}]")),
                   "disk +([0-9.]+) MB")[0];
  };
  EXPECT_NEAR(disk("") - disk(", type: {0: 1}"), 0.1 * (11 * 24 + 3 * 68), 1) << "megabytes, rounded";
}

TEST_F(RunCheck, tells_what_a_run_would_note_of_its_files) {
  testing::put(comm, folder / "bare.dat", [] {
    const Communicator alone(MPI_COMM_SELF);
    const Particles particles = testing::foreign_particles(alone, 60);
    return testing::gadget_file(particles, {}, 0, 0, particles.size());
  });
  expect_parts(told(write_parameters("file: " + folder / "bare.dat")), {"note ", "states no units"});
}

// Nobody has typed a length of the particles, so it is in the unit of the file, though the run is in kpc.
TEST_F(RunCheck, tells_lengths_in_the_unit_of_the_file_as_the_run_does) {
  write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, 100),
                 {.units = {3.085678e18, 1.989e33, 1e5}});
  testing::put(comm, folder / "pc.yml", [&] {
    return fmt::format(
        "initial_conditions: {{file: {}}}\ngravity: {{softening: 1e-4 kpc}}\n"
        "time: {{begin: 0, end: 1 kyr, step: 1 kyr, steps: shared}}\noutput: {{folder: {}, render: false}}\n",
        folder / "a.hdf5", folder / "output");
  });
  EXPECT_TRUE(std::regex_search(told(folder / "pc.yml"), std::regex("half-mass radius: [0-9.]+ pc")));
  run(folder / "pc.yml", {});
  std::ifstream file(folder / "output/energy.csv");
  std::string head;
  std::getline(file, head);
  expect_parts(head, {"time [kyr]", "lagrange_50 [pc]", "momentum_x [Msun km/s]"});
}

TEST_F(RunCheck, refuses_what_a_run_would_refuse_but_for_results_that_are_there) {
  const std::string file = write_parameters("model: plummer, n: 1000");
  expect_parts(refusal(file, {"--resume", "/nowhere"}), {"/nowhere"});
  if (comm.is_master()) std::filesystem::create_directories(folder / "output");
  if (comm.is_master()) std::ofstream(folder / "output/energy.csv") << "step";
  comm.barrier();
  expect_parts(told(file), {"holds the results of an earlier run", "(--resume auto)", "--overwrite"});
  expect_parts(told(file, {"--resume", "auto"}), {"holds results of a run"});
  if (comm.is_master())
    std::filesystem::remove_all(folder / "output"), std::ofstream(folder / "output") << "a file";
  comm.barrier();
  expect_parts(refusal(file), {"output: the output folder cannot be made"});
}

TEST_F(RunCheck, refuses_outputs_of_types_that_are_not_there) {
  const std::string source = "model: plummer, n: 1000";
  expect_parts(refusal(write_parameters(source, "types: [0, 4]")),
               {"output.types: there are no particles of type 0, 4; their types are 1"});
  expect_parts(told(write_parameters(source, "types: [0, 1]")), {"particles"});
  expect_parts(refusal(write_parameters(source), {"-P", "output.render={types: [2], pixels: 16}"}),
               {"output.render.types: there are no particles of type 2; their types are 1"});
}

TEST_F(RunCheck, tells_from_when_to_when) {
  expect_parts(told(write_parameters("model: plummer, n: 1000")), {"times        from 0 to 1\n"});
}

TEST_F(RunCheck, goes_on_where_the_run_would) {
  write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, 1000),
                 {.units = Units::dimensionless()});
  const std::string file = write_parameters("file: " + folder / "a.hdf5");
  run(file, {"-P", "time.end=0.2"});
  if (comm.is_master()) std::filesystem::remove(folder / "a.hdf5");
  comm.barrier();
  const auto before = folder.files();
  expect_parts(told(file, {"--resume", "auto"}),
               {"goes on      after step 20, time 0.2: ", "80 longest ones are left, 8 snapshots",
                "for a longest step, as it was so far\n"});
  EXPECT_EQ(told(file, {"--resume", "auto", "-P", "time.end=0.2"}), "") << "complete";
  expect_parts(refusal(file, {"--resume", "auto", "-P", "gravity.softening=0.2"}), {"gravity.softening"});
  expect_parts(refusal(file, {"--resume", "auto", "-P", "time.end=0.305"}),
               {"longest steps have been of 0.01: ", "0.3 or 0.31, not 0.305"});
  told(file, {"--resume", "auto", "-P", "time.end=0.31"});
  expect_parts(refusal(file, {"--resume", "auto", "--overwrite"}), {"give one of them"});
  EXPECT_EQ(folder.files(), before);
}

// The formula of a snapshot's length is what is written, but for headers of some kilobytes.
TEST_F(RunCheck, knows_how_long_snapshots_are) {
  constexpr Count n = 5000;
  for (const auto& fields :
       {std::vector<std::string>{}, std::vector<std::string>{"Coordinates", "Potential"}}) {
    const WriteOptions options{.fields = fields};
    write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), options);
    const auto found = static_cast<double>(std::filesystem::file_size(folder / "a.hdf5"));
    EXPECT_NEAR(found, static_cast<double>(n * bytes_per_particle(options, 1, false)), 30000);
    comm.barrier();
  }
}

TEST(Memory, available_is_no_more_than_there_is) {
  const double available = available_memory();
  EXPECT_GT(available, 0);
  EXPECT_LT(available, 1e15);
}

}  // namespace
}  // namespace grove
