#include "io/id_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <numeric>

#include "base/errors.hpp"

namespace grove {
namespace {

/// Sorts an index by ids that leave few numbers out, as those of one rank do: each has its place in a table.
/// False, and nothing is changed, if they leave out more, or one occurs twice.
bool sort_by_place(const Array<ParticleId>& ids, Array<std::uint32_t>& index) {
  if (index.empty()) return true;
  ParticleId least = ids[index[0]], most = least;
  for (const std::uint32_t i : index) least = std::min(least, ids[i]), most = std::max(most, ids[i]);
  constexpr ParticleId table_per_id = 2;
  if (most - least >= table_per_id * index.size()) return false;
  constexpr std::uint32_t none = ~std::uint32_t{0};
  Array<std::uint32_t> table(static_cast<std::size_t>(most - least) + 1, none);
  for (const std::uint32_t i : index) {
    std::uint32_t& place = table[static_cast<std::size_t>(ids[i] - least)];
    if (place != none || i == none) return false;
    place = i;
  }
  std::copy_if(table.begin(), table.end(), index.begin(), [](std::uint32_t i) { return i != none; });
  return true;
}

/// ids: of all; index: those that are sorted. If not by place, digit by digit, beside copies of the ids:
/// comparisons would look all over memory.
Array<std::uint32_t> sorted_by_id(const Array<ParticleId>& ids, Array<std::uint32_t> index) {
  if (sort_by_place(ids, index)) return index;
  struct Entry {
    ParticleId id;
    std::uint32_t index;
  };
  Array<Entry> entries(index.size());
  std::transform(index.begin(), index.end(), entries.begin(), [&](std::uint32_t i) {
    return Entry{ids[i], i};
  });
  boost::sort::spreadsort::integer_sort(
      entries.begin(), entries.end(), [](const Entry& entry, unsigned shift) { return entry.id >> shift; },
      [](const Entry& a, const Entry& b) { return a.id < b.id; });
  std::transform(entries.begin(), entries.end(), index.begin(), [](const Entry& e) { return e.index; });
  return index;
}

/// For each inner bound, the least id such that at least `bound` ids of all ranks are not above it; ids:
/// sorted. Length P - 1.
std::vector<ParticleId> last_ids(const Communicator& comm, std::span<const ParticleId> ids,
                                 std::span<const Count> bounds) {
  const std::size_t inner = bounds.size() - 2;
  std::vector<ParticleId> low(inner, 0), high(inner, ~ParticleId{0});
  std::vector<Count> counts(inner);
  while (low != high) {
    for (std::size_t b = 0; b < inner; ++b) {
      const ParticleId middle = low[b] + (high[b] - low[b]) / 2;
      counts[b] = std::upper_bound(ids.begin(), ids.end(), middle) - ids.begin();
    }
    comm.sum(std::span<Count>(counts));
    for (std::size_t b = 0; b < inner; ++b) {
      const ParticleId middle = low[b] + (high[b] - low[b]) / 2;
      if (low[b] == high[b]) continue;
      if (counts[b] >= bounds[b + 1])
        high[b] = middle;
      else
        low[b] = middle + 1;
    }
  }
  return low;
}

/// How many of this rank's ids go to each rank.
std::vector<Count> counts_by_rank(const Communicator& comm, const Array<ParticleId>& all,
                                  std::span<const std::uint32_t> index, std::span<const Count> bounds) {
  if (comm.size() == 1) return {static_cast<Count>(index.size())};
  Array<ParticleId> ids(index.size());
  std::transform(index.begin(), index.end(), ids.begin(), [&](std::uint32_t i) { return all[i]; });
  const std::vector<ParticleId> last = last_ids(comm, ids, bounds);
  std::vector<Count> counts;
  Count done = 0;
  for (std::size_t b = 0; b < last.size(); ++b) {
    // Nothing lies before a bound of 0, not even id 0.
    const Count end =
        bounds[b + 1] == 0 ? 0 : std::upper_bound(ids.begin(), ids.end(), last[b]) - ids.begin();
    counts.push_back(end - done);
    done = end;
  }
  counts.push_back(static_cast<Count>(ids.size()) - done);
  return counts;
}

}  // namespace

IdOrder::IdOrder(const Communicator& comm, const Particles& particles, Array<std::uint32_t> index,
                 std::span<const Count> bounds)
    : index_(sorted_by_id(particles.id, std::move(index))),
      plan_(comm, counts_by_rank(comm, particles.id, index_, bounds)),
      is_alone_(comm.size() == 1) {
  Array<ParticleId> ids = gathered(particles.id, index_);
  if (!is_alone_) {
    plan_.apply(ids);
    order_.resize(ids.size());
    std::iota(order_.begin(), order_.end(), 0u);
    order_ = sorted_by_id(ids, std::move(order_));
    ids = gathered(ids, order_);
  }
  comm.together([&] {
    const auto twice = std::adjacent_find(ids.begin(), ids.end());
    if (twice != ids.end())
      throw InputError(fmt::format("particle id {} occurs more than once; ids must be unique", *twice));
  });
}

}  // namespace grove
