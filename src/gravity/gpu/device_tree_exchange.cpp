#include "gravity/gpu/device_tree_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "comm/exchange_plan.hpp"
#include "comm/message_exchange.hpp"
#include "kernels/cuda/cuts/partition/range_order.hpp"
#include "kernels/cuda/let/leaf_lists.hpp"
#include "kernels/cuda/let/let_fields.hpp"

namespace grove {
namespace {

/// The point that all frames refer to.
Vec3d middle_of(const Box& box) { return box.low + Vec3d{1, 1, 1} * (box.edge / 2); }

/// A number for each rank: that of the parts' ranks by their order, of all others 0.
template <class Number>
std::vector<Count> by_rank(int ranks, std::span<const Reach::Part> parts, const Number& number) {
  std::vector<Count> numbers(static_cast<std::size_t>(ranks), 0);
  for (std::size_t i = 0; i < parts.size(); ++i) numbers[static_cast<std::size_t>(parts[i].rank)] = number(i);
  return numbers;
}

}  // namespace

/// The cells that this rank knows, in a copy of its own.
void DeviceTreeExchange::know(const Own& own) {
  has_new_cells_ = false;
  if (comm_.size() == 1) {
    top_ = cuda::DeviceTop(own.domain.cells, own.codes, parameters_.images);
    return;
  }
  known_ = known_cells(own.domain, comm_.rank());
  if (known_.pruned.empty()) known_.pruned.assign(known_.cells.begin(), known_.cells.end());
  known_.cells = known_.pruned;
  table_ = top_table(known_, comm_.rank());
  top_ = cuda::DeviceTop(table_, own.codes, parameters_.images);
  centre_.assign(known_.cells.size(), {});
  core_.assign(known_.cells.size(), {});
}

void DeviceTreeExchange::publish(const Own& own, PhaseTimers& timers) {
  const WalkSetup& walk = own.setup.walk;
  const auto rule = AcceptanceRule::of(walk.gravity, walk.units, own.setup.median_acceleration);
  std::vector<cuda::CoverNotice> mine;
  {
    const auto timer = timers.time("let");
    notices_ = own.forest.notices();
    if (has_new_cells_) know(own);
    if (comm_.size() == 1) {
      top_.combine(notices_.data(), walk.units, rule, middle_of(own.domain.box));
      return;
    }
    mine = top_.begin(notices_.data(), walk.units, rule);
  }
  const std::vector<cuda::CoverNotice> all = gather(mine, timers);
  const auto timer = timers.time("let");
  top_.take(all);
  find_reach(own, all);
  tables_ = {};
  tables_[TableBytes::cells] = bytes_of(known_.pruned, known_.cover, table_.cells, table_.covers);
  tables_[TableBytes::runs] = bytes_of(known_.first_cover);
  tables_[TableBytes::notices] = bytes_of(all, wanted_);
  tables_[TableBytes::top_tree] = bytes_of(centre_, core_);
  tables_[TableBytes::search] = reach_->bytes();
}

std::vector<cuda::CoverNotice> DeviceTreeExchange::gather(const std::vector<cuda::CoverNotice>& own,
                                                          PhaseTimers& timers) const {
  const auto timer = timers.time("wait");  // for slower ranks
  std::vector<Count> covers(static_cast<std::size_t>(comm_.size()));
  std::adjacent_difference(known_.first_cover.begin() + 1, known_.first_cover.end(), covers.begin());
  return comm_.all_gather_arrays(std::span<const cuda::CoverNotice>(own), std::span<const Count>(covers));
}

void DeviceTreeExchange::find_reach(const Own& own, std::span<const cuda::CoverNotice> notices) {
  wanted_.clear();
  for (std::size_t i = 0; i < notices.size(); ++i) {
    const auto cell = static_cast<std::size_t>(known_.cover[i]);
    wanted_.push_back(notices[i].wanted);
    centre_[cell] = notices[i].centre;
    core_[cell] = notices[i].core;
  }
  TopTree top;
  top.centre = centre_.data();
  top.core = core_.data();
  reach_.emplace(known_, top, wanted_, own.setup.walk.units.length, 0.F, comm_.rank(),
                 own.setup.walk.gravity.images);
}

Count DeviceTreeExchange::leaves_in(std::span<const std::int32_t> covers) const {
  return std::accumulate(covers.begin(), covers.end(), Count{0}, [&](Count sum, std::int32_t cover) {
    return sum + known_.cover_cell(cover).leaves;
  });
}

/// Near ranks whose cells own walks may open get the targets of all leaves in the covers from where. For far
/// ones the covers say enough.
cuda::LetTargets DeviceTreeExchange::exchange_targets(const Own& own) {
  std::vector<cuda::ParticleRange> told;
  for (const Reach::Part& part : reach_->in()) {
    if (!part.is_near) continue;
    for (const std::int32_t cover : part.own) {
      const TopLinks& cell =
          table_.cells[static_cast<std::size_t>(known_.cover[static_cast<std::size_t>(cover)])];
      told.push_back({static_cast<std::uint64_t>(cell.first_leaf), static_cast<std::uint64_t>(cell.leaves)});
    }
  }
  const std::span<const Reach::Part> in = reach_->in(), out = reach_->out();
  const auto to_rank =
      by_rank(comm_.size(), in, [&](std::size_t i) { return in[i].is_near ? leaves_in(in[i].own) : 0; });
  const auto from_rank =
      by_rank(comm_.size(), out, [&](std::size_t i) { return out[i].is_near ? leaves_in(out[i].other) : 0; });
  const ExchangePlan plan(comm_, std::span<const Count>(to_rank), std::span<const Count>(from_rank));
  const double unit_length = own.setup.walk.units.length;
  std::vector<LeafTargets> far;
  std::vector<cuda::LetTargets::Range> ranks;
  const auto near = static_cast<std::uint32_t>(plan.receive_total());
  for (std::uint32_t next = 0; const Reach::Part& part : out) {
    if (part.is_near) {
      const auto leaves = static_cast<std::uint32_t>(leaves_in(part.other));
      ranks.push_back({next, leaves});
      next += leaves;
      continue;
    }
    ranks.push_back(
        {near + static_cast<std::uint32_t>(far.size()), static_cast<std::uint32_t>(part.other.size())});
    for (const std::int32_t cover : part.other)
      far.push_back(LeafTargets::of(wanted_[static_cast<std::size_t>(cover)], unit_length));
  }
  cuda::DeviceArray<LeafTargets> targets(near + far.size());
  const cuda::DeviceArray<std::uint32_t> leaves = cuda::list_ranges(told);
  const cuda::DeviceArray<LeafTargets> sent(leaves.size());
  cuda::collect_targets(own.forest.trees(), leaves.data(), leaves.size(), sent.data());
  exchange_.apply(plan, sent.data(), targets.data(), sizeof(LeafTargets));
  cuda::device_upload(targets.data() + near, far.data(), far.size() * sizeof(LeafTargets));
  return {std::move(targets), ranks, own.setup.walk.units, middle_of(own.domain.box)};
}

void DeviceTreeExchange::select(const Own& own) {
  places_.clear();
  for (const cuda::LeafPlaces& leaf : own.forest.places())
    places_.push_back({static_cast<std::uint32_t>(leaf.node), static_cast<std::uint32_t>(leaf.first)});
  make_frames(own, cuda::KnownRoots::own_ones(notices_.data(), places_.size()));
  if (comm_.size() == 1) return;
  const cuda::LetTargets targets = exchange_targets(own);
  selection_.emplace(own.forest.trees(), own.forest.largest_tree(),
                     cuda::LetReceivers{top_.own_cells(), targets.view(), frames_.data(),
                                        own.setup.walk.units.length, parameters_.images});
}

void DeviceTreeExchange::make_frames(const Own& own, const cuda::KnownRoots& roots) {
  const cuda::DeviceArray<cuda::LeafPlace> places{std::span<const cuda::LeafPlace>(places_)};
  const std::size_t frames = places_.size() * static_cast<std::size_t>(parameters_.images.count());
  if (frames_.size() != frames) frames_ = cuda::DeviceArray<SourceFrame>(frames);
  cuda::make_frames(roots, places.data(), middle_of(own.domain.box), own.setup.walk.units, frames_.data(),
                    parameters_.images);
}

/// Tells ranks in reach how that hangs together what they get, and hears the same from others. sent (out):
/// the cells whose values are sent.
std::vector<LetTable> DeviceTreeExchange::exchange_tables(std::vector<std::int32_t>& sent) {
  const std::span<const cuda::SelectedTree> trees = selection_->trees();
  std::vector<Message> messages;
  tables_out_.clear();
  auto next = trees.begin();
  for (std::int32_t slot = 0; slot < static_cast<std::int32_t>(reach_->out().size()); ++slot) {
    const auto first = next;
    next = std::find_if(first, trees.end(), [&](const auto& tree) { return tree.slot != slot; });
    const auto number_of = [&](std::int32_t leaf) {
      const auto tree =
          std::lower_bound(first, next, leaf, [](const auto& a, std::int32_t b) { return a.leaf < b; });
      return static_cast<std::int32_t>(tree - first);
    };
    LetTable table = let_table(
        table_, [&](std::int32_t cell) { return selection_->opens(slot, cell); }, number_of, sent);
    for (auto tree = first; tree != next; ++tree) table.trees.push_back({tree->nodes, tree->particles});
    messages.push_back({reach_->out()[static_cast<std::size_t>(slot)].rank, pack_table(table)});
    tables_out_.push_back(std::move(table));
  }
  MessageExchange exchange(comm_, std::move(messages), ranks_of(reach_->in()));
  std::vector<LetTable> received;
  for (const Message& message : exchange.finish()) received.push_back(unpack_table(message));
  return received;
}

/// Sends what is selected for other ranks, and puts what comes behind the own trees. top_cells (out): values
/// of the cells that have come.
void DeviceTreeExchange::exchange_values(const DeviceForest& forest, const cuda::LetArrays& packed,
                                         std::span<const LetTable> received,
                                         std::span<const std::int32_t> sent_cells,
                                         cuda::DeviceArray<TopCell>& top_cells,
                                         GravityStorage::Imported& imported) {
  const auto plan_of = [&](const auto& number) {
    const std::vector<Count> to =
        by_rank(comm_.size(), reach_->out(), [&](std::size_t i) { return number(tables_out_[i]); });
    const std::vector<Count> from =
        by_rank(comm_.size(), reach_->in(), [&](std::size_t i) { return number(received[i]); });
    return ExchangePlan(comm_, std::span<const Count>(to), std::span<const Count>(from));
  };
  const ExchangePlan of_cells = plan_of([](const LetTable&t) { return t.sent_cells(); }),
                     of_nodes = plan_of([](const LetTable&t) { return t.counts().nodes; }),
                     of_particles = plan_of([](const LetTable&t) { return t.counts().particles; });
  const cuda::DeviceArray<TopCell> sent_values = top_.gather(sent_cells);
  const cuda::LeafTrees trees = forest.trees();
  top_cells = cuda::DeviceArray<TopCell>(static_cast<std::size_t>(of_cells.receive_total()));
  std::vector<DeviceExchange::Transfer> transfers{
      {of_cells, sent_values.data(), top_cells.data(), sizeof(TopCell)}};
  imported.bytes += of_cells.receive_total() * static_cast<Count>(sizeof(TopCell));
  const auto exchange = [&](const ExchangePlan& plan, const auto* values, auto* behind) {
    transfers.push_back({plan, values, behind, sizeof(*behind)});
    imported.bytes += plan.receive_total() * static_cast<Count>(sizeof(*behind));
  };
  const auto exchange_field = [&](const ExchangePlan& plan, std::size_t own, auto field) {
    if (field.is_there(parameters_)) exchange(plan, packed.trees().*field.member, trees.*field.member + own);
  };
  exchange(of_nodes, packed.links(), forest.links() + forest.nodes());
  cuda::let_fields::OfNodes::for_each(
      [&](auto field, std::size_t) { exchange_field(of_nodes, forest.nodes(), field); });
  cuda::let_fields::OfParticles::for_each(
      [&](auto field, std::size_t) { exchange_field(of_particles, forest.particles(), field); });
  exchange_.apply(transfers);
}

/// Enters where the trees of known leaves are: the own ones, those that have come, one after the other, and
/// of all others the roots.
void DeviceTreeExchange::place_trees(const Own& own, std::span<const LetTable> received,
                                     const NumberedLets& lets) {
  std::size_t node = own.forest.nodes(), particle = own.forest.particles();
  std::size_t roots = node;
  for (const LetTable& table : received) roots += static_cast<std::size_t>(table.counts().nodes);
  const std::size_t own_leaves = places_.size();
  for (std::size_t leaf = own_leaves; leaf < static_cast<std::size_t>(lets.top.leaves) + 1; ++leaf)
    places_.push_back({static_cast<std::uint32_t>(roots + leaf - own_leaves), 0});
  auto next = lets.leaves.begin();
  for (const LetTable& table : received) {
    for (const LetTable::Tree& tree : table.trees) {
      places_[static_cast<std::size_t>(*next++)] = {static_cast<std::uint32_t>(node),
                                                    static_cast<std::uint32_t>(particle)};
      node += static_cast<std::size_t>(tree.nodes);
      particle += static_cast<std::size_t>(tree.particles);
    }
  }
  const cuda::LeafTrees trees = own.forest.trees();
  cuda::place_roots(top_.roots(), trees.core + roots, trees.moments + roots, own.forest.links() + roots,
                    trees.node_boxes ? trees.node_boxes + roots : nullptr);
}

GravityStorage::Imported DeviceTreeExchange::import(const Own& own, DeviceForest& forest) {
  GravityStorage::Imported imported;
  fault_ = nullptr;
  if (!selection_) return imported;
  std::vector<std::int32_t> sent_cells;
  const std::vector<LetTable> received = exchange_tables(sent_cells);
  const NumberedLets lets = number_lets(table_, received);
  for (const LetTable& table : received) {
    const LetCounts counts = table.counts();
    imported.counts.trees += counts.trees;
    imported.counts.nodes += counts.nodes;
    imported.counts.particles += counts.particles;
    imported.bytes +=
        static_cast<Count>(bytes_of(table.covers) + bytes_of(table.cells) + bytes_of(table.trees));
  }
  const auto roots = static_cast<std::size_t>(lets.top.leaves) + 1 - places_.size();
  const cuda::LetArrays packed = selection_->pack(parameters_);  // before the own trees move
  selection_.reset();
  forest.make_room(static_cast<std::size_t>(imported.counts.nodes) + roots,
                   static_cast<std::size_t>(imported.counts.particles));
  cuda::DeviceArray<TopCell> top_cells;
  exchange_values(forest, packed, received, sent_cells, top_cells, imported);
  tables_[TableBytes::trees] = bytes_of(places_);
  try {
    top_.finish(lets.top, top_cells.data(), middle_of(own.domain.box));
    place_trees(own, received, lets);
    make_frames(own, top_.roots());
  } catch (const std::length_error&) {
    fault_ = std::current_exception();  // ranks agree on it when they walk
  }
  return imported;
}

cuda::WalkSources DeviceTreeExchange::sources(const Own& own) const {
  if (fault_) std::rethrow_exception(fault_);
  return cuda::WalkSources::of(own.forest.trees(), own.codes).below(top_.sources(), frames_.data());
}

}  // namespace grove
