// `grove ic`, `grove decompose`, `grove info` and `grove render` as the command line runs them.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "support/foreign_formats.hpp"
#include "support/particle_sets.hpp"
#include "support/particles.hpp"
#include "support/periodic_boxes.hpp"
#include "support/png.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using test::make_particles;
using test::Shape;
using testing::grove;
using testing::Png;
using testing::read_json;

class FileCommands : public ::testing::Test {
 protected:
  /// Writes a set of particles, as all ranks of the communicator hold them.
  std::string write(const std::string& name, const Particles& particles) {
    WriteOptions options;
    options.units = Units::dimensionless();
    write_snapshot(comm_, folder_ / name, particles, options);
    return folder_ / name;
  }
  std::string write_cusp() { return write("cusp.hdf5", make_particles(comm_, Shape::cusp, 3000)); }

  /// The JSON of `grove decompose`; alone: each rank for itself.
  nlohmann::json decompose(std::vector<std::string> words, bool alone = false) {
    const std::string path = folder_ / (alone ? "alone" + std::to_string(comm_.rank()) : "all") + ".json";
    words.insert(words.begin(), "decompose");
    words.insert(words.end(), {"--json", path});
    grove(alone ? alone_ : comm_, words);
    const nlohmann::json json = read_json(path);
    comm_.barrier();  // before the file is written again
    return json;
  }

  /// All that `grove` remarks on.
  std::string remarked(const std::vector<std::string>& words) {
    ::testing::internal::CaptureStderr();
    told(words);
    std::fflush(stderr);
    return comm_.broadcast(::testing::internal::GetCapturedStderr());
  }

  /// All that `grove` prints.
  std::string told(const std::vector<std::string>& words) {
    ::testing::internal::CaptureStdout();
    grove(comm_, words);
    std::fflush(stdout);
    return comm_.broadcast(::testing::internal::GetCapturedStdout());
  }

  Communicator comm_{MPI_COMM_WORLD}, alone_{MPI_COMM_SELF};
  testing::TestFolder folder_{comm_, "file_commands"};
};

TEST_F(FileCommands, decompose_tells_what_scripts_rely_on) {
  const nlohmann::json json = decompose({write_cusp(), "--leaf", "64", "--schedule", "master"});
  for (const char* key :
       {"n", "leaves", "ranks", "backend", "rule", "method", "schedule", "transport", "rounds", "collectives",
        "timing", "imbalance", "aspect", "exact", "peak_bytes_per_particle", "tree_hash"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* phase : {"count_left", "make_axis", "partition", "migrate", "total"})
    EXPECT_TRUE(json["timing"].contains(phase)) << phase;
  EXPECT_EQ(json["n"], 3000);
  EXPECT_EQ(json["leaves"], 47);  // 3000 / 64 = 46.9
  EXPECT_EQ(json["ranks"], comm_.size());
  EXPECT_EQ(json["exact"], true);
  EXPECT_GE(json["imbalance"], 1);
  EXPECT_GT(json["rounds"], 0);
}

/// A phase should take the bytes that it moves over the rate that was measured.
TEST_F(FileCommands, decompose_models_its_phases) {
  const nlohmann::json json =
      decompose({"--uniform", "20000", "-d", "64", "--rule", "halves", "--schedule-gpu", "a", "--calibrate"});
  EXPECT_EQ(json["backend"], "kokkos");
  EXPECT_EQ(json["schedule_gpu"], "a");
  const double host = json["rates"]["host_bytes_per_second"], sent = json["rates"]["sent_bytes_per_second"];
  EXPECT_GT(host, 0);
  EXPECT_EQ(sent > 0, comm_.size() > 1);
  for (const char* phase : {"records", "count_left", "partition", "order"})
    EXPECT_GT(json["activity"][phase]["host_bytes"], 0) << phase;
  for (const auto& [phase, activity] : json["activity"].items()) {
    const double bytes = activity["host_bytes"], over_links = activity["sent"];
    const double expected = bytes / host + (sent > 0 ? over_links / sent : 0);
    EXPECT_NEAR(json["model"][phase], expected, 1e-12 * expected)
        << phase;  // the same sums, but for rounding
  }
  // Six levels, each of which reads and writes every record and axis coordinate once.
  const double moved = json["activity"]["partition"]["host_bytes"];
  EXPECT_GE(moved, 6 * (2 * 16 + 2 * 4) * 20000.0 / comm_.size());
}

TEST_F(FileCommands, decompose_shows_phases_in_words_and_in_their_order) {
  ::testing::internal::CaptureStdout();
  grove(comm_, {"decompose", write_cusp(), "--leaf", "64", "--schedule", "master"});
  std::fflush(stdout);
  const std::string table = ::testing::internal::GetCapturedStdout();
  if (!comm_.is_master()) return;
  EXPECT_EQ(table.find('_'), std::string::npos) << table;
  EXPECT_LT(table.find("search cuts"), table.find("divide particles at cuts")) << table;
  EXPECT_NE(table.find("divide particles at cuts"), std::string::npos) << table;
}

TEST_F(FileCommands, decompose_makes_one_tree_however_it_works) {
  const std::string file = write_cusp();
  for (const char* rule : {"middle", "halves", "centre"}) {
    const nlohmann::json one = decompose({file, "--leaf", "64", "--rule", rule}, true);
    EXPECT_EQ(one["ranks"], 1);
    for (const char* method : {"bisection", "histogram"})
      for (const char* schedule : {"straddling", "master"})
        for (const char* transport : {"messages", "collectives"}) {
          const nlohmann::json all = decompose({file, "--leaf", "64", "--rule", rule, "--method", method,
                                                "--schedule", schedule, "--transport", transport});
          EXPECT_EQ(all["tree_hash"], one["tree_hash"]) << rule << method << schedule << transport;
          EXPECT_EQ(all["exact"], true);
          EXPECT_EQ(all["method"], method);
        }
  }
}

TEST_F(FileCommands, decompose_makes_the_same_points_on_any_number_of_ranks) {
  const std::vector<std::string> words{"--uniform", "5000", "-d", "20", "--rule", "halves"};
  const nlohmann::json all = decompose(words), one = decompose(words, true);
  EXPECT_EQ(all["tree_hash"], one["tree_hash"]);
  EXPECT_EQ(all["leaves"], 20);
}

TEST_F(FileCommands, decompose_takes_coincident_particles_but_no_id_twice) {
  EXPECT_EQ(decompose({write("equal.hdf5", make_particles(comm_, Shape::equal, 500))})["exact"], true);
  // Grove writes no such file, so it is one of another program.
  const std::string twice = folder_ / "twice";
  testing::put(comm_, twice, [this] {
    Particles particles = testing::foreign_particles(alone_, 500);
    for (Vec3d& position : particles.position) position = {1, 2, 3};
    particles.id[499] = particles.id[0];
    return testing::gadget_file(particles, {}, 0, 0, particles.size());
  });
  EXPECT_THROW(grove(comm_, {"decompose", twice}), InputError);
}

TEST_F(FileCommands, decompose_refuses_more_leaves_than_particles) {
  EXPECT_THROW(grove(comm_, {"decompose", write_cusp(), "-d", "3001"}), InputError);
}

TEST_F(FileCommands, numbers_of_particles_may_be_written_with_an_exponent) {
  EXPECT_EQ(decompose({"--uniform", "2e3", "--leaf", "1e2"})["n"], 2000);
  grove(comm_, {"ic", "plummer", "-n", "1.2e3", "-o", folder_ / "plummer.hdf5"});
  EXPECT_EQ(read_snapshot(comm_, folder_ / "plummer.hdf5").header.count(), 1200);
  for (const char* number : {"0", "-5", "1.5", "1e-3", "many", "1e30"})
    EXPECT_THROW(grove(comm_, {"ic", "plummer", "-n", number, "-o", folder_ / "none.hdf5"}), InputError)
        << number;
}

TEST_F(FileCommands, ic_takes_particles_by_part_and_tells_what_it_made) {
  ::testing::internal::CaptureStdout();
  grove(comm_, {"ic", "disk-galaxy", "--n-disk", "300", "--n-halo", "200", "--n-bulge", "100", "--units",
                "galactic", "--halo-spin", "0.03", "--bulge-scale", "30 pc", "-o", folder_ / "galaxy.hdf5"});
  std::fflush(stdout);
  const std::string told = ::testing::internal::GetCapturedStdout();
  for (const char* part : {"600 particles of the model disk-galaxy", "disk: type 2, 300 particles",
                           "Toomre Q", "circular speed", "virial ratio"})
    EXPECT_EQ(told.find(part) != std::string::npos, comm_.is_master()) << told;
  EXPECT_EQ(read_snapshot(comm_, folder_ / "galaxy.hdf5").header.counts[2], 300);
  EXPECT_THROW(grove(comm_, {"ic", "plummer", "--n-disk", "10", "-o", folder_ / "none.hdf5"}), InputError);
}

/// They have no middle, and do not hold together by themselves.
TEST_F(FileCommands, ic_tells_masses_alone_of_models_that_fill_a_box) {
  ::testing::internal::CaptureStdout();
  grove(comm_, {"ic", "sod", "-n", "500", "-o", folder_ / "sod.hdf5"});
  std::fflush(stdout);
  const std::string told = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(told.find("particles: mass 0.5, of each") != std::string::npos, comm_.is_master()) << told;
  for (const char* of_spheres : {"half-mass radius", "circular speed", "virial ratio"})
    EXPECT_EQ(told.find(of_spheres), std::string::npos) << told;
}

TEST_F(FileCommands, ic_refuses_options_that_the_model_would_ignore) {
  try {
    grove(comm_, {"ic", "kepler", "--mass-ratio", "0.5", "--rmax", "3", "-o", folder_ / "none.hdf5"});
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "the model kepler does not depend on --rmax; its options are --mass, --scale, "
                 "--eccentricity, --mass-ratio");
  }
}

TEST_F(FileCommands, info_tells_what_a_snapshot_holds) {
  const std::string file = write_cusp(), json = folder_ / "info.json";
  grove(comm_, {"info", file, "--json", json});
  comm_.barrier();
  const nlohmann::json told = read_json(json);
  EXPECT_EQ(told["n"], 3000);
  EXPECT_EQ(told["counts"], (std::vector<Count>(6, 500)));  // the types take turns
  EXPECT_EQ(told["has_ids"], true);
  EXPECT_EQ(told["box"], (std::vector<double>{0, 0, 0}));
}

TEST_F(FileCommands, info_tells_the_box_of_a_file) {
  const std::string file = folder_ / "box.hdf5", json = folder_ / "box.json";
  grove(comm_, {"ic", "sedov", "-n", "512", "--units", "none", "-o", file});
  const std::string text = told({"info", file, "--json", json});
  comm_.barrier();
  EXPECT_NE(text.find("box          1, periodic\n"), std::string::npos) << text;
  const nlohmann::json told = read_json(json);
  EXPECT_EQ(told["box"], (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(told["periodic"], true);
}

// 50 Mpc are 33830 kpc/h with h = 0.6766.
TEST_F(FileCommands, info_tells_that_lengths_and_masses_are_over_h) {
  const std::string file = folder_ / "comoving.hdf5", bare = folder_ / "bare.dat";
  grove(comm_,
        {"ic", "cosmological-box", "--sites", "8", "--box-size", "50 Mpc", "-o", file, "--redshift", "9"});
  const std::string text = told({"info", file});
  for (const char* line :
       {"units        kpc/h, 1e10 Msun/h, km/s, G = ", "box          33830 kpc/h, periodic\n",
        "total mass   [0-9.e+]* Msun/h\n", "bounds       x from [0-9.e+]* kpc/h to [0-9.e+]* kpc/h\n"})
    EXPECT_TRUE(std::regex_search(text, std::regex(line))) << line << "\n" << text;
  testing::put(comm_, bare, [&] {
    const Particles particles = testing::foreign_particles(alone_, 60);
    return testing::gadget_file(particles, {.redshift = 3, .box_size = 8, .h = 0.7}, 0, 0, particles.size());
  });
  const auto is_over_h = [&](const std::string& of) {
    const std::string json = folder_ / "info.json";
    told({"info", of, "--json", json});
    comm_.barrier();
    const nlohmann::json read = read_json(json);
    comm_.barrier();  // before the file is written again
    return read["over_h"].get<bool>();
  };
  EXPECT_TRUE(is_over_h(file) && is_over_h(bare));
  EXPECT_FALSE(is_over_h(write_cusp()));
  const std::string numbers = told({"info", bare});
  EXPECT_NE(numbers.find("box          8\n"), std::string::npos) << "no units, no h: " << numbers;
  EXPECT_NE(told({"info", write_cusp()}).find("units        dimensionless, G = 1\n"), std::string::npos);
}

TEST_F(FileCommands, say_which_units_they_assume_of_a_file_that_states_none) {
  const std::string bare = folder_ / "bare.dat", comoving = folder_ / "comoving.dat";
  for (const bool expands : {false, true})
    testing::put(comm_, expands ? comoving : bare, [&] {
      const Particles particles = testing::foreign_particles(alone_, 60);
      const testing::GadgetStyle style = expands
                                             ? testing::GadgetStyle{.redshift = 3, .box_size = 8, .h = 0.7}
                                             : testing::GadgetStyle{.box_size = 8};
      return testing::gadget_file(particles, style, 0, 0, particles.size());
    });
  const std::string physical =
                        bare + ": states no units; its numbers are taken to be in kpc, 1e10 Msun, km/s",
                    over_h = comoving +
                             ": states no units; its numbers are taken to be in kpc/h, 1e10 Msun/h, km/s",
                    which = "; --units says which";
  const auto expect_note = [&](const std::string& note, const std::vector<std::string>& words) {
    const std::string text = remarked(words);  // ranks without leaves are warned of, too
    EXPECT_NE(text.find("note: " + note + "\n"), std::string::npos) << words[0] << ": " << text;
    EXPECT_EQ(text.find("note: "), text.rfind("note: ")) << text;
  };
  expect_note(physical, {"render", bare, "--size", "32", "-o", folder_ / "physical.png"});
  expect_note(over_h, {"render", comoving, bare, "--size", "32"});
  expect_note(physical, {"fof", bare});
  expect_note(over_h, {"fof", comoving});
  expect_note(physical + which, {"force", bare, "--softening", "0.01"});
  expect_note(over_h + which, {"force", comoving, "--softening", "0.01", "--box-size", "8"});
  EXPECT_EQ(remarked({"render", write_cusp(), "--size", "32"}), "") << "a file that states units";
  ::testing::internal::CaptureStderr();
  EXPECT_THROW(grove(comm_, {"fof", bare, "--overwrite", "--length", "5"}), InputError) << "box / 2 is 4";
  std::fflush(stderr);
  const std::string before = comm_.broadcast(::testing::internal::GetCapturedStderr());
  EXPECT_NE(before.find("note: " + physical), std::string::npos) << "before the work: " << before;
}

TEST_F(FileCommands, render_draws_as_many_panels_as_it_has_lines_of_sight) {
  const std::string file = write_cusp(), one = folder_ / "one.png", two = folder_ / "two.png",
                    three = folder_ / "three.png";
  grove(comm_, {"render", "--axis", "y", file, "-o", one, "--size", "64"});
  grove(comm_, {"render", file, "-o", two, "--size", "64", "--axis", "y,x", "--centre-on", "densest"});
  grove(comm_, {"render", file, "-o", three, "--size", "64", "--centre", "0", "0", "0"});
  comm_.barrier();
  const unsigned first = Png(one).width, step = Png(two).width - first;
  EXPECT_GT(first, 64u);
  EXPECT_GT(step, 64u);
  EXPECT_NEAR(Png(three).width, first + 2 * step, 2) << "widths are even";
  EXPECT_GT(Png(one).height, 64u);
}

// A cluster of 40 pc from a run in kpc: not "0.04 kpc".
TEST_F(FileCommands, render_shows_lengths_in_a_unit_that_suits_or_was_typed) {
  const std::string file = folder_ / "cluster.hdf5";
  grove(comm_, {"ic", "plummer", "-n", "300", "--scale", "5 pc", "--units", "galactic", "-o", file});
  const auto render = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"render", file, "-o", folder_ / "cluster.png", "--overwrite", "--size", "64"});
    return told(more);
  };
  const std::string plain = render({}), typed = render({"--width", "0.02 kpc"}),
                    bare = render({"--width", "1"});
  EXPECT_TRUE(std::regex_search(plain, std::regex("width [0-9.]+ pc, .* Msun/pc\\^2"))) << plain;
  EXPECT_NE(typed.find("width 0.02 kpc"), std::string::npos) << typed;
  EXPECT_NE(bare.find("width 1 kpc"), std::string::npos) << bare;
}

TEST_F(FileCommands, render_draws_several_snapshots_on_one_scale) {
  Particles particles = make_particles(comm_, Shape::cusp, 3000);
  const std::string small = write("small.hdf5", particles);
  for (Vec3d& position : particles.position) position *= 3;
  for (double& mass : particles.mass) mass *= 100;
  const std::string large = write("large.hdf5", particles);
  const auto render = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "render");
    words.insert(words.end(), {"--overwrite", "--size", "64", "--axis", "z", "--centre", "0", "0", "0"});
    grove(comm_, words);
    comm_.barrier();
  };
  render({large});
  const Png alone(folder_ / "large.png");
  render({small});
  const Png small_alone(folder_ / "small.png");
  render({small, large});
  EXPECT_TRUE(Png(folder_ / "large.png").bytes == alone.bytes)
      << "the larger and brighter one sets the scale";
  EXPECT_FALSE(Png(folder_ / "small.png").bytes == small_alone.bytes);
  EXPECT_EQ(Png(folder_ / "small.png").width, alone.width);
  EXPECT_THROW(render({small, folder_ / "other/small.hdf5", "-o", folder_.path()}), InputError);
  EXPECT_THROW(render({small, small}), InputError) << "two pictures of one name";
}

TEST_F(FileCommands, render_scales_by_snapshots_with_something_to_show) {
  Particles particles = make_particles(comm_, Shape::cusp, 300);
  for (double& mass : particles.mass) mass *= 1e-9;
  std::fill(particles.type.begin(), particles.type.end(), std::uint8_t{1});
  const std::string shown = write("shown.hdf5", particles);
  std::fill(particles.type.begin(), particles.type.end(), std::uint8_t{2});
  const std::string empty = write("empty.hdf5", particles);
  const auto render = [&](const std::vector<std::string>& snapshots) {
    std::vector<std::string> words{"render"};
    words.insert(words.end(), snapshots.begin(), snapshots.end());
    words.insert(words.end(), {"--overwrite", "--size", "32", "--axis", "z", "--types", "1"});
    grove(comm_, words);
    comm_.barrier();
    return Png(folder_ / "shown.png");
  };
  const Png alone = render({shown});
  EXPECT_TRUE(render({empty, shown}).bytes == alone.bytes);
}

TEST_F(FileCommands, render_shows_the_periodic_box_that_the_file_or_the_user_states) {
  const Particles particles = comm_.is_master() ? clustered_box(2000) : Particles{};
  WriteOptions options{.units = Units::dimensionless(), .box = box_edge};
  write_snapshot(comm_, folder_ / "box.hdf5", particles, options);
  const std::string open = write("open.hdf5", particles);
  const auto picture = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> words{"render",      file,     "-o", folder_ / "picture.png",
                                   "--overwrite", "--size", "64"};
    words.insert(words.end(), more.begin(), more.end());
    const bool is_box = told(words).find(", width 3,") != std::string::npos;
    std::vector<unsigned char> bytes = Png(folder_ / "picture.png").bytes;
    comm_.barrier();  // before the file is written again
    return std::pair(is_box, std::move(bytes));
  };
  const auto box = picture(folder_ / "box.hdf5", {}),
             none = picture(folder_ / "box.hdf5", {"--box-size", "0"});
  EXPECT_TRUE(box.first);
  EXPECT_FALSE(none.first) << "twice what holds 90 %";
  EXPECT_TRUE(picture(open, {}) == none);
  EXPECT_TRUE(picture(open, {"--box-size", "3"}) == box);
  EXPECT_FALSE(picture(open, {"--box-size", "3", "--centre", "0", "0", "0"}) == box);
  EXPECT_THROW(grove(comm_, {"render", open, "--box-size", "-3"}), InputError);
}

// A box of 50 Mpc, whose file has lengths in kpc/h.
TEST_F(FileCommands, render_shows_comoving_lengths_without_h) {
  const std::string file = folder_ / "comoving.hdf5";
  grove(comm_,
        {"ic", "cosmological-box", "--sites", "8", "--box-size", "50 Mpc", "-o", file, "--redshift", "9"});
  const std::string text = told({"render", file, "--size", "32"});
  EXPECT_NE(text.find("redshift 9, width 50 Mpc,"), std::string::npos) << text;
}

TEST_F(FileCommands, render_never_replaces_a_snapshot) {
  const std::string file = write("one.hdf5", make_particles(comm_, Shape::cusp, 100));
  EXPECT_THROW(grove(comm_, {"render", file, "--size", "32", "-o", file}), InputError);
  EXPECT_NO_THROW(grove(comm_, {"info", file}));
}

TEST_F(FileCommands, render_replaces_pictures_where_it_is_told_to) {
  const std::string file = write("one.hdf5", make_particles(comm_, Shape::cusp, 100)),
                    other = write("other.hdf5", make_particles(comm_, Shape::cusp, 100));
  testing::put(comm_, folder_ / "one.png", [] { return std::string("a picture of the run"); });
  EXPECT_THROW(grove(comm_, {"render", other, file, "--size", "32"}), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other.png")) << "none is drawn if one cannot be";
  EXPECT_NO_THROW(grove(comm_, {"render", file, "--size", "32", "--overwrite"}));
  comm_.barrier();
  EXPECT_GT(Png(folder_ / "one.png").width, 32u);
}

TEST_F(FileCommands, render_refuses_types_without_particles) {
  Particles particles = make_particles(comm_, Shape::cusp, 300);
  for (std::uint8_t& type : particles.type) type = type % 2 == 0 ? 1 : 3;
  const std::string file = write("two-types.hdf5", particles);
  try {
    grove(comm_, {"render", file, "--types", "0", "4"});
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), file + ": has no particles of type 0, 4; its types are 1, 3");
  }
  EXPECT_NO_THROW(grove(comm_, {"render", file, "--types", "3", "4", "--size", "32"}));
}

}  // namespace
}  // namespace grove
