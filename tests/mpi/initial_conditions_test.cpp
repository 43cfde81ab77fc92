#include "initial_conditions.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/errors.hpp"
#include "particles/models/model.hpp"

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

}  // namespace
}  // namespace grove
