#include "decomposition/decompose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "base/how_many.hpp"
#include "decomposition/cube_shares.hpp"
#include "decomposition/frontier.hpp"
#include "decomposition/host_rank.hpp"
#include "decomposition/join_cells.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/known_cells.hpp"
#include "decomposition/processor_set_tree.hpp"
#include "decomposition/root_cell.hpp"
#include "decomposition/segments.hpp"
#include "decomposition/shares.hpp"
#include "decomposition/top_cells.hpp"
#include "decomposition/whole_cells.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/cell_walk.hpp"
#include "kernels/math/leaf_numbers.hpp"

namespace grove {
namespace {

/// The decomposition as one rank sees it, step by step.
class Decomposition {
 public:
  Decomposition(const Communicator& comm, RankStorage& own, const DecompositionParameters& parameters,
                DecompositionReport& report)
      : comm_(comm), own_(own), parameters_(parameters), report_(report) {}

  Domain run(const Domain& previous) {
    const auto time = report_.timers.time("total");
    check_speeds();
    if (!settle_in_one_round(previous)) run_script(previous);
    cut_alone();
    gather_cells();
    own_.arrange();
    return domain();
  }

 private:
  void check_speeds() const;
  bool settle_in_one_round(const Domain& previous);
  bool can_settle(const Domain& previous);
  KeyRanges parts_of_ranks(const Domain& previous) const;
  void run_script(const Domain& previous) {
    set_up(previous);
    cut_together();
    cut_delegated();
    find_owners();
    migrate(nullptr);
  }
  void set_up(const Domain& previous);
  void cut_together();
  void cut_delegated();
  void find_owners();
  void migrate(const FrontierMoves* known);
  void cut_alone();
  void gather_cells();
  Domain domain();
  LeafOwners owners() const;
  std::vector<Cell> found_for_others() const;

  void count_cuts(std::uint64_t bytes) const { report_.tables[TableBytes::cuts] += bytes; }
  Shares shares(Count weight) const {
    const auto& speeds = parameters_.speeds;
    return speeds.empty() ? Shares(weight, comm_.size()) : Shares(weight, speeds);
  }
  Shares shares() const { return shares(root_.weight); }

  const Communicator& comm_;
  RankStorage& own_;
  const DecompositionParameters& parameters_;
  DecompositionReport& report_;
  Box box_;
  CutScheme scheme_;
  Cell root_;
  std::vector<Cell> cells_;  ///< the top cells; at last all
  Frontier frontier_;
  Communicator::Gathered<Cell> shared_;  ///< of the cells that ranks have cut alone
};

void Decomposition::check_speeds() const {
  if (!parameters_.speeds.empty() && static_cast<int>(parameters_.speeds.size()) != comm_.size())
    throw std::logic_error("decompose: speeds of other ranks");
}

/// Collective. True if each particle lies in the previous cube.
bool Decomposition::can_settle(const Domain& previous) {
  Settling* const settling = own_.settling();
  const bool is_asked = settling && comm_.size() > 1 && parameters_.rule == CutRule::domains &&
                        parameters_.schedule == Schedule::straddling && !previous.cells.empty();
  if (!is_asked) return false;
  box_ = previous.box;
  box_.axes = axes_of(parameters_);
  std::array<int, 2> all{settling->take_inside(box_), !own_.has_work()};
  comm_.min(std::span<int>(all));
  if (all[0]) own_.weigh(all[1] == 0);
  return all[0];
}

/// Which parts of the root cube the ranks are to own: those of before, if its cells are the same and the work
/// is shared out well, or others. Collective.
KeyRanges Decomposition::parts_of_ranks(const Domain& previous) const {
  const bool has_same_cells = previous.domain_cell > 0 && previous.box.axes == box_.axes;
  const int deepest = deepest_of(parameters_.rungs);
  const Count particle_work = work_per_cycle(parameters_.particle_cost, deepest);
  if (has_same_cells) {
    const Cell& all = previous.cells[0];
    return balanced_parts(comm_, previous, particle_work, shares(all.weight + particle_work * all.count),
                          deepest > 0);
  }
  CubeSharing sharing;
  sharing.sample = [&](const SampleRates& rates) { return own_.settling()->sample(rates, deepest); };
  sharing.weigh = [&](std::span<const IntegerPosition> begin) {
    return own_.settling()->weigh_parts(begin, deepest);
  };
  for (int rung = 0; rung <= deepest; ++rung)
    sharing.particles[static_cast<std::size_t>(PartWork::class_of(rung, deepest))] +=
        parameters_.rungs[static_cast<std::size_t>(rung)];
  if (deepest == 0) sharing.particles[0] = previous.cells[0].count;
  sharing.speeds = parameters_.speeds;
  sharing.speeds.resize(static_cast<std::size_t>(comm_.size()), 1);
  sharing.particle_work = particle_work;
  sharing.domain_cell = scheme_.domain_cell;
  return share_out_cube(comm_, sharing);
}

/// Collective. Particles go to the owners of their places as of before, and the top cells follow from what
/// the ranks then have. False: that cannot be, nothing has changed.
bool Decomposition::settle_in_one_round(const Domain& previous) {
  {
    const auto time = report_.timers.time("records");
    if (!can_settle(previous)) return false;
  }
  root_.count = previous.cells[0].count;
  scheme_ = scheme_of(parameters_, root_);
  std::vector<Segment> own;
  {
    const auto time = report_.timers.time("migrate");
    const KeyRanges parts = parts_of_ranks(previous);
    const PlaceFinder finder(parts, comm_.rank());
    count_cuts(bytes_of(parts.parts(), finder.begins(), finder.begins(), finder.answers()));
    own = own_.settling()->settle(comm_, finder, box_, root_.count);
    report_.tables[TableBytes::exchange] +=
        2 * bytes_of(std::vector<Count>(static_cast<std::size_t>(comm_.size()) + 1));
    ++report_.collectives;
  }
  const auto time = report_.timers.time("collect");
  constexpr std::size_t usual = 128;  // an end of a run has a few dozen
  std::vector<Segment> all = comm_.all_gather_few(std::span<const Segment>(own), usual);
  count_cuts(bytes_of(all));
  TopOfSegments top = top_of(std::move(all), scheme_, comm_.rank(), comm_.size());
  ++report_.collectives;
  own_.settling()->take_portions(top.frontier, top.portions);
  cells_ = std::move(top.cells);
  frontier_ = std::move(top.frontier);
  if (cells_[0].count != root_.count) throw std::logic_error("particles have been lost");
  root_ = cells_[0];
  if (top.moves.most > 0) migrate(&top.moves);
  return true;
}

void Decomposition::set_up(const Domain& previous) {
  {
    const auto time = report_.timers.time("set_up");
    root_.count = comm_.sum(static_cast<Count>(own_.size()));
    comm_.together([&] {
      check_size(own_.size());
      scheme_ = scheme_of(parameters_, root_);
      check_leaves(parameters_, root_.leaves, comm_.size());
    });
    const bool has_work = comm_.max(own_.has_work() ? 1 : 0) > 0;
    root_.weight = comm_.sum(own_.weigh(has_work));
  }
  const auto time = report_.timers.time("records");
  std::optional<Box> cube = previous.cells.empty() ? std::nullopt : std::optional(previous.box);
  if (parameters_.period > 0) cube = Box::periodic(parameters_.period);
  box_ = own_.take_all(comm_, axes_of(parameters_), cube, root_);
  if (parameters_.period > 0 && box_.edge != parameters_.period)
    throw Agreed<InputError>(fmt::format(
        "there are particles outside of the periodic box of {:g} (internal units)", parameters_.period));
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
  const DelegatedCells delegated(cells_, shares(), scheme_.domain_cell);
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
  frontier_ = Frontier(cells_, shares(), scheme_.domain_cell);
}

/// known: the moves, if there is no need to ask for them.
void Decomposition::migrate(const FrontierMoves* known) {
  const auto time = report_.timers.time("migrate");
  const FrontierMoves moves = known ? *known : frontier_.moves(comm_, own_.portions(frontier_), root_.count);
  own_.migrate(comm_, frontier_, moves, box_);
  if (moves.most > 0) ++report_.collectives;
}

void Decomposition::cut_alone() {
  constexpr std::size_t usual = 128;  // covers, and what is above them
  std::optional<PhaseTimers::Scope> waiting;
  const std::function<std::vector<Cell>()> work = [&] {
    {
      const auto time = report_.timers.time("local");
      own_.cut_alone(scheme_, cells_, frontier_, comm_.rank());
    }
    waiting.emplace(report_.timers, "wait");
    return found_for_others();
  };
  shared_ = comm_.gather_few_together(work, usual);
}

/// Those cells that others are to know among the ones that this rank has cut alone.
std::vector<Cell> Decomposition::found_for_others() const {
  const std::span<const Cell> own = own_.own_cells();
  if (parameters_.all_cells) return {own.begin(), own.end()};
  std::vector<Cell> shared;
  const Count most = most_in_cover(cells_[0].count, static_cast<std::size_t>(comm_.size()));
  for (std::size_t begin = 0, size; begin < own.size(); begin += size) {
    size = subtree_size(own, begin);
    std::vector<Cell> subtree(own.begin() + static_cast<std::ptrdiff_t>(begin),
                              own.begin() + static_cast<std::ptrdiff_t>(begin + size));
    number_leaves(subtree);
    const std::vector<Cell> above = above_covers(subtree, most);
    shared.insert(shared.end(), above.begin(), above.end());
  }
  return shared;
}

void Decomposition::gather_cells() {
  const auto time = report_.timers.time("gather_cells");
  const std::vector<std::int32_t> uncut = frontier_.uncut();
  if (comm_.size() == 1 || uncut.empty()) {
    cells_ = join_cells(cells_, uncut, own_.own_cells());
    return;
  }
  std::vector<Cell> subtrees = std::move(shared_.values);
  ++report_.collectives;
  count_cuts(bytes_of(subtrees));
  if (!parameters_.all_cells) {  // own ones as a whole
    const auto rank = static_cast<std::size_t>(comm_.rank());
    const auto begin =
        subtrees.begin() + static_cast<std::ptrdiff_t>(std::accumulate(
                               shared_.counts.begin(), shared_.counts.begin() + comm_.rank(), Count{0}));
    const auto place = subtrees.erase(begin, begin + static_cast<std::ptrdiff_t>(shared_.counts[rank]));
    subtrees.insert(place, own_.own_cells().begin(), own_.own_cells().end());
  }
  cells_ = join_cells(cells_, uncut, subtrees);
}

Domain Decomposition::domain() {
  Domain result;
  result.box = box_;
  result.leaf_size = scheme_.quantum;
  result.domain_cell = scheme_.domain_cell;
  const LeafOwners owners = this->owners();
  if (parameters_.all_cells) {
    result.take_whole(std::move(cells_));
  } else {
    result.cells = std::move(cells_);
    result.owners = owners;
    result = known_part(std::move(result), comm_.rank());
  }
  result.give_out(owners, comm_);
  return result;
}

/// As ranks own frontier cells.
LeafOwners Decomposition::owners() const {
  std::vector<LeafOwners::Run> runs;
  std::size_t frontier = 0;
  for_each_leaf(cells_, 0, [&](std::int32_t, const Cell& cell) {
    if (frontier == frontier_.size() || cell.first != frontier_.first(frontier)) return;
    const int owner = frontier_.owner(frontier++);
    if (runs.empty() || runs.back().rank != owner) runs.push_back({cell.first_leaf, owner});
  });
  return {runs, cells_[0].leaves, comm_.size()};
}

void warn_about_idle_ranks(const Communicator& comm, const Domain& domain) {
  const LeafNumber idle = comm.size() - domain.leaves();
  if (comm.is_master() && idle > 0)
    fmt::print(stderr, "grove: warning: {} ranks, but only {} to share out: {} {} idle\n", comm.size(),
               how_many(domain.leaves(), "leaf", "leaves"), idle, idle == 1 ? "stays" : "stay");
}

}  // namespace

Domain decompose(const Communicator& comm, RankStorage& own, const DecompositionParameters& parameters,
                 const Domain& previous, DecompositionReport& report) {
  Domain domain = Decomposition(comm, own, parameters, report).run(previous);
  if (previous.cells.empty()) warn_about_idle_ranks(comm, domain);
  return domain;
}

Domain decompose(const Communicator& comm, Particles& particles, const DecompositionParameters& parameters,
                 const Domain& previous, DecompositionReport& report, Array<Record>* records) {
  HostRank own(particles, report, records, parameters.lead);
  return decompose(comm, own, parameters, previous, report);
}

}  // namespace grove
