#include "initial_conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "initial_state.hpp"
#include "io/snapshot.hpp"
#include "particles/models/model.hpp"
#include "support/foreign_formats.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

TEST(InitialConditions, are_the_same_particles_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const ModelInfo& info : model_infos()) {
    ModelParameters p;
    p.model = info.name;
    p.particles = info.name == "kepler" ? 2 : 1001;
    const Particles expected = make_particles(p);  // by one rank alone
    const Particles mine = make_initial_conditions(comm, p);
    const Count before = comm.exclusive_scan(static_cast<Count>(mine.size()));
    EXPECT_EQ(comm.sum(static_cast<Count>(mine.size())), p.particles);
    for_each_field([&](const auto& field) {
      const auto& part = mine.*field.array;
      const auto& whole = expected.*field.array;
      if (part.empty()) return;
      EXPECT_EQ(std::memcmp(part.data(), whole.data() + before, part.size() * sizeof(part[0])), 0)
          << info.name << " " << field.info.name;
    });
  }
}

TEST(InitialConditions, bad_parameters_are_refused_on_all_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  ModelParameters p;
  p.model = "hernquist";
  p.rmax = -1;
  EXPECT_THROW(make_initial_conditions(comm, p), Agreed<InputError>);
}

TEST(InitialConditions, of_a_file_with_gas_or_without_units_are_remarked_on) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "remarks");
  Particles particles = testing::foreign_particles(alone, 60);
  constexpr Count gas = 10;
  std::fill_n(particles.type.begin(), gas, std::uint8_t{0});  // they are in the order of their types
  const auto remarks = [&](const std::string& name, const std::string& units) {
    Parameters parameters =
        parse_parameters("units: {system: " + units + "}\ninitial_conditions: {file: " + folder.path() + "/" +
                             name + "}\ngravity: {softening: 0.01}\ntime: {end: 1, step: 1}\n",
                         "test", {});
    return initial_state(comm, parameters).remarks;
  };
  testing::put(comm, folder / "bare.dat",
               [&] { return testing::gadget_file(particles, {}, 0, 0, particles.size()); });
  const std::vector<std::string> found = remarks("bare.dat", "galactic");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("states no units; its numbers are taken to be in those of the run, kpc"),
            std::string::npos)
      << found[0];
  EXPECT_NE(found[1].find("holds " + std::to_string(gas) + " particles of gas"), std::string::npos)
      << found[1];
  EXPECT_NE(remarks("bare.dat", "none").at(0).find("G = 1"), std::string::npos);

  const Particles stars = make_initial_conditions(comm, {});
  write_snapshot(comm, folder / "own.hdf5", stars, {});
  EXPECT_TRUE(remarks("own.hdf5", "galactic").empty()) << "it states units, and holds no gas";
}

}  // namespace
}  // namespace grove
