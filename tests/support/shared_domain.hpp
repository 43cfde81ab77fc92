#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "kernels/host/bisection.hpp"
#include "particles/particles.hpp"

namespace grove {

/// A decomposition, and this rank's particles in it.
struct SharedDomain {
  Domain domain;
  Particles particles;
};

/// Rank by rank one run. first_leaf: of each rank, length P + 1.
inline LeafOwners owners_in_order(const std::vector<std::int32_t>& first_leaf) {
  std::vector<LeafOwners::Run> runs;
  const auto ranks = static_cast<int>(first_leaf.size()) - 1;
  for (int rank = 0; rank < ranks; ++rank) runs.push_back({first_leaf[static_cast<std::size_t>(rank)], rank});
  return {runs, first_leaf.back(), ranks};
}

/// Owners of leaves as nobody would choose them: all on the first rank, all on the last one, equal numbers,
/// nothing for every other rank, anything, and runs of five leaves that go round.
inline LeafOwners odd_owners(int kind, int ranks, std::int32_t leaves) {
  constexpr int kinds = 6;
  if (kind % kinds == kinds - 1) {
    std::vector<LeafOwners::Run> runs;
    for (std::int32_t leaf = 0; leaf < leaves; leaf += 5) runs.push_back({leaf, (leaf / 5 + kind) % ranks});
    return {runs, leaves, ranks};
  }
  std::vector<std::int32_t> first{0};
  for (int rank = 1; rank < ranks; ++rank) {
    const std::int32_t ends[] = {leaves, 0, leaves * rank / ranks, leaves * (rank / 2) / ((ranks + 1) / 2),
                                 static_cast<std::int32_t>(mixed(static_cast<std::uint64_t>(rank)) %
                                                           static_cast<std::uint64_t>(leaves + 1))};
    first.push_back(ends[kind % kinds]);
  }
  first.push_back(leaves);
  std::sort(first.begin(), first.end());
  return owners_in_order(first);
}

/// The first leaf from this one on that a rank's run may begin with.
inline std::int32_t next_begin(const Domain& domain, std::int32_t leaf) {
  const auto covers = [&](const Cell& cell) {
    return cell.is_whole(domain.domain_cell) && cell.first_leaf < leaf &&
           leaf < cell.first_leaf + cell.leaves;
  };
  const auto cell = std::find_if(domain.cells.begin(), domain.cells.end(), covers);
  return cell == domain.cells.end() ? leaf : cell->first_leaf + cell->leaves;
}

/// Decomposes a set of particles that every rank has whole, without any communication: each rank cuts the
/// whole set and keeps the leaves that `first_leaf` (length P + 1) gives it; empty: equal runs of leaves, or
/// as equal as domain cells let them be. domain_cell: under rule `domains`.
/// Inside a leaf the particles are in an order that depends on the rank, as after a migration.
inline SharedDomain share_out(const Communicator& comm, const Particles& all, Count leaf_size,
                              std::vector<std::int32_t> first_leaf = {}, CutRule rule = CutRule::middle,
                              Count domain_cell = 0) {
  SharedDomain result;
  Domain& domain = result.domain;
  Vec3d low = all.position[0], high = low;
  for (const Vec3d& p : all.position)
    for (int axis = 0; axis < 3; ++axis)
      low[axis] = std::min(low[axis], p[axis]), high[axis] = std::max(high[axis], p[axis]);
  domain.box = Box::around(low, high);

  const CutScheme scheme{.rule = rule, .quantum = leaf_size, .domain_cell = domain_cell};
  domain.domain_cell = domain_cell;
  const auto count = static_cast<Count>(all.size());
  Array<Record> records(all.size());
  make_records(domain.box, {all.position.data()}, all.size(), records.data());
  Cell root{};
  root.count = root.weight = count;
  root.child = -1;
  root.leaves = scheme.leaves_of(count);
  domain.cells = cut_to_leaves(scheme, root, records, all.id.data(), nullptr);
  const std::int32_t leaves = domain.cells[0].leaves;
  domain.take_whole(std::move(domain.cells));
  if (first_leaf.empty())
    for (int r = 0; r <= comm.size(); ++r) first_leaf.push_back(next_begin(domain, leaves * r / comm.size()));
  domain.give_out(owners_in_order(first_leaf), comm);
  std::vector<std::uint32_t> own;
  for (std::int32_t leaf = 0; leaf < domain.own.size(); ++leaf) {
    const Cell& cell = domain.leaf(domain.own.leaf(leaf));
    for (Count i = cell.first; i < cell.first + cell.count; ++i)
      own.push_back(records[static_cast<std::size_t>(i)].index);
    if (comm.rank() % 2 == 1) std::reverse(own.end() - static_cast<std::ptrdiff_t>(cell.count), own.end());
  }
  result.particles = all;
  result.particles.reorder(own);
  return result;
}

}  // namespace grove
