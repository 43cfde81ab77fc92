#include "decomposition/migration.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/whole_particles.hpp"

namespace grove {
namespace {

using test::make_particles;
using test::Shape;

/// Moves every particle to the rank that its id names, in rounds of so many bytes.
Particles moved(const Communicator& comm, Particles particles, std::size_t round_bytes) {
  std::vector<std::uint32_t> departing;
  std::vector<Count> counts(static_cast<std::size_t>(comm.size()), 0);
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) continue;
    for (std::uint32_t i = 0; i < particles.size(); ++i)
      if (particles.id[i] % static_cast<ParticleId>(comm.size()) == static_cast<ParticleId>(rank)) {
        departing.push_back(i);
        ++counts[static_cast<std::size_t>(rank)];
      }
  }
  const Migration migration(comm, particles.size(), departing, counts, round_bytes);
  migration.apply(particles);
  EXPECT_EQ(particles.size(), migration.size());
  return particles;
}

TEST(Migration, brings_whole_particles_to_their_ranks_in_rounds_of_any_size) {
  constexpr std::uint64_t count = 700;
  const Communicator comm(MPI_COMM_WORLD);
  // 1 byte: one element at a time; 100: no whole number of elements of 8, 12 or 24 bytes. The set begins
  // on all ranks but the first, so one only receives.
  const int first_rank = comm.size() > 1 ? 1 : 0;
  for (const std::size_t round_bytes :
       {std::size_t{1}, std::size_t{100}, ExchangePlan::default_round_bytes}) {
    const Particles particles =
        moved(comm, make_particles(comm, Shape::uniform, count, true, first_rank), round_bytes);
    for (const ParticleId id : particles.id)
      EXPECT_EQ(id % static_cast<ParticleId>(comm.size()), static_cast<ParticleId>(comm.rank()));
    test::expect_whole_particles_once(comm, particles, Shape::uniform, count, true);
  }
}

}  // namespace
}  // namespace grove
