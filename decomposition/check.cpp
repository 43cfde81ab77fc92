#include "decomposition/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/hash.hpp"
#include "decomposition/recount.hpp"
#include "decomposition/root_cell.hpp"

namespace grove {
namespace {

[[noreturn]] void fail(std::size_t cell, const std::string& what) {
  throw DecompositionFault(fmt::format("cell {}: {}", cell, what));
}

class Recounter {
 public:
  Recounter(const Communicator& comm, const Particles& particles, double lead, const CutScheme& scheme,
            const Domain& domain)
      : comm_(comm),
        particles_(particles),
        places_{particles.position.data(), particles.velocity.data(), lead},
        domain_(domain),
        scheme_(scheme),
        recount_(domain.cells.size()) {
    weighted_ =
        comm.max(std::any_of(particles.work.begin(), particles.work.end(), [](auto w) { return w > 0; })
                     ? 1
                     : 0) > 0;
  }

  Recount operator()() {
    agree_on_fault(comm_, count_own());
    return std::move(recount_);
  }

 private:
  /// Says what is wrong.
  std::string count_own() {
    const auto leaves = static_cast<std::size_t>(domain_.own.size());
    if (domain_.leaf_begin.size() != leaves + 1 ||
        domain_.leaf_begin.back() != static_cast<Count>(particles_.size()))
      return "the ranges of the leaves do not cover the particles of their rank";
    for (std::size_t own = 0; own < leaves; ++own) {
      const LeafNumber leaf = domain_.own.leaf(static_cast<std::int32_t>(own));
      for (auto i = domain_.leaf_begin[own]; i < domain_.leaf_begin[own + 1]; ++i)
        if (descend(static_cast<std::size_t>(i)) != leaf)
          return fmt::format("particle id {} is not in the leaf that the cuts lead it to",
                             particles_.id[static_cast<std::size_t>(i)]);
    }
    return {};
  }

  /// Returns the leaf of particle i.
  LeafNumber descend(std::size_t i) {
    const IntegerPosition c = domain_.box.coordinates(places_(i));
    const ParticleId id = particles_.id[i];
    const Count weight = weighted_ ? std::max(particles_.work[i], std::uint32_t{1}) : 1;
    std::size_t at = 0;
    while (!domain_.cells[at].is_leaf()) {
      const Cell& cell = domain_.cells[at];
      const Cut& cut = cell.cut;
      const Coordinate x = c[cut.axis];
      if (x < scheme_.middle(cell.low[cut.axis], cell.high[cut.axis], cell.count))
        ++recount_.left_of_middle[at];
      if (x == cut.coordinate && id == cut.id) recount_.first_right[at] += weight;
      at = static_cast<std::size_t>(cell.child) + (cut.is_left(x, id) ? 0 : 1);
    }
    ++recount_.count[at];
    recount_.weight[at] += weight;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Coordinate &low = recount_.low[3 * at + axis], &high = recount_.high[3 * at + axis];
      low = std::min(low, c[static_cast<int>(axis)]);
      high = std::max(high, c[static_cast<int>(axis)]);
    }
    return domain_.cells[at].first_leaf;
  }

  const Communicator& comm_;
  const Particles& particles_;
  LedPositions places_;
  const Domain& domain_;
  CutScheme scheme_;
  Recount recount_;
  bool weighted_;
};

/// Cells above the leaves; children lie behind their parents.
void add_up(const Domain& domain, Recount& recount) {
  for (std::size_t at = domain.cells.size(); at-- > 0;) {
    if (domain.cells[at].is_leaf()) continue;
    const auto child = static_cast<std::size_t>(domain.cells[at].child);
    recount.count[at] = recount.count[child] + recount.count[child + 1];
    recount.weight[at] = recount.weight[child] + recount.weight[child + 1];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      recount.low[3 * at + axis] = std::min(recount.low[3 * child + axis], recount.low[3 * child + 3 + axis]);
      recount.high[3 * at + axis] =
          std::max(recount.high[3 * child + axis], recount.high[3 * child + 3 + axis]);
    }
  }
}

void compare_cell(const Domain& domain, const Recount& recount, std::size_t at) {
  const Cell& cell = domain.cells[at];
  if (cell.count != recount.count[at])
    fail(at, fmt::format("{} particles, not {}", recount.count[at], cell.count));
  if (cell.weight != recount.weight[at])
    fail(at, fmt::format("its weight is {}, not {}", recount.weight[at], cell.weight));
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (cell.low[static_cast<int>(axis)] != recount.low[3 * at + axis] ||
        cell.high[static_cast<int>(axis)] != recount.high[3 * at + axis])
      fail(at, "its bounds are not tight");
}

void check_cut(const Domain& domain, const CutScheme& scheme, const Recount& recount, std::size_t at) {
  const Cell& cell = domain.cells[at];
  if (scheme.is_leaf(cell.count, cell.leaves)) fail(at, "a leaf has been cut");
  if (cell.cut.axis != scheme.axis(cell.low, cell.high, cell.count))
    fail(at, "it is not cut on the axis of the rule");
  const auto child = static_cast<std::size_t>(cell.child);
  if (child <= at || child + 1 >= domain.cells.size()) fail(at, "its children are misplaced");
  const Cell &left = domain.cells[child], &right = domain.cells[child + 1];
  const CutTarget target = scheme.target(cell.count, cell.weight, cell.leaves, recount.left_of_middle[at]);
  if (recount.first_right[at] == 0) fail(at, "its cut is not the key of one of its particles");
  if (!target.accepts(left.count, left.weight) ||
      target.accepts(left.count + 1, left.weight + recount.first_right[at]))
    fail(at,
         fmt::format("{} of {} particles go left, which is not what the rule says", left.count, cell.count));
  const bool has_wrong_share =
      scheme.knows_leaves() && left.leaves != scheme.child_leaves(cell.leaves, cell.count, left.count).left;
  if (has_wrong_share || left.leaves + right.leaves != cell.leaves || left.first_leaf != cell.first_leaf ||
      right.first_leaf != cell.first_leaf + left.leaves || left.first != cell.first ||
      right.first != cell.first + left.count)
    fail(at, "its children are numbered wrongly");
}

}  // namespace

void agree_on_fault(const Communicator& comm, const std::string& fault) {
  const int source = comm.min(fault.empty() ? comm.size() : comm.rank());
  if (source < comm.size()) throw DecompositionFault(comm.broadcast(fault, source));
}

void compare(const Communicator& comm, Recount recount, Count particles,
             const DecompositionParameters& parameters, const Domain& domain) {
  comm.sum(std::span<Count>(recount.count));
  comm.sum(std::span<Count>(recount.weight));
  comm.sum(std::span<Count>(recount.left_of_middle));
  comm.sum(std::span<Count>(recount.first_right));
  comm.min(std::span<Coordinate>(recount.low));
  comm.max(std::span<Coordinate>(recount.high));
  add_up(domain, recount);
  Cell root;
  root.count = particles;
  const CutScheme scheme = scheme_of(parameters, root);
  if ((scheme.knows_leaves() && root.leaves != domain.leaves()) ||
      domain.cells[0].leaves != domain.leaves() || root.count != domain.cells[0].count)
    fail(0, "wrong number of particles or leaves");
  for (std::size_t at = 0; at < domain.cells.size(); ++at) {
    compare_cell(domain, recount, at);
    if (!domain.cells[at].is_leaf())
      check_cut(domain, scheme, recount, at);
    else if (!scheme.is_leaf(domain.cells[at].count, domain.cells[at].leaves))
      fail(at, "it should have been cut");
    else if (domain.cells[at].leaves != 1)
      fail(at, "it does not count as one leaf");
  }
}

std::string check_domain(const Communicator& comm, const Particles& particles,
                         const DecompositionParameters& parameters, const Domain& domain) try {
  Cell root;
  root.count = comm.sum(static_cast<Count>(particles.size()));
  compare(comm, Recounter(comm, particles, parameters.lead, scheme_of(parameters, root), domain)(),
          root.count, parameters, domain);
  return {};
} catch (const DecompositionFault& fault) {
  return fault.what();
}

std::uint64_t tree_hash(const Communicator& comm, const Particles& particles, const Domain& domain) {
  std::uint64_t leaves_of_ids = 0;
  for (std::size_t own = 0; own + 1 < domain.leaf_begin.size(); ++own) {
    const auto leaf = static_cast<std::uint64_t>(domain.own.leaf(static_cast<std::int32_t>(own)));
    for (auto i = domain.leaf_begin[own]; i < domain.leaf_begin[own + 1]; ++i)
      leaves_of_ids += mixed(mixed(particles.id[static_cast<std::size_t>(i)]) + leaf);
  }
  return tree_hash(comm, leaves_of_ids, domain);
}

std::uint64_t tree_hash(const Communicator& comm, std::uint64_t leaves_of_ids, const Domain& domain) {
  std::uint64_t hash = comm.sum(leaves_of_ids);
  const auto add = [&hash](auto value) { hash = mixed(hash ^ static_cast<std::uint64_t>(value)); };
  for (const Cell& cell : domain.cells) {
    for (int axis = 0; axis < 3; ++axis) add(cell.low[axis]), add(cell.high[axis]);
    add(cell.cut.id), add(cell.cut.coordinate), add(cell.cut.axis);
    add(cell.first), add(cell.count), add(cell.weight);
    add(cell.child), add(cell.first_leaf), add(cell.leaves);
  }
  return hash;
}

double imbalance(const Domain& domain) {
  std::vector<Count> weight(static_cast<std::size_t>(domain.owners.ranks()), 0);
  for (LeafNumber leaf = 0; leaf < domain.leaves(); ++leaf)
    weight[static_cast<std::size_t>(domain.owners.owner(leaf))] += domain.leaf(leaf).weight;
  return static_cast<double>(*std::max_element(weight.begin(), weight.end())) *
         static_cast<double>(weight.size()) / static_cast<double>(domain.cells[0].weight);
}

AspectRatios aspect_ratios(const Domain& domain) {
  std::vector<double> ratios;
  for (LeafNumber leaf = 0; leaf < domain.leaves(); ++leaf) {
    const Cell& cell = domain.leaf(leaf);
    // Bounds are inclusive, so a side of one coordinate is one unit long.
    const double sides[3] = {cell.high.x - cell.low.x + 1.0, cell.high.y - cell.low.y + 1.0,
                             cell.high.z - cell.low.z + 1.0};
    ratios.push_back(*std::max_element(sides, sides + 3) / *std::min_element(sides, sides + 3));
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double fraction) {
    return ratios[static_cast<std::size_t>(fraction * static_cast<double>(ratios.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.99)};
}

}  // namespace grove
