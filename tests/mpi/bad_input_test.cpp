// Every way in which input can be wrong: one InputError on all ranks, whose message names where and what
// would be right; nothing hangs, nothing half-written stays.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/errors.hpp"
#include "io/file.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "support/change_hdf5.hpp"
#include "support/foreign_formats.hpp"

namespace grove {
namespace {

using testing::GadgetStyle;
using testing::TestFolder;

constexpr Count n = 100;

class BadInput : public ::testing::Test {
 protected:
  const Communicator comm{MPI_COMM_WORLD};
  const Communicator alone{comm.split(comm.rank())};
  const TestFolder folder{comm, "bad-input"};

  /// The work must throw InputError on every rank, with the same message, which holds all parts.
  template <class Work>
  void expect_error(const Work& work, const std::vector<std::string>& parts) {
    std::string message = "no error";
    try {
      work();
    } catch (const InputError& error) {
      message = error.what();
    }
    for (const std::string& part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
    EXPECT_EQ(message, comm.broadcast(message)) << "all ranks say the same";
  }

  /// A file whose bytes are changed by `damage` cannot be read.
  template <class Damage>
  void expect_unreadable(std::string bytes, const Damage& damage, const std::vector<std::string>& parts) {
    damage(bytes);
    testing::put(comm, folder / "bad", [&] { return bytes; });
    std::vector<std::string> all{folder / "bad"};
    all.insert(all.end(), parts.begin(), parts.end());
    expect_error([&] { read_snapshot(comm, folder / "bad"); }, all);
    comm.barrier();
  }

  std::string gadget(const GadgetStyle& style = {}) {
    const Particles particles = testing::foreign_particles(alone, n);
    return testing::gadget_file(particles, style, 0, 0, particles.size());
  }
  std::string tipsy() { return testing::tipsy_file(testing::foreign_particles(alone, n), false, true, 0); }
  std::string hdf5() {
    write_snapshot(comm, folder / "good.hdf5", testing::scattered_particles(comm, n), {});
    return testing::bytes_of(folder / "good.hdf5");
  }

  /// Particles in which the one with id 42 is changed are refused.
  template <class Change>
  void expect_invalid(const Change& change, const std::vector<std::string>& parts,
                      ValidationOptions options = {}) {
    Particles particles = testing::scattered_particles(comm, n);
    options.source = "galaxy.hdf5";
    for (const Count piece : {Count{3}, Count{1} << 22}) {
      EXPECT_NO_THROW(validate(comm, particles, options, piece));
      Particles changed = particles;
      for (std::size_t i = 0; i < changed.size(); ++i)
        if (changed.id[i] == 42) change(changed, i);
      std::vector<std::string> all{"galaxy.hdf5"};
      all.insert(all.end(), parts.begin(), parts.end());
      expect_error([&] { validate(comm, changed, options, piece); }, all);
    }
  }

  void expect_refused(const std::string& text, const std::vector<std::string>& parts) {
    testing::put(comm, folder / "run.yml", [&] { return text; });
    std::vector<std::string> all{(folder / "run.yml") + ":"};
    all.insert(all.end(), parts.begin(), parts.end());
    expect_error([&] { read_parameters(comm, folder / "run.yml", {}); }, all);
    comm.barrier();
  }
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// As in a file of Grove; the second rank has none.
TEST_F(BadInput, repeated_ids_where_all_others_rise) {
  const int ranks = comm.size(), last = ranks == 2 ? 0 : ranks - 1, before = last == 2 ? 0 : last - 1;
  const auto id_of = [](int rank, std::size_t i) { return static_cast<ParticleId>(10 * rank) + i + 1; };
  Particles own;
  own.resize(comm.rank() == 1 ? 0 : 10);
  for (std::size_t i = 0; i < own.size(); ++i) testing::set_particle(own, i, id_of(comm.rank(), i));
  EXPECT_NO_THROW(validate_ids(comm, own, {.source = "a"}));
  const ParticleId repeated = last == 0 ? id_of(0, 4) : id_of(before, 9);
  if (comm.rank() == last) own.id[last == 0 ? 5 : 0] = repeated;
  expect_error([&] { validate_ids(comm, own, {.source = "a"}); },
               {fmt::format("id {}: occurs more than once", repeated)});
}

TEST_F(BadInput, truncated_files) {
  const auto halve = [](std::string& bytes) { bytes.resize(bytes.size() / 2); };
  const auto cut_one_byte = [](std::string& bytes) { bytes.pop_back(); };
  expect_unreadable(hdf5(), halve, {"cut short"});
  // Behind its content stands the checksum, of 32 bytes; see damaged_snapshot_test.cpp.
  const auto cut_content = [](std::string& bytes) { bytes.resize(bytes.size() - 33); };
  expect_unreadable(hdf5(), cut_content, {"cut short"});
  for (const int format : {1, 2}) {
    GadgetStyle style;
    style.format = format;
    expect_unreadable(gadget(style), halve, {"cut short"});
    expect_unreadable(gadget(style), cut_one_byte, {"cut short"});
  }
  expect_unreadable(tipsy(), halve, {"cut short", "bytes"});
  expect_unreadable(tipsy(), cut_one_byte, {"cut short", "bytes"});
  expect_unreadable("", halve, {"not a snapshot"});
}

TEST_F(BadInput, corrupt_files) {
  // The superblock of HDF5 holds a version number at byte 8 and addresses after byte 24.
  expect_unreadable(hdf5(), [](std::string& bytes) { bytes.replace(8, 60, 60, '\x55'); },
                    {"damaged", "checksum"});
  // The marker behind the header of GADGET's formats lies at byte 260; that before the positions at 264.
  expect_unreadable(gadget(), [](std::string& bytes) { bytes[260] = 7; }, {"damaged", "markers", "header"});
  expect_unreadable(gadget(), [](std::string& bytes) { bytes[264] = 7; }, {"damaged", "POS", "bytes"});
  expect_unreadable(gadget(), [](std::string& bytes) { bytes[7] = '\x80'; },
                    {"damaged", "particles of type 0"});
  expect_unreadable(tipsy(), [](std::string& bytes) { bytes += "x"; }, {"damaged", "bytes"});
  expect_unreadable("just some text, longer than any header", [](std::string&) {},
                    {"not a snapshot", "tipsy"});
}

TEST_F(BadInput, counts_that_cannot_be) {
  constexpr double most = 9223372036854774784;  // the last double below 2^63
  const std::tuple<const char*, double, double> faults[] = {
      {"NumPart_ThisFile", -1, 0}, {"NumPart_ThisFile", most, 0}, {"NumPart_Total", -1, 0},
      {"NumPart_Total", most, 1},  {"NumPart_Total", 0, -1},      {"NumPart_Total", 0, 2147483648}};
  for (const auto& [name, value, high] : faults) {
    write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), {});
    if (comm.is_master()) {
      testing::set_attribute(folder / "a.hdf5", "Header", name, value);
      testing::set_attribute(folder / "a.hdf5", "Header", "NumPart_Total_HighWord", high);
    }
    comm.barrier();
    expect_error([&] { read_snapshot(comm, folder / "a.hdf5"); },
                 {std::string("a.hdf5: Header/") + name + " has", "expected 0 to"});
  }
}

TEST_F(BadInput, wrong_byte_order) {
  // A header in this machine's order before blocks in the other one.
  GadgetStyle foreign;
  foreign.swapped = true;
  const std::string other = gadget(foreign);
  expect_unreadable(gadget(), [&](std::string& bytes) { bytes.replace(264, std::string::npos, other, 264); },
                    {"POS", "damaged"});
  expect_unreadable(tipsy(), [](std::string& bytes) { std::reverse(bytes.begin() + 12, bytes.begin() + 16); },
                    {"tipsy", "bytes"});
}

TEST_F(BadInput, positions_and_velocities_that_are_not_finite) {
  expect_invalid([](Particles& p, std::size_t i) { p.position[i].y = not_a_number; },
                 {"PartType4/Coordinates", "id 42", "finite"});
  expect_invalid([](Particles& p, std::size_t i) { p.position[i].z = -infinity; },
                 {"PartType4/Coordinates", "id 42", "finite"});
  expect_invalid([](Particles& p, std::size_t i) { p.velocity[i].x = infinity; },
                 {"PartType4/Velocities", "id 42", "finite"});
}

TEST_F(BadInput, huge_positions) {
  expect_invalid([](Particles& p, std::size_t i) { p.position[i].x = 1e200; },
                 {"PartType4/Coordinates", "id 42", "1e+18", "unit of length"});
}

TEST_F(BadInput, huge_velocities) {
  expect_invalid([](Particles& p, std::size_t i) { p.velocity[i].y = -1e200; },
                 {"PartType4/Velocities", "id 42", "1e+18", "unit of velocity"});
}

TEST_F(BadInput, softening_out_of_range) {
  const Particles particles = testing::scattered_particles(comm, n);
  for (const double softening : {1e25, -1.0, infinity, not_a_number})
    expect_error(
        [&] {
          validate(comm, particles, {.source = "a", .softening = {0, softening}});
        },
        {"a: ", "softening", "from 0 to 1e+18"});
}

TEST_F(BadInput, masses_that_are_negative_zero_or_not_a_number) {
  for (const double mass : {-1.0, -infinity, infinity, not_a_number})
    expect_invalid([&](Particles& p, std::size_t i) { p.mass[i] = mass; },
                   {"PartType4/Masses", "id 42", "positive"});
  expect_invalid([](Particles& p, std::size_t i) { p.mass[i] = 0; }, {"PartType4/Masses", "id 42", "tracer"});
  expect_invalid([](Particles& p, std::size_t i) { p.mass[i] = 1e40; }, {"PartType4/Masses", "unit of mass"});
}

TEST_F(BadInput, zero_mass_is_fine_for_a_tracer) {
  Particles particles = testing::scattered_particles(comm, n);
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (particles.type[i] == 4) particles.mass[i] = 0;
  EXPECT_NO_THROW(validate(comm, particles, {.source = "a", .tracer = 1 << 4}));
}

TEST_F(BadInput, duplicate_ids) {
  expect_invalid([](Particles& p, std::size_t i) { p.id[i] = 41; }, {"ParticleIDs", "id 41", "unique"});
}

TEST_F(BadInput, zero_particles) {
  GadgetStyle style;
  expect_unreadable(testing::gadget_file({}, style, 0, 0, 0), [](std::string&) {}, {"no particles"});
  expect_unreadable(testing::tipsy_file({}, false, true, 0), [](std::string&) {}, {"no particles"});
  write_snapshot(comm, folder / "empty.hdf5", Particles{}, {});
  expect_error([&] { read_snapshot(comm, folder / "empty.hdf5"); }, {"empty.hdf5", "no particles"});
  expect_error([&] { validate(comm, Particles{}, {.source = "empty"}); }, {"empty", "no particles"});
}

TEST_F(BadInput, more_leaves_than_particles) {
  expect_error(
      [&] { validate(comm, testing::scattered_particles(comm, n), {.source = "a", .leaves = n + 1}); },
      {"101 leaves", "100 particles"});
}

TEST_F(BadInput, coincident_particles_without_softening) {
  // Id 77 is of type 4 as 42 is; id 4 of type 1. Negative zero is at the same place as zero.
  const auto where = [](ParticleId id) {
    Particles particles;
    particles.resize(1);
    testing::set_particle(particles, 0, id);
    return particles.position[0];
  };
  for (const ParticleId partner : {77, 4})
    expect_invalid([&](Particles& p, std::size_t i) { p.position[i] = where(partner); },
                   {"Coordinates", "42", std::to_string(partner), "softening"});
  Particles particles = testing::scattered_particles(comm, n);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (particles.id[i] == 42) particles.position[i] = {0.0, 1, 2};
    if (particles.id[i] == 7) particles.position[i] = {-0.0, 1, 2};
  }
  expect_error([&] { validate(comm, particles, {.source = "a"}); }, {"id 7 and 42", "softening"});
  // A pair uses the larger softening: one that is softened makes the pair fine.
  EXPECT_NO_THROW(validate(comm, particles, {.source = "a", .softening = {0, 0, 0, 0, 0.1, 0}}));
}

TEST_F(BadInput, missing_datasets) {
  for (const auto& [fields, missing] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"Velocities", "Masses"}, "Coordinates"},
           {{"Coordinates", "Masses"}, "Velocities"},
           {{"Coordinates", "Velocities"}, "Masses"}}) {
    write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), {.fields = fields});
    expect_error([&] { read_snapshot(comm, folder / "a.hdf5"); },
                 {"a.hdf5", "no dataset PartType1/" + missing});
    comm.barrier();
  }
  GadgetStyle style;
  style.format = 2;
  for (const char* label : {"POS", "VEL", "MASS"})
    expect_unreadable(gadget(style), [&](std::string& bytes) { bytes.replace(bytes.find(label), 1, "X"); },
                      {"no block", label});
}

TEST_F(BadInput, comoving_snapshots) {
  struct Case {
    const char *group, *attribute;
    double value;
    const char* message;
  };
  const auto make = [&](const Case& c) {
    write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), {});
    if (comm.is_master()) testing::set_attribute(folder / "a.hdf5", c.group, c.attribute, c.value);
    comm.barrier();
  };
  for (const Case& c : {Case{"Header", "Redshift", 0.5, "Header/Redshift is 0.5"},
                        Case{"Header", "HubbleParam", 0.7, "HubbleParam is 0.7"},
                        Case{"Parameters", "ComovingIntegrationOn", 1, "Parameters/ComovingIntegrationOn"},
                        Case{"Cosmology", "Cosmological run", 1, "Cosmology/Cosmological run"}}) {
    make(c);
    expect_error([&] { read_snapshot(comm, folder / "a.hdf5"); }, {"a.hdf5", c.message, "physical"});
    const Snapshot read = read_snapshot(comm, folder / "a.hdf5", {.comoving = true});
    EXPECT_EQ(read.header.count(), n);
    EXPECT_EQ(read.header.comoving.empty(), !comm.is_master());
    comm.barrier();
  }
  for (const Case& c :
       {Case{"Header", "HubbleParam", 0, ""}, Case{"Parameters", "ComovingIntegrationOn", 0, ""}}) {
    make(c);
    EXPECT_NO_THROW(read_snapshot(comm, folder / "a.hdf5")) << c.attribute;
    comm.barrier();
  }
  // In the binary header the redshift lies at byte 80, h at 152.
  const auto put_number = [](std::string& bytes, std::size_t at, double value) {
    std::memcpy(bytes.data() + 4 + at, &value, sizeof(value));
  };
  expect_unreadable(gadget(), [&](std::string& bytes) { put_number(bytes, 80, 2); },
                    {"Header/Redshift is 2"});
  expect_unreadable(gadget(), [&](std::string& bytes) { put_number(bytes, 152, 0.7); },
                    {"HubbleParam is 0.7"});
}

TEST_F(BadInput, sets_of_too_many_files) {
  write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), {});
  if (comm.is_master())
    testing::set_attribute(folder / "a.hdf5", "Header", "NumFilesPerSnapshot", 0x1p32 + 1);
  comm.barrier();
  expect_error([&] { read_snapshot(comm, folder / "a.hdf5"); },
               {"a.hdf5", "4294967297 files", "1 to 1048576"});
  expect_unreadable(gadget(), [](std::string& bytes) { bytes[4 + 127] = '\x7f'; }, {"2130706433 files"});
}

TEST_F(BadInput, missing_files) {
  expect_error([&] { read_snapshot(comm, folder / "nothing"); }, {"nothing", "no such file"});
  expect_error([&] { read_snapshot(comm, folder.path()); }, {"is a folder"});
  expect_error([&] { read_parameters(comm, folder / "nothing.yml", {}); },
               {"nothing.yml", "cannot be opened"});
  write_snapshot(comm, folder / "set.hdf5", testing::scattered_particles(comm, n), {.files = 3});
  if (comm.is_master()) std::filesystem::remove(folder / "set.1.hdf5");
  comm.barrier();
  expect_error([&] { read_snapshot(comm, folder / "set.0.hdf5"); }, {"set.1.hdf5", "no such file"});
}

TEST_F(BadInput, periodic_boxes_whose_edge_is_told_nowhere) {
  const auto expect_no_edge = [&](const std::string& file, const std::vector<std::string>& parts) {
    expect_refused("initial_conditions: {file: " + folder / file + "}\ngravity: {softening: 0.01}\n" +
                       "time: {end: 1, step: 1}\nbox: {periodic: true}\n",
                   parts);
  };
  expect_no_edge("nothing", {"4: box.periodic", "without box.size", "nothing: no such file"});
  for (const auto& [edge, part] :
       {std::pair{0.0, "needs box.size"}, std::pair{-3.0, "needs box.size"},
        std::pair{infinity, "needs box.size"}, std::pair{not_a_number, "needs box.size"}}) {
    testing::put(comm, folder / "edge", [&] { return gadget({.box_size = edge}); });
    expect_no_edge("edge", {"4: box.periodic", part});
  }
  expect_refused("initial_conditions: {components: [{model: plummer}, {file: " + folder / "edge" +
                     "}]}\ngravity: {softening: 0.01}\ntime: {end: 1, step: 1}\nbox: {periodic: true}\n",
                 {"4: box.periodic", "needs box.size", "`grove info " + folder / "edge" + "` shows"});
  const std::string half = hdf5().substr(0, 3000);
  testing::put(comm, folder / "half", [&] { return half; });
  expect_no_edge("half", {"4: box.periodic", "half: "});
}

TEST_F(BadInput, output_folder_that_cannot_be_written) {
  testing::put(comm, folder / "file", [] { return "not a folder"; });
  for (const char* name : {"missing/a.hdf5", "file/a.hdf5"})
    expect_error([&] { write_snapshot(comm, folder / name, testing::scattered_particles(comm, n), {}); },
                 {folder.path(), "folder"});
  EXPECT_THROW(make_output_folder(folder / "file/below"), InputError);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"file"});
}

TEST_F(BadInput, folder_in_the_place_of_the_last_file_of_a_set) {
  if (comm.is_master()) std::filesystem::create_directory(folder / "a.4.hdf5");
  comm.barrier();
  expect_error(
      [&] { write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, n), {.files = 5}); },
      {"a.4.hdf5", "folder"});
  comm.barrier();
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a.4.hdf5"});
}

TEST_F(BadInput, files_appear_together_or_not_at_all) {
  for (const bool obstacle : {false, true}) {
    const std::string mine = folder / std::to_string(comm.rank()), last = mine + ".last";
    std::vector<AtomicFile> files;
    for (const std::string& name : {mine, last}) {
      files.emplace_back(name);
      std::ofstream(files.back().temporary()) << "content";
    }
    // The last file of the last rank cannot be renamed: all others have been by then.
    const bool blocked = obstacle && comm.rank() == comm.size() - 1;
    if (blocked) std::filesystem::remove(last), std::filesystem::create_directory(last);
    const auto commit = [&] { commit_together(comm, files); };
    if (obstacle)
      expect_error(commit, {fmt::format("{}.last: cannot be written", comm.size() - 1)});
    else
      EXPECT_NO_THROW(commit());
    files.clear();
    comm.barrier();
    EXPECT_EQ(folder.files().size(), obstacle ? 1u : 2 * static_cast<std::size_t>(comm.size()));
    comm.barrier();
  }
}

TEST_F(BadInput, disk_that_is_full_leaves_nothing_behind) {
  // A limit on the length of files stands in for a full disk: writes beyond it fail.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{20000, before.rlim_max};
  const auto write = [&](int files) {
    write_snapshot(comm, folder / "a.hdf5", testing::scattered_particles(comm, 2000), {.files = files});
  };
  setrlimit(RLIMIT_FSIZE, &small);
  for (const int files : {1, 2}) expect_error([&] { write(files); }, {"a.", "hdf5", "cannot be"});
  setrlimit(RLIMIT_FSIZE, &before);
  // One rank alone has no room, for a file that it writes alone.
  if (comm.rank() == comm.size() - 1) setrlimit(RLIMIT_FSIZE, &small);
  expect_error([&] { write(comm.size()); }, {"a.", "hdf5", "cannot be"});
  setrlimit(RLIMIT_FSIZE, &before);
  comm.barrier();
  EXPECT_EQ(folder.files(), std::vector<std::string>{});
}

const std::string good = "initial_conditions: {model: plummer}\ntime: {end: 1, step: 0.1}\n";

TEST_F(BadInput, parameter_of_the_wrong_type) {
  expect_refused(good + "gravity:\n  softening: soft\n", {"4: gravity.softening", "'soft'", "number"});
}

TEST_F(BadInput, parameter_of_the_wrong_unit) {
  expect_refused(good + "gravity:\n  softening: 3 Msun\n", {"4: gravity.softening", "3 Msun", "kpc"});
}

TEST_F(BadInput, parameter_that_is_a_fraction) {
  expect_refused(good + "gravity: {softening: 1}\ngas: {adiabatic_index: 5/3}\n",
                 {"4: gas.adiabatic_index", "'5/3'", "in decimals, as 1.6666667", "number, above 1"});
}

TEST_F(BadInput, parameter_out_of_range) {
  expect_refused(good + "gravity:\n  softening: -3 pc\n", {"4: gravity.softening", "-3 pc", "at least 0"});
}

TEST_F(BadInput, unknown_key) {
  expect_refused(good + "gravity:\n  softenning: 3 pc\n",
                 {"4: unknown key", "did you mean 'gravity.softening'"});
}

TEST_F(BadInput, contradictory_keys) {
  expect_refused(good + "gravity: {softening: 1}\noutput:\n  every: 1\n  times: [1]\n",
                 {"6: output.times", "output.every", ":5"});
}

}  // namespace
}  // namespace grove
