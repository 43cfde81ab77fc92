#include "decomposition/decompose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include "decomposition/frontier.hpp"
#include "decomposition/host_rank.hpp"
#include "decomposition/join_cells.hpp"
#include "decomposition/processor_set_tree.hpp"
#include "decomposition/root_cell.hpp"
#include "decomposition/shares.hpp"
#include "decomposition/top_cells.hpp"

namespace grove {
namespace {

/// The decomposition as one rank sees it, step by step.
class Decomposition {
 public:
  Decomposition(const Communicator& comm, RankStorage& own, const DecompositionParameters& parameters,
                DecompositionReport& report)
      : comm_(comm), own_(own), parameters_(parameters), report_(report) {}

  Domain run(const std::optional<Box>& previous) {
    const auto time = report_.timers.time("total");
    set_up(previous);
    cut_together();
    cut_delegated();
    find_owners();
    migrate();
    cut_alone();
    gather_cells();
    own_.arrange();
    return domain();
  }

 private:
  void set_up(const std::optional<Box>& previous);
  void cut_together();
  void cut_delegated();
  void find_owners();
  void migrate();
  void cut_alone();
  void gather_cells();
  Domain domain();
  std::int32_t block_leaves() const;

  Shares shares() const {
    const auto& speeds = parameters_.speeds;
    return speeds.empty() ? Shares(root_.weight, comm_.size()) : Shares(root_.weight, speeds);
  }

  const Communicator& comm_;
  RankStorage& own_;
  const DecompositionParameters& parameters_;
  DecompositionReport& report_;
  Box box_;
  CutScheme scheme_;
  Cell root_;
  std::vector<Cell> cells_;  ///< the top cells; at last all
  Frontier frontier_;
};

void Decomposition::set_up(const std::optional<Box>& previous) {
  if (!parameters_.speeds.empty() && static_cast<int>(parameters_.speeds.size()) != comm_.size())
    throw std::logic_error("decompose: speeds of other ranks");
  {
    const auto time = report_.timers.time("set_up");
    root_.count = comm_.sum(static_cast<Count>(own_.size()));
    comm_.together([&] {
      check_size(own_.size());
      scheme_ = scheme_of(parameters_, root_);
    });
    root_.weight = comm_.sum(own_.weigh(comm_));
  }
  const auto time = report_.timers.time("records");
  box_ = own_.take_all(comm_, axes_of(parameters_), previous, root_);
}

void Decomposition::cut_together() {
  cells_ = {root_};
  const Shares shares = this->shares();
  const bool is_alone =
      parameters_.schedule == Schedule::straddling && root_.leaves > 1 && !shares.straddles(0, root_.weight);
  if (is_alone) return;
  const Count most_delegated = own_.most_delegated(scheme_, root_.count / comm_.size());
  ProcessorSetTree tree(comm_, parameters_.transport, own_.services(), report_);
  tree.run([&] {
    cells_ = grove::cut_together(tree, parameters_, scheme_, shares, most_delegated, root_, report_);
  });
  const std::span<const Cell> found(cells_);
  cells_ = comm_.all_gather_arrays(found.first(comm_.is_master() ? found.size() : 0));
}

void Decomposition::cut_delegated() {
  const DelegatedCells delegated(cells_, shares());
  if (delegated.size() == 0) return;
  const auto time = report_.timers.time("delegate");
  const std::vector<Cell> own = own_.cut_delegated(comm_, scheme_, cells_, delegated);
  delegated.join(cells_, comm_.all_gather_arrays(std::span<const Cell>(own)));
  report_.collectives += 2;
  comm_.together([&] { own_.divide_delegated(cells_, delegated); });
}

void Decomposition::find_owners() {
  const auto time = report_.timers.time("collect");
  own_.end_services();
  frontier_ = Frontier(cells_, shares());
}

void Decomposition::migrate() {
  const auto time = report_.timers.time("migrate");
  if (own_.migrate(comm_, frontier_, box_)) ++report_.collectives;
}

void Decomposition::cut_alone() {
  std::optional<PhaseTimers::Scope> waiting;
  comm_.together([&] {
    {
      const auto time = report_.timers.time("local");
      own_.cut_alone(scheme_, cells_, frontier_, comm_.rank());
    }
    waiting.emplace(report_.timers, "wait");
  });
}

void Decomposition::gather_cells() {
  const auto time = report_.timers.time("gather_cells");
  const std::vector<std::int32_t> uncut = frontier_.uncut();
  if (comm_.size() == 1 || uncut.empty()) {
    cells_ = join_cells(cells_, uncut, own_.own_cells());
    return;
  }
  const std::vector<Cell> subtrees = comm_.all_gather_arrays(own_.own_cells());
  ++report_.collectives;
  cells_ = join_cells(cells_, uncut, subtrees);
}

Domain Decomposition::domain() {
  Domain result;
  result.box = box_;
  result.block_leaves = block_leaves();
  result.leaf_size = scheme_.quantum;
  result.leaf_cell.resize(static_cast<std::size_t>(cells_[0].leaves));
  std::vector<Count> weights(result.leaf_cell.size());
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    if (!cells_[c].is_leaf()) continue;
    const auto leaf = static_cast<std::size_t>(cells_[c].first_leaf);
    result.leaf_cell[leaf] = static_cast<std::int32_t>(c);
    weights[leaf] = cells_[c].weight;
  }
  result.cells = std::move(cells_);
  result.give_out(shares().runs(weights), comm_);
  return result;
}

/// Blocks are cut anew one by one, into as many leaves of the same sizes, only under this rule.
std::int32_t Decomposition::block_leaves() const {
  constexpr std::int32_t enough_blocks = 256;
  if (scheme_.rule != CutRule::middle) return 1;
  return std::clamp(root_.leaves / enough_blocks, 1, parameters_.most_block_leaves);
}

void warn_about_idle_ranks(const Communicator& comm, const Domain& domain) {
  if (comm.is_master() && domain.leaves() < comm.size())
    fmt::print(stderr, "grove: warning: {} ranks, but only {} to share out: {} stay idle\n", comm.size(),
               domain.leaves() == 1 ? "1 leaf" : fmt::format("{} leaves", domain.leaves()),
               comm.size() - domain.leaves());
}

}  // namespace

Domain decompose(const Communicator& comm, RankStorage& own, const DecompositionParameters& parameters,
                 const std::optional<Box>& previous, DecompositionReport& report) {
  Domain domain = Decomposition(comm, own, parameters, report).run(previous);
  if (!previous) warn_about_idle_ranks(comm, domain);
  return domain;
}

Domain decompose(const Communicator& comm, Particles& particles, const DecompositionParameters& parameters,
                 const std::optional<Box>& previous, DecompositionReport& report, Array<Record>* records) {
  HostRank own(particles, report, records);
  return decompose(comm, own, parameters, previous, report);
}

}  // namespace grove
