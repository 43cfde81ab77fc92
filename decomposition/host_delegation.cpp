#include "decomposition/host_delegation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/activity.hpp"
#include "base/errors.hpp"

namespace grove {
namespace {

/// Descends from a cell to the leaf of a record. Ids are looked at only where coordinates are equal.
std::size_t leaf_below(std::span<const Cell> cells, std::size_t from, const Record& record,
                       const ParticleId* id) {
  while (!cells[from].is_leaf()) {
    const Cut& cut = cells[from].cut;
    const Coordinate c = record[cut.axis];
    const bool is_left = c < cut.coordinate || (c == cut.coordinate && id[record.index] < cut.id);
    from = static_cast<std::size_t>(cells[from].child) + (is_left ? 0 : 1);
  }
  return from;
}

/// Particles of one coordinate and one id cannot be told apart, so that a cut between them leads some of them
/// elsewhere.
void check_leaves(std::span<const Cell> subtree, std::span<const Record> records, const ParticleId* id) {
  for (std::size_t c = 0; c < subtree.size(); ++c) {
    if (!subtree[c].is_leaf()) continue;
    const auto begin = static_cast<std::size_t>(subtree[c].first - subtree[0].first);
    for (const Record& r : records.subspan(begin, static_cast<std::size_t>(subtree[c].count)))
      if (leaf_below(subtree, 0, r, id) != c)
        throw InputError(
            fmt::format("particle id {} occurs more than once: ids must be unique", id[r.index]));
  }
}

}  // namespace

void append_delegated(RankParticles& own, std::int32_t cell, Array<DelegatedRecord>& records) {
  const auto delegated = own.records_of(cell);
  records.reserve(records.size() + delegated.size());
  for (const Record& r : delegated)
    records.push_back({own.id_of(r), {r.x, r.y, r.z}, own.weight ? own.weight[r.index] : 1});
  activity().host_bytes += delegated.size() * (sizeof(Record) + sizeof(DelegatedRecord));
}

std::vector<Cell> cut_delegated_cell(const CutScheme& scheme, const Cell& root,
                                     std::span<const DelegatedRecord> records, bool weighted) {
  Array<Record> own(records.size());
  Array<ParticleId> id(records.size());
  Array<std::uint32_t> weight(weighted ? records.size() : 0);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const IntegerPosition& p = records[i].position;
    own[i] = {p.x, p.y, p.z, static_cast<std::uint32_t>(i)};
    id[i] = records[i].id;
    if (weighted) weight[i] = records[i].weight;
  }
  std::vector<Cell> subtree = cut_to_leaves(scheme, root, own, id.data(), weighted ? weight.data() : nullptr);
  check_leaves(subtree, own, id.data());
  return subtree;
}

void divide_into_leaves(RankParticles& own, std::span<const Cell> top, std::int32_t cell) {
  const Cell& root = top[static_cast<std::size_t>(cell)];
  const auto records = own.records_of(cell);
  const Count begin = own.begin[static_cast<std::size_t>(cell)];
  const auto leaf_number = [&](std::size_t c) {
    return static_cast<std::size_t>(top[c].first_leaf - root.first_leaf);
  };
  Array<std::uint32_t> leaf(records.size());
  std::vector<Count> first(static_cast<std::size_t>(root.leaves) + 1, 0);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::size_t found =
        leaf_number(leaf_below(top, static_cast<std::size_t>(cell), records[i], own.particles.id.data()));
    leaf[i] = static_cast<std::uint32_t>(found);
    ++first[found + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  Array<Record> ordered(records.size());
  std::vector<Count> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < records.size(); ++i)
    ordered[static_cast<std::size_t>(next[leaf[i]]++)] = records[i];
  std::copy(ordered.begin(), ordered.end(), records.begin());
  activity().host_bytes += 4 * records.size_bytes();

  own.begin.resize(top.size());
  own.end.resize(top.size());
  for (std::vector<std::size_t> stack{static_cast<std::size_t>(cell)}; !stack.empty();) {
    const std::size_t c = stack.back();
    stack.pop_back();
    if (const auto child = static_cast<std::size_t>(top[c].child); !top[c].is_leaf()) {
      stack.insert(stack.end(), {child, child + 1});
      continue;
    }
    own.begin[c] = begin + first[leaf_number(c)];
    own.end[c] = begin + first[leaf_number(c) + 1];
  }
}

}  // namespace grove
