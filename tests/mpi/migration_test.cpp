#include "decomposition/migration.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/particle_sets.hpp"

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
  Particles wanted;
  wanted.resize(1);
  std::vector<std::uint64_t> number(1000003);  // of the particle with an id
  for (std::uint64_t i = 0; i < count; ++i) {
    test::set_particle(wanted, 0, Shape::uniform, i, true);
    number[wanted.id[0]] = i;
  }
  // 1 byte: one element at a time; 100: no whole number of elements of 8, 12 or 24 bytes. The set begins
  // on all ranks but the first, so one only receives.
  const int first_rank = comm.size() > 1 ? 1 : 0;
  for (const std::size_t round_bytes :
       {std::size_t{1}, std::size_t{100}, ExchangePlan::default_round_bytes}) {
    const Particles particles =
        moved(comm, make_particles(comm, Shape::uniform, count, true, first_rank), round_bytes);
    EXPECT_EQ(comm.sum(static_cast<Count>(particles.size())), static_cast<Count>(count));
    std::vector<bool> seen(count, false);
    for (std::size_t i = 0; i < particles.size(); ++i) {
      EXPECT_EQ(particles.id[i] % static_cast<ParticleId>(comm.size()), static_cast<ParticleId>(comm.rank()));
      const std::uint64_t which = number.at(particles.id[i]);
      EXPECT_FALSE(seen[which]);
      seen[which] = true;
      test::set_particle(wanted, 0, Shape::uniform, which, true);
      for_each_field([&](const auto& field) {
        if (field.info.migrate) {
          EXPECT_EQ((particles.*field.array)[i], (wanted.*field.array)[0]) << field.info.name;
        }
      });
    }
  }
}

}  // namespace
}  // namespace grove
