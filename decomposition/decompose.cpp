#include "decomposition/decompose.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

#include "decomposition/end_cells.hpp"
#include "decomposition/join_cells.hpp"
#include "decomposition/migration.hpp"
#include "decomposition/processor_set_tree.hpp"
#include "decomposition/root_cell.hpp"
#include "decomposition/services/all.hpp"
#include "decomposition/shares.hpp"
#include "decomposition/top_cells.hpp"

namespace grove {
namespace {

/// The decomposition as one rank sees it, step by step.
class Decomposition {
 public:
  Decomposition(const Communicator& comm, Particles& particles, const DecompositionParameters& parameters,
                DecompositionReport& report)
      : comm_(comm), particles_(particles), parameters_(parameters), report_(report), own_{particles} {}

  Domain run(const std::optional<Box>& previous, Array<Record>* records) {
    const auto time = report_.timers.time("total");
    set_up(previous);
    cut_together();
    exchange();
    cut_alone();
    gather_cells();
    arrange(records);
    return domain();
  }

 private:
  void set_up(const std::optional<Box>& previous);
  void cut_together();
  void exchange();
  void cut_alone();
  void gather_cells();
  void arrange(Array<Record>* records);
  Domain domain() const;

  /// Runs a script of the master that leaves its result in cells_, and gives that to all ranks.
  template <class Script>
  void with_services(Script&& script) {
    ProcessorSetTree tree(comm_, parameters_.transport, services::all, own_, report_);
    tree.run([&] { script(tree); });
    const std::span<const Cell> result(cells_);
    cells_ = comm_.all_gather_arrays(result.first(comm_.is_master() ? result.size() : 0));
  }

  const Communicator& comm_;
  Particles& particles_;
  const DecompositionParameters& parameters_;
  DecompositionReport& report_;
  RankParticles own_;
  Box box_;
  CutScheme scheme_;
  Cell root_;
  bool weighted_ = false;    ///< particles have weights, on all ranks
  std::vector<Cell> cells_;  ///< the top cells; at last all
  EndCells ends_;
};

void Decomposition::set_up(const std::optional<Box>& previous) {
  {
    const auto time = report_.timers.time("set_up");
    root_.count = comm_.sum(static_cast<Count>(particles_.size()));
    comm_.together([&] {
      check_size(particles_.size());
      scheme_ = scheme_of(parameters_, root_);
    });
    const Count weight = weigh(comm_, particles_, weighted_);
    if (weighted_) own_.weight = particles_.work.data();
    own_.make_root(weight);
    root_.weight = comm_.sum(weight);
  }
  const auto time = report_.timers.time("records");
  box_ = take_all(comm_, own_, previous, root_);
}

void Decomposition::cut_together() {
  cells_ = {root_};
  const Shares shares(root_.weight, comm_.size());
  const bool is_alone =
      parameters_.schedule == Schedule::straddling && root_.leaves > 1 && !shares.straddles(0, root_.weight);
  if (!is_alone)
    with_services([&](ProcessorSetTree& tree) {
      cells_ = grove::cut_together(tree, parameters_, scheme_, shares, root_, report_);
    });
  own_.scratch = Array<std::uint32_t>();
  own_.axis = Array<Coordinate>();
  ends_ = EndCells(cells_, shares);
}

void Decomposition::exchange() {
  const auto time = report_.timers.time("migrate");
  std::vector<std::uint32_t> departing;
  std::vector<Count> counts(static_cast<std::size_t>(comm_.size()), 0);
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (ends_.owner(i) == comm_.rank()) continue;
    const auto records = own_.records_of(ends_.cell(i));
    for (const Record& r : records) departing.push_back(r.index);
    counts[static_cast<std::size_t>(ends_.owner(i))] += static_cast<Count>(records.size());
  }
  if (comm_.size() == 1 || comm_.max(static_cast<Count>(departing.size())) == 0) return;

  ++report_.collectives;
  const Migration migration(comm_, particles_.size(), std::move(departing), counts);
  migration.apply(particles_);
  if (weighted_) own_.weight = particles_.work.data();  // a rank that had no particles had no weights either
  ends_.merge_arrivals(comm_, own_, migration, box_);
}

void Decomposition::cut_alone() {
  const auto time = report_.timers.time("local");
  Count begin = 0;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (ends_.owner(i) != comm_.rank()) continue;
    const Cell& cell = cells_[static_cast<std::size_t>(ends_.cell(i))];
    const auto records = std::span<Record>(own_.records)
                             .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(cell.count));
    begin += cell.count;
    if (!ends_.is_uncut(i)) continue;
    const std::vector<Cell> cells = cut_to_leaves(scheme_, cell, records, particles_.id.data(), own_.weight);
    own_.own_cells.insert(own_.own_cells.end(), cells.begin(), cells.end());
  }
}

void Decomposition::gather_cells() {
  const std::vector<std::int32_t> uncut = ends_.uncut();
  if (comm_.size() == 1)
    cells_ = join_cells(cells_, uncut, own_.own_cells);
  else if (uncut.empty())
    cells_ = join_cells(cells_, uncut, {});
  else {
    {
      const auto time = report_.timers.time("wait");
      comm_.barrier();
    }
    with_services([&](ProcessorSetTree& tree) {
      cells_ = join_cells(cells_, uncut, tree.call<services::GatherCells>({{0}}));
    });
  }
}

void Decomposition::arrange(Array<Record>* records) {
  if (records) {
    *records = std::move(own_.records);
    return;
  }
  const auto time = report_.timers.time("migrate");
  Array<std::uint32_t> order(own_.records.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = own_.records[i].index;
  own_.records = Array<Record>();
  particles_.reorder(order);
}

Domain Decomposition::domain() const {
  Domain result;
  result.box = box_;
  result.leaf_size = scheme_.quantum;
  result.cells = cells_;
  result.leaf_cell.resize(static_cast<std::size_t>(cells_[0].leaves));
  std::vector<Count> weights(result.leaf_cell.size());
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    if (!cells_[c].is_leaf()) continue;
    const auto leaf = static_cast<std::size_t>(cells_[c].first_leaf);
    result.leaf_cell[leaf] = static_cast<std::int32_t>(c);
    weights[leaf] = cells_[c].weight;
  }
  result.first_leaf = Shares(root_.weight, comm_.size()).runs(weights);
  result.leaf_begin = {0};
  const auto rank = static_cast<std::size_t>(comm_.rank());
  for (std::int32_t leaf = result.first_leaf[rank]; leaf < result.first_leaf[rank + 1]; ++leaf)
    result.leaf_begin.push_back(result.leaf_begin.back() + result.leaf(leaf).count);
  return result;
}

void warn_about_idle_ranks(const Communicator& comm, const Domain& domain) {
  if (comm.is_master() && domain.leaves() < comm.size())
    fmt::print(stderr, "grove: warning: {} ranks, but only {} to share out: {} ranks stay idle\n",
               comm.size(), domain.leaves() == 1 ? "1 leaf" : fmt::format("{} leaves", domain.leaves()),
               comm.size() - domain.leaves());
}

}  // namespace

Domain decompose(const Communicator& comm, Particles& particles, const DecompositionParameters& parameters,
                 const std::optional<Box>& previous, DecompositionReport& report, Array<Record>* records) {
  Domain domain = Decomposition(comm, particles, parameters, report).run(previous, records);
  if (!previous) warn_about_idle_ranks(comm, domain);
  return domain;
}

}  // namespace grove
