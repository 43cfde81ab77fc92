// Tables of runs beyond 2^32 particles and 2^31 leaves in all, made up: no rank of these tests holds them.
#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "comm/exchange_plan.hpp"
#include "comm/mpi_count.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/root_cell.hpp"
#include "decomposition/segments.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "decomposition/shares.hpp"

namespace grove {
namespace {

constexpr Count full_gpu = Count{1} << 27, gpus = 10000;
constexpr Count beyond_32_bits = (Count{1} << 32) + 5;

TEST(LargeNumbers, shares_of_10000_ranks_are_exact) {
  // Every particle weighs what its interactions are: some 2^13 of them.
  const Count of_a_rank = full_gpu << 13, total = gpus * of_a_rank;  // 2^53.3
  const Shares shares(total, static_cast<int>(gpus));
  for (const Count rank : {Count{0}, Count{1}, gpus / 3, gpus - 1}) {
    // A leaf belongs to the rank in whose share its middle lies.
    EXPECT_EQ(shares.owner(rank * of_a_rank, 2), rank);
    EXPECT_EQ(shares.owner((rank + 1) * of_a_rank - 2, 2), rank);
    EXPECT_FALSE(shares.straddles(rank * of_a_rank, of_a_rank));
    EXPECT_EQ(shares.last_owner(rank * of_a_rank, of_a_rank), rank);
  }
  EXPECT_TRUE(shares.straddles(of_a_rank - 1, 2));
  // A rank of mean speed with twice the mean takes twice as long as all would.
  std::vector<Count> weights(static_cast<std::size_t>(gpus), of_a_rank);
  weights[7] *= 2;
  EXPECT_EQ(shares.longest(weights), 2 * of_a_rank);
}

TEST(LargeNumbers, cells_of_more_than_2_to_the_40_particles_are_cut_into_full_leaves) {
  constexpr Count count = gpus * full_gpu + 1234567, quantum = 4096;
  const CutScheme scheme{CutRule::middle, quantum};
  for (const Count left_of_middle : {Count{1}, count / 3, count / 2, count - 1}) {
    const CutTarget target = scheme.target(count, count, 2, left_of_middle);
    EXPECT_TRUE(target.is_exact());
    EXPECT_EQ(target.least % quantum, 0);
    EXPECT_GE(target.least, quantum);
    EXPECT_GE(count - target.least, quantum);
    // The right part keeps a full leaf, and what a multiple of leaves leaves over.
    EXPECT_LT(std::abs(target.least - left_of_middle), 2 * quantum);
  }
  const CutScheme geometric{CutRule::domains, quantum, 0, 32 * quantum};
  EXPECT_EQ(geometric.target(count, count, 2, beyond_32_bits).least, beyond_32_bits);
  EXPECT_EQ(default_leaf_size(count), 4096);
  EXPECT_EQ(default_domain_cell(count, 4096), 131072);
}

TEST(LargeNumbers, leaves_of_all_ranks_are_counted_beyond_32_bits) {
  Cell root;
  root.count = (Count{1} << 45) + 1;
  EXPECT_EQ(scheme_of({}, root).quantum, 4096);
  EXPECT_EQ(root.leaves, (LeafNumber{1} << 33) + 1) << "of 2^18 GPUs of 2^27";
  const CutScheme halves{CutRule::halves};
  const auto children = halves.child_leaves(root.leaves, root.count, 0);
  EXPECT_EQ(children.left, (LeafNumber{1} << 32) + 1) << "a full tree, and one more leaf on the left";
  EXPECT_EQ(children.left + children.right, root.leaves);
}

/// A rank's own leaves, and the cells that it knows, have 32-bit numbers; a clear error says so where there
/// would be more.
TEST(LargeNumbers, leaves_that_a_rank_cannot_number_are_refused) {
  DecompositionParameters known;
  known.all_cells = false;
  constexpr LeafNumber most = (1 << 30) - 1;
  EXPECT_NO_THROW(check_leaves(known, gpus * most, static_cast<int>(gpus)));
  EXPECT_THROW(check_leaves(known, gpus * (most + 1), static_cast<int>(gpus)), InputError);
  EXPECT_NO_THROW(check_leaves({}, most, static_cast<int>(gpus)));
  EXPECT_THROW(check_leaves({}, most + 1, static_cast<int>(gpus)), InputError) << "all cells on each";
  OwnLeaves own;
  own.add(beyond_32_bits, beyond_32_bits + most);
  EXPECT_EQ(own.size(), most);
  EXPECT_THROW(own.add(2 * beyond_32_bits, 2 * beyond_32_bits + 1), InputError);
}

/// Two runs for each of 10000 ranks, of 2^20 and 2^19 leaves in turn: 2^33.8 in all.
TEST(LargeNumbers, ranks_own_leaves_beyond_32_bits) {
  constexpr LeafNumber first = 1 << 20, second = 1 << 19, half = gpus * first, all = gpus * (first + second);
  std::vector<LeafOwners::Run> runs;
  for (int rank = 0; rank < gpus; ++rank) runs.push_back({rank * first, rank});
  for (int rank = 0; rank < gpus; ++rank)
    runs.push_back({half + rank * second, static_cast<int>(gpus) - 1 - rank});
  const LeafOwners owners(runs, all, static_cast<int>(gpus));
  EXPECT_EQ(owners.leaves(), all);
  EXPECT_EQ(owners.owner(half - 1), gpus - 1);
  EXPECT_EQ(owners.owner(all - 1), 0);
  EXPECT_TRUE(owners.have_one(half + 7 * second, second));
  EXPECT_FALSE(owners.have_one(half + 7 * second, second + 1));
  EXPECT_EQ(owners.owners(half + 6 * second, 2 * second),
            (std::vector<int>{static_cast<int>(gpus) - 8, static_cast<int>(gpus) - 7}));
  const OwnLeaves own = owners.own(7000);
  EXPECT_EQ(own.size(), first + second);
  const LeafNumber in_second = half + (gpus - 1 - 7000) * second;
  EXPECT_EQ(own.before(in_second + 5), first + 5);
  EXPECT_EQ(own.leaf(static_cast<std::int32_t>(first + 5)), in_second + 5);
  EXPECT_EQ(own.among(0, all), own.size());
  EXPECT_FALSE(own.holds(in_second + second));
}

TEST(LargeNumbers, a_rank_that_cannot_number_its_particles_refuses_them) {
  EXPECT_NO_THROW(check_size((std::size_t{1} << 32) - 1));
  EXPECT_THROW(check_size(std::size_t{1} << 32), InputError);
}

/// Eight ranks with an octant each, of 2^42 particles and more, in 2^33 leaves.
TEST(LargeNumbers, the_top_of_the_tree_counts_beyond_32_bits) {
  constexpr Coordinate half = Coordinate{1} << 31;
  std::vector<Segment> segments;
  Count all = 0;
  for (int rank = 0; rank < 8; ++rank) {
    const Coordinate x = rank & 1 ? half : 0, y = rank & 2 ? half : 0, z = rank & 4 ? half : 0;
    const Count count = (Count{1} << 42) + rank;
    const ParticleId first = ~ParticleId{0} - static_cast<ParticleId>(rank);
    segments.push_back({{x, y, z},
                        {x + half - 1, y + half - 1, z + half - 1},
                        count,
                        1000 * count,
                        {first, first, first},
                        rank});
    all += count;
  }
  const CutScheme scheme{CutRule::domains, 4096, 0, 131072};
  const TopOfSegments top = top_of(segments, scheme, 5, 8);
  EXPECT_EQ(top.cells[0].count, all);
  EXPECT_EQ(top.cells[0].weight, 1000 * all);
  EXPECT_GE(top.cells[0].leaves, LeafNumber{1} << 33);
  EXPECT_EQ(top.moves.most, 0);
  ASSERT_EQ(top.frontier.size(), 8u);
  Count before = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const Cell& cell = top.cells[static_cast<std::size_t>(top.frontier.cell(i))];
    EXPECT_EQ(cell.count, (Count{1} << 42) + static_cast<Count>(i));
    EXPECT_EQ(cell.leaves, (LeafNumber{1} << 30) + (i > 0 ? 1 : 0));
    EXPECT_EQ(cell.first, before);
    EXPECT_EQ(top.frontier.first(i), before);
    EXPECT_EQ(top.frontier.owner(i), static_cast<int>(i));
    EXPECT_EQ(top.portions[i], i == 5 ? cell.count : 0);
    before += cell.count;
  }
  EXPECT_EQ(top.cells[0].cut.id, ~ParticleId{0} - 7) << "the least id of those at the cut";
}

TEST(LargeNumbers, elements_beyond_32_bits_are_exchanged_in_pieces) {
  const Communicator self(MPI_COMM_SELF);
  const std::array<Count, 1> counts{beyond_32_bits};
  const ExchangePlan plan(self, counts, counts);
  EXPECT_EQ(plan.receive_total(), beyond_32_bits);
  // Pieces have a place of their own, so that the whole is not in memory.
  std::vector<std::byte> out(plan.round_elements(1)), in(out.size());
  std::size_t asked = 0, arrived = 0;
  ExchangePlan::Rounds rounds;
  rounds.source = [&](std::size_t begin, std::size_t count) {
    EXPECT_EQ(begin, std::exchange(asked, begin + count));
    out[0] = static_cast<std::byte>(begin >> 24);
    return out.data();
  };
  rounds.target = [&](std::size_t, std::size_t) { return in.data(); };
  rounds.arrived = [&](std::size_t begin, std::size_t count) {
    EXPECT_EQ(begin, std::exchange(arrived, begin + count));
    EXPECT_EQ(in[0], static_cast<std::byte>(begin >> 24));
  };
  plan.apply(rounds, 1);
  EXPECT_EQ(arrived, static_cast<std::size_t>(beyond_32_bits));
}

TEST(LargeNumbers, what_does_not_fit_into_a_call_of_MPI_is_refused) {
  EXPECT_EQ(mpi_count(INT_MAX), INT_MAX);
  EXPECT_THROW(mpi_count(std::size_t{1} << 31), std::runtime_error);
  EXPECT_THROW(mpi_count(static_cast<std::size_t>(beyond_32_bits)), std::runtime_error);
  const Communicator self(MPI_COMM_SELF);
  const std::array<Count, 1> too_many{Count{1} << 31};
  EXPECT_THROW(self.all_gather_arrays(std::span<const std::byte>(), std::span<const Count>(too_many)),
               std::runtime_error);
}

}  // namespace
}  // namespace grove
