#include "decomposition/leaf_transfer.hpp"

#include <numeric>

namespace grove {
namespace {

/// 0 .. own leaves.
std::vector<Count> numbers_of_leaves(int rank, std::span<const std::int32_t> runs) {
  const auto self = static_cast<std::size_t>(rank);
  std::vector<Count> numbers(static_cast<std::size_t>(runs[self + 1] - runs[self]) + 1);
  std::iota(numbers.begin(), numbers.end(), Count{0});
  return numbers;
}

}  // namespace

LeafTransfer::Counts LeafTransfer::counts_of(int rank, std::span<const std::int32_t> from,
                                             std::span<const std::int32_t> to, std::span<const Count> begin) {
  const auto self = static_cast<std::size_t>(rank);
  const std::int32_t first = from[self], last = from[self + 1];
  const auto begin_of = [&](std::int32_t leaf) {
    return begin[static_cast<std::size_t>(std::clamp(leaf, first, last) - first)];
  };
  Counts counts{{}, self, 0};
  for (std::size_t r = 0; r + 1 < to.size(); ++r)
    counts.sent.push_back(begin_of(to[r + 1]) - begin_of(to[r]));
  counts.staying = static_cast<std::size_t>(std::exchange(counts.sent[self], 0));
  return counts;
}

LeafTransfer::LeafTransfer(const Communicator& comm, std::span<const std::int32_t> from,
                           std::span<const std::int32_t> to)
    : LeafTransfer(comm, from, to, numbers_of_leaves(comm.rank(), from)) {}

LeafTransfer::LeafTransfer(const Communicator& comm, Counts counts)
    : plan_(comm, counts.sent),
      staying_(counts.staying),
      departing_before_(static_cast<std::size_t>(plan_.send_offsets()[counts.self])),
      arriving_before_(static_cast<std::size_t>(plan_.receive_offsets()[counts.self])) {}

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
