#include "decomposition/leaf_transfer.hpp"

#include <numeric>

namespace grove {
namespace {

/// Those of a rank that are some of another one by other owners.
struct Shared {
  OwnLeaves::Run run;
  int rank;
};

/// The leaves of a rank by who has them among others, rank by rank, left to right within. `before` of the
/// runs counts own leaves.
std::vector<Shared> by_owner(const OwnLeaves& own, const LeafOwners& others) {
  std::vector<Shared> parts;
  const std::span<const LeafOwners::Run> runs = others.runs();
  std::size_t next = 0;
  for (const OwnLeaves::Run& mine : own.runs()) {
    while (others.end(next) <= mine.begin) ++next;
    for (std::size_t i = next; i < runs.size() && runs[i].first_leaf < mine.end; ++i) {
      const LeafNumber begin = std::max(mine.begin, runs[i].first_leaf);
      parts.push_back({{begin, std::min(mine.end, others.end(i)),
                        mine.before + static_cast<std::int32_t>(begin - mine.begin)},
                       runs[i].rank});
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Shared& a, const Shared& b) { return a.rank < b.rank; });
  return parts;
}

/// 0 .. own leaves.
std::vector<Count> numbers_of(const OwnLeaves& own) {
  std::vector<Count> numbers(static_cast<std::size_t>(own.size()) + 1);
  std::iota(numbers.begin(), numbers.end(), Count{0});
  return numbers;
}

}  // namespace

LeafTransfer::Ways LeafTransfer::ways_of(int rank, const LeafOwners& from, const LeafOwners& to,
                                         std::span<const Count> before, std::span<const Count> after) {
  const OwnLeaves own = from.own(rank), coming = to.own(rank);
  const auto ranks = static_cast<std::size_t>(to.ranks());
  Ways ways{{}, {}, {}, std::vector<Count>(ranks, 0), std::vector<Count>(ranks, 0), 0};
  ways.size = static_cast<std::size_t>(after[static_cast<std::size_t>(coming.size())]);
  const auto at = [](std::span<const Count> begin, LeafNumber leaf) {
    return static_cast<std::size_t>(begin[static_cast<std::size_t>(leaf)]);
  };
  const auto count = [&](std::span<const Count> begin, const OwnLeaves::Run& run) {
    return at(begin, run.before + run.end - run.begin) - at(begin, run.before);
  };
  std::size_t packed = 0;
  for (const Shared& part : by_owner(own, to)) {
    const std::size_t elements = count(before, part.run), place = at(before, part.run.before);
    if (part.rank == rank) {
      ways.staying.push_back({place, at(after, coming.before(part.run.begin)), elements});
      continue;
    }
    ways.departing.push_back({place, packed, elements});
    ways.sent[static_cast<std::size_t>(part.rank)] += static_cast<Count>(elements);
    packed += elements;
  }
  std::size_t arrived = 0;
  for (const Shared& part : by_owner(coming, from)) {
    if (part.rank == rank) continue;
    const std::size_t elements = count(after, part.run);
    ways.arriving.push_back({arrived, at(after, part.run.before), elements});
    ways.received[static_cast<std::size_t>(part.rank)] += static_cast<Count>(elements);
    arrived += elements;
  }
  return ways;
}

LeafTransfer::LeafTransfer(const Communicator& comm, const LeafOwners& from, const LeafOwners& to)
    : LeafTransfer(comm, from, to, numbers_of(from.own(comm.rank())), numbers_of(to.own(comm.rank()))) {}

LeafTransfer::LeafTransfer(const Communicator& comm, const LeafOwners& from, const LeafOwners& to,
                           std::span<const Count> before, std::span<const Count> after)
    : LeafTransfer(comm, ways_of(comm.rank(), from, to, before, after)) {}

void LeafTransfer::apply(Particles& particles) const {
  for_each_field([&](const auto& field) {
    if (!particles.holds(field.info)) return;
    auto& values = particles.*field.array;
    if (field.info.migrate)
      apply(values);
    else
      values.resize(size());
  });
}

std::vector<Count> LeafTransfer::beginnings(std::vector<Count> begin) const {
  std::adjacent_difference(begin.begin(), begin.end(), begin.begin());
  begin.erase(begin.begin());
  apply(begin);
  begin.insert(begin.begin(), 0);
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  return begin;
}

}  // namespace grove
