#include "decomposition/gpu/device_check.hpp"

#include <fmt/format.h>

#include <vector>

#include "decomposition/recount.hpp"
#include "decomposition/root_cell.hpp"
#include "kernels/cuda/cuts/services/leaf_audit.hpp"
#include "kernels/cuda/particles/fields.hpp"

namespace grove {
namespace {

bool covers(const Domain& domain, std::size_t particles) {
  const auto leaves = static_cast<std::size_t>(domain.own.size());
  return domain.leaf_begin.size() == leaves + 1 && domain.leaf_begin.back() == static_cast<Count>(particles);
}

/// Own leaves with the ways to them.
struct Paths {
  std::vector<cuda::AuditedLeaf> leaves;
  std::vector<cuda::PathStep> steps;
  std::vector<std::size_t> leaf_cell;
};

Paths paths_of(const Domain& domain) {
  Paths paths;
  for (std::size_t own = 0; own + 1 < domain.leaf_begin.size(); ++own) {
    const LeafNumber leaf = domain.own.leaf(static_cast<std::int32_t>(own));
    const auto begin = static_cast<std::uint64_t>(domain.leaf_begin[own]);
    const std::size_t path = paths.steps.size();
    std::size_t at = 0;
    while (!domain.cells[at].is_leaf()) {
      const auto child = static_cast<std::size_t>(domain.cells[at].child);
      const bool goes_left = leaf < domain.cells[child + 1].first_leaf;
      paths.steps.push_back({static_cast<std::int32_t>(at), goes_left});
      at = goes_left ? child : child + 1;
    }
    paths.leaf_cell.push_back(at);
    paths.leaves.push_back({begin, static_cast<std::uint64_t>(domain.leaf_begin[own + 1]) - begin, path, leaf,
                            static_cast<std::uint32_t>(paths.steps.size() - path)});
  }
  return paths;
}

/// Weights as the decomposition has taken them.
const std::uint32_t* weights_of(const Communicator& comm, const DeviceParticles& particles) {
  const std::uint32_t* const work = particles.values(fields::work);
  const Count sum = work ? cuda::sum_work(work, particles.size()).get().work : 0;
  return comm.max(sum) > 0 ? work : nullptr;
}

Recount recount_of(const cuda::LeafCounts& counts, const Paths& paths, const Domain& domain) {
  Recount recount(domain.cells.size());
  recount.left_of_middle = counts.left_of_middle;
  recount.first_right = counts.first_right;
  for (std::size_t i = 0; i < paths.leaves.size(); ++i) {
    const std::size_t cell = paths.leaf_cell[i];
    recount.count[cell] = static_cast<Count>(paths.leaves[i].count);
    recount.weight[cell] = counts.weight[i];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      recount.low[3 * cell + axis] = counts.bounds[i].low[static_cast<int>(axis)];
      recount.high[3 * cell + axis] = counts.bounds[i].high[static_cast<int>(axis)];
    }
  }
  return recount;
}

}  // namespace

DeviceCheck check_on_device(const Communicator& comm, const DeviceParticles& particles,
                            const DecompositionParameters& parameters, const Domain& domain) {
  DeviceCheck check{};
  try {
    agree_on_fault(comm, covers(domain, particles.size())
                             ? ""
                             : "the ranges of the leaves do not cover the particles of their rank");
    const std::uint32_t* const weights = weights_of(comm, particles);
    const Paths paths = paths_of(domain);
    cuda::LeafCounts counts;
    comm.together([&] {
      Cell root = domain.cells[0];
      counts = audit_leaves(
          domain.box, scheme_of(parameters, root), domain.cells, paths.leaves, paths.steps,
          {{particles.values(fields::position), particles.values(fields::velocity), parameters.lead},
           particles.values(fields::id),
           weights});
    });
    check.tree_hash = tree_hash(comm, counts.leaves_of_ids, domain);
    agree_on_fault(comm, counts.misplaced > 0
                             ? fmt::format("particle id {} is not in the leaf that the cuts lead it to",
                                           counts.least_misplaced)
                             : "");
    compare(comm, recount_of(counts, paths, domain), comm.sum(static_cast<Count>(particles.size())),
            parameters, domain);
  } catch (const DecompositionFault& fault) {
    check.fault = fault.what();
  }
  return check;
}

}  // namespace grove
