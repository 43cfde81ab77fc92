#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using testing::read_json;

/// A cube of particles in N-body units, written by all ranks of the communicator together.
void write_cube(const Communicator& comm, const std::string& path, std::size_t count, double mass = 1e-3,
                const WriteOptions& more = {}) {
  Particles own;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d position{uniform(random), uniform(random), uniform(random)};
    if (i % static_cast<std::size_t>(comm.size()) != static_cast<std::size_t>(comm.rank())) continue;
    const std::size_t last = own.size();
    own.resize(last + 1);
    own.position[last] = position;
    own.velocity[last] = {};
    own.mass[last] = i == 7 ? mass : 1e-3;
    own.id[last] = i + 1;
    own.type[last] = 1;
  }
  WriteOptions options = more;
  if (!options.comoving) options.units = Units::dimensionless();
  write_snapshot(comm, path, own, options);
}

/// Runs `grove force` on the host with these words behind it.
void force(const Communicator& comm, std::vector<std::string> words) {
  words.insert(words.begin(), {"force", "--backend", "kokkos"});
  testing::grove(comm, words);
}

TEST(Force, reports_the_same_forces_from_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "force");
  write_cube(comm, folder / "cube.hdf5", 2000);
  force(comm, {folder / "cube.hdf5", "--json", folder / "all.json", "-o", folder / "forces.hdf5"});
  const std::string mine = folder / ("alone" + std::to_string(comm.rank()) + ".json");
  force(alone, {folder / "cube.hdf5", "--json", mine});

  const nlohmann::json all = read_json(folder / "all.json"), one = read_json(mine);
  EXPECT_EQ(all["n"], 2000);
  EXPECT_EQ(all["ranks"], comm.size());
  EXPECT_EQ(all["forces_hash"], one["forces_hash"]);
  EXPECT_EQ(all["error"], one["error"]);
  EXPECT_EQ(all["interactions_per_particle"], one["interactions_per_particle"]);
  EXPECT_EQ(all["error"]["sample"], 1000);
  EXPECT_LT(all["error"]["p99"], 0.004);  // what the defaults promise
  EXPECT_GT(all["particles_per_second"], 0);
  for (const char* pass : {"timing", "timing_first"})
    for (const char* phase : {"decompose", "sort", "build", "moments", "let", "walk", "total"})
      EXPECT_TRUE(all[pass].contains(phase)) << pass << ' ' << phase;
  const nlohmann::json& counts = all["counts"];
  std::uint64_t in_phases = 0;
  for (const auto& [phase, made] : counts["phases"].items())
    in_phases += made.value("collectives", std::uint64_t{0});
  EXPECT_EQ(counts["collectives"], in_phases) << "all of a pass is in its phases";
  EXPECT_EQ(counts["messages"] > 0, comm.size() > 1);
  EXPECT_EQ(counts["bytes"] > 0, comm.size() > 1);

  ReadOptions options;
  const Snapshot forces = read_snapshot(comm, folder / "forces.hdf5", options);
  EXPECT_EQ(forces.header.count(), 2000);
}

/// Edge 1, as a file says, or the user; comoving or not.
TEST(Force, knows_periodic_boxes) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "periodic_force");
  const auto forces_of = [&](const std::string& file, std::vector<std::string> words,
                             const char* softening = "0.001") {
    words.insert(words.begin(), {folder / file, "--softening", softening, "--json", folder / "forces.json"});
    force(comm, words);
    const nlohmann::json json = read_json(folder / "forces.json");
    EXPECT_LT(json["error"]["p99"], 0.004);
    std::uint64_t in_phases = 0;
    for (const auto& [phase, made] : json["counts"]["phases"].items())
      in_phases += made.value("collectives", std::uint64_t{0});
    EXPECT_EQ(json["counts"]["collectives"], in_phases) << "all of a pass is in its phases";
    return json;
  };
  WriteOptions options;
  write_cube(comm, folder / "open.hdf5", 500, 1e-3, options);
  options.box = 1;
  write_cube(comm, folder / "periodic.hdf5", 500, 1e-3, options);
  const nlohmann::json open = forces_of("open.hdf5", {}), told = forces_of("open.hdf5", {"--box-size", "1"}),
                       stated = forces_of("periodic.hdf5", {});
  EXPECT_FALSE(open.contains("box"));
  EXPECT_EQ(told["box"], 1);
  EXPECT_EQ(stated["box"], 1);
  EXPECT_EQ(stated["forces_hash"], told["forces_hash"]);
  EXPECT_NE(stated["forces_hash"], open["forces_hash"]);

  options.comoving = ComovingTime{Cosmology{}, 0.7, 0.1};
  write_cube(comm, folder / "comoving.hdf5", 500, 1e-3, options);
  const nlohmann::json comoving = forces_of("comoving.hdf5", {}, "0.0007");  // in units of kpc / h
  EXPECT_NEAR(comoving["box"].get<double>(), 0.7, 1e-15);
  // Accelerations round otherwise in other units, so that some of the 64,000 opening tests, four at most, may
  // end otherwise: each adds or takes a node, or its up to 8 particles, for the 32 of a group.
  constexpr double group = 4 * 32 / 500.;
  const auto count = [](const nlohmann::json& from, const char* kind) {
    return from["interactions_per_particle"][kind].get<double>();
  };
  EXPECT_NEAR(count(comoving, "cell"), count(stated, "cell"), group);
  EXPECT_NEAR(count(comoving, "particle"), count(stated, "particle"), 8 * group);
  EXPECT_THROW(force(comm, {folder / "comoving.hdf5", "-o", folder / "none.hdf5"}), InputError);
  EXPECT_THROW(force(comm, {folder / "periodic.hdf5", "--softening", "0.1"}), InputError);
  EXPECT_THROW(force(comm, {folder / "open.hdf5", "--box-size", "0"}), InputError);
}

/// Every line of a table, its heading first.
std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Force, lists_the_errors_of_particles_the_same_from_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "force");
  write_cube(comm, folder / "cube.hdf5", 500);
  force(comm, {folder / "cube.hdf5", "--audit", "100", "--errors", folder / "all.csv", "--json",
               folder / "all.json"});
  const std::string mine = folder / ("alone" + std::to_string(comm.rank()) + ".csv");
  force(alone, {folder / "cube.hdf5", "--audit", "100", "--errors", mine});
  const std::vector<std::string> lines = lines_of(folder / "all.csv");
  EXPECT_EQ(lines, lines_of(mine));
  ASSERT_EQ(lines.size(), 101);
  EXPECT_EQ(lines[0], "id,x,y,z,acceleration,error");
  // Six digits are written: a relative difference of 5e-6.
  const double largest = read_json(folder / "all.json")["error"]["max"];
  EXPECT_NEAR(std::stod(lines.back().substr(lines.back().rfind(',') + 1)), largest, 5e-6 * largest);
}

TEST(Force, of_octrees_is_as_accurate_and_the_same_from_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "force");
  write_cube(comm, folder / "cube.hdf5", 2000);
  for (const std::string leaf : {"128", "2000"}) {
    force(comm, {folder / "cube.hdf5", "--tree", "octree", "--leaf", leaf, "--json", folder / "all.json"});
    const std::string mine = folder / ("alone" + std::to_string(comm.rank()) + ".json");
    force(alone, {folder / "cube.hdf5", "--tree", "octree", "--leaf", leaf, "--json", mine});
    const nlohmann::json all = read_json(folder / "all.json"), one = read_json(mine);
    EXPECT_EQ(all["tree"], "octree");
    EXPECT_GE(all["leaves"], leaf == "2000" ? 1 : 16);
    EXPECT_LE(all["leaves"], leaf == "2000" ? 1 : 32) << "halves of the cube, half full at least in the mean";
    EXPECT_EQ(all["forces_hash"], one["forces_hash"]);
    EXPECT_LT(all["error"]["p99"], 0.004);
  }
}

/// Each particle opens less than its group does, so errors are larger than those of groups, up to what the
/// criterion allows: Delta = 2.5e-4 of |a| a node, of some 300 at random, 1.95 root mean squares at the 99th
/// percentile, 0.3 as in node_error(): 0.0025.
TEST(Force, along_ropes_is_the_same_from_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "force");
  write_cube(comm, folder / "cube.hdf5", 1500);
  force(comm, {folder / "cube.hdf5", "--walk", "rope", "--leaf", "128", "--json", folder / "all.json"});
  const std::string mine = folder / ("alone" + std::to_string(comm.rank()) + ".json");
  force(alone, {folder / "cube.hdf5", "--walk", "rope", "--leaf", "128", "--json", mine});
  const nlohmann::json all = read_json(folder / "all.json"), one = read_json(mine);
  EXPECT_EQ(all["walk"], "rope");
  EXPECT_EQ(all["forces_hash"], one["forces_hash"]);
  EXPECT_LT(all["error"]["p99"], 0.0025);
}

TEST(Force, refuses_a_particle_without_mass_unless_its_type_is_a_tracer) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "force");
  write_cube(comm, folder / "cube.hdf5", 100, 0);
  EXPECT_THROW(force(comm, {folder / "cube.hdf5"}), InputError);
  EXPECT_NO_THROW(force(comm, {folder / "cube.hdf5", "--tracer", "1"}));
}

TEST(Force, takes_a_softening_by_type) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "force");
  write_cube(comm, folder / "cube.hdf5", 100);
  const auto hash = [&](const std::string& softening) {
    force(comm, {folder / "cube.hdf5", "--softening", softening, "--json", folder / "a.json"});
    comm.barrier();
    const nlohmann::json json = read_json(folder / "a.json");
    comm.barrier();
    return json["forces_hash"].dump();
  };
  EXPECT_EQ(hash("{1: 0.05, 3: 7}"), hash("0.05")) << "there are particles of type 1 alone";
  EXPECT_NE(hash("{1: 0.06}"), hash("0.05"));
  EXPECT_THROW(force(comm, {folder / "cube.hdf5", "--softening", "{0: 0.05}"}), InputError);
}

TEST(Force, refuses_a_negative_softening) {
  const Communicator comm(MPI_COMM_WORLD);
  const testing::TestFolder folder(comm, "force");
  write_cube(comm, folder / "cube.hdf5", 100);
  EXPECT_THROW(force(comm, {folder / "cube.hdf5", "--softening=-1"}), InputError);
}

}  // namespace
}  // namespace grove
