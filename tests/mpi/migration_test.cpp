#include "decomposition/migration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
    const bool gas = round_bytes > 1;
    const Particles particles =
        moved(comm, make_particles(comm, Shape::uniform, count, true, first_rank, gas), round_bytes);
    for (const ParticleId id : particles.id)
      EXPECT_EQ(id % static_cast<ParticleId>(comm.size()), static_cast<ParticleId>(comm.rank()));
    test::expect_whole_particles_once(comm, particles, Shape::uniform, count, true);
  }
}

/// Few to some ranks, of each particle all fields at once, and many to others, field by field.
TEST(Migration, brings_whole_particles_few_and_many_at_once) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t count = 3 * ranks * static_cast<std::uint64_t>(Migration::few);
  Particles particles = make_particles(comm, Shape::uniform, count, true, 0, true);
  // A rank sends half of its particles to the next rank, and a tenth of a per cent to the one behind that.
  std::vector<std::uint32_t> departing;
  std::vector<Count> counts(ranks, 0);
  for (std::uint64_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t i = 0; i < particles.size(); ++i) {
      const std::uint64_t chance = mixed(particles.id[i]) % 1000;
      const std::uint64_t to = (static_cast<std::uint64_t>(comm.rank()) + (chance < 1 ? 2 : 1)) % ranks;
      if (chance >= 500 || to != rank || to == static_cast<std::uint64_t>(comm.rank())) continue;
      departing.push_back(i);
      ++counts[rank];
    }
  const Migration migration(comm, particles.size(), departing, counts);
  const bool has_few = comm.max(std::any_of(counts.begin(), counts.end(),
                                            [](Count c) { return c > 0 && c <= Migration::few; })
                                    ? 1
                                    : 0) > 0,
             has_many = *std::max_element(counts.begin(), counts.end()) > Migration::few;
  EXPECT_EQ(has_few, ranks > 2);
  EXPECT_EQ(has_many, ranks > 1);
  migration.apply(particles);
  test::expect_whole_particles_once(comm, particles, Shape::uniform, count, true);
}

}  // namespace
}  // namespace grove
