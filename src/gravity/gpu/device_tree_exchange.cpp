#include "gravity/gpu/device_tree_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "comm/exchange_plan.hpp"
#include "comm/message_exchange.hpp"
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

void DeviceTreeExchange::forget_selections() {
  keeping_.forget();
  of_kind_.clear();
  now_ = &exact_;
}

void DeviceTreeExchange::has_new_trees(const Domain& domain) {
  forget_selections();
  exact_ = {};
  if (comm_.size() == 1) return;
  known_ = known_cells(domain, comm_.rank());
  if (known_.pruned.empty()) known_.pruned.assign(known_.cells.begin(), known_.cells.end());
  known_.cells = known_.pruned;  // a copy of its own
  table_ = top_table(known_, domain.own, comm_.rank());
  centre_.assign(known_.cells.size(), {});
  core_.assign(known_.cells.size(), {});
  balls_.assign(known_.cells.size(), {});
}

cuda::DeviceTop DeviceTreeExchange::new_top(const Own& own) const {
  const Images& images = own.setup.walk.gravity.images;
  return comm_.size() == 1 ? cuda::DeviceTop(own.domain.cells, own.codes, images)
                           : cuda::DeviceTop(table_, own.codes, images);
}

DeviceTreeExchange::Said DeviceTreeExchange::publish(const Own& own, int first_active, Selections selections,
                                                     bool is_at_fault, const std::function<Said()>& say,
                                                     PhaseTimers& timers) {
  const WalkSetup& walk = own.setup.walk;
  const auto rule = AcceptanceRule::of(walk.gravity, walk.units, own.setup.median_acceleration);
  std::vector<cuda::CoverNotice> mine;
  bool has_told = false;
  Said said;
  {
    const auto timer = timers.time("let");
    kind_ = LetKeeping::kind_of(first_active, walk.gravity.images.expands_far());
    keeps_ = comm_.size() > 1 && keeping_.begin(kind_, wish_of(selections, own.setup));
    if (!keeps_) of_kind_.erase(kind_);
    now_ = keeps_ ? &of_kind_[kind_] : &exact_;
    has_told = now_->told && now_->selection;
    mine = notices_or_none(own, first_active, rule, is_at_fault);
    said = say();
    if (fault_) said.faults = 1;
    far_covers_.clear();
    if (comm_.size() == 1) return said;
  }
  const std::vector<cuda::CoverNotice> all = gather(mine, said, timers);
  if (said.faults > 0) return said;
  const auto timer = timers.time("let");
  now_->top->take(all);  // the GPU sums while the host looks for ranks in reach
  if (own.setup.walk.gravity.images.expands_far()) exchange_far(own);
  is_kept_ =
      has_told && std::all_of(all.begin(), all.end(), [](const auto& cover) { return cover.lacking == 0; });
  if (!is_kept_) {
    find_reach(own, all);
    exchange_targets(own);
  }
  if (const auto freed = keeping_.end(is_kept_)) of_kind_.erase(*freed);
  tables_ = {};
  tables_[TableBytes::cells] = bytes_of(known_.pruned, known_.cover, table_.cells, table_.covers);
  tables_[TableBytes::runs] = bytes_of(known_.first_cover);
  tables_[TableBytes::notices] = bytes_of(all, wanted_, far_covers_);
  tables_[TableBytes::top_tree] = bytes_of(centre_, core_, balls_);
  tables_[TableBytes::search] = now_->reach->bytes();
  return said;
}

/// Notices, of no value if something is wrong on this rank.
std::vector<cuda::CoverNotice> DeviceTreeExchange::notices_or_none(const Own& own, int first_active,
                                                                   const AcceptanceRule& rule,
                                                                   bool is_at_fault) {
  fault_ = nullptr;
  try {
    if (!is_at_fault) return notices(own, first_active, rule);
  } catch (const std::exception&) {
    fault_ = std::current_exception();
  }
  return std::vector<cuda::CoverNotice>(static_cast<std::size_t>(table_.own_covers));
}

/// All that other ranks are to know of the own covers. One rank combines all cells.
std::vector<cuda::CoverNotice> DeviceTreeExchange::notices(const Own& own, int first_active,
                                                           const AcceptanceRule& rule) {
  const WalkSetup& walk = own.setup.walk;
  if (!now_->top) now_->top = new_top(own);
  now_->top->set_least_ball(walk.gravity.images.least_ball);
  const cuda::LeafTrees trees = own.forest.trees();
  const cuda::ToldTargets::Now groups{
      trees,
      own.particles.values(fields::old_acceleration),
      own.particles.values(fields::rung),
      rule,
      to_walk_acceleration(1, walk.gravity.gravitational_constant, walk.units),
      walk.units.length};
  const int* lacking = nullptr;
  if (now_->told) {
    now_->told->renew(groups);
    lacking = now_->told->lacking();
  } else if (keeps_) {
    now_->told.emplace(groups, first_active, keeping_.room());
  }
  notices_ = own.forest.notices(now_->told ? now_->told->leaves() : nullptr, walk.units.length);
  if (comm_.size() > 1) return now_->top->begin(notices_.data(), walk.units, rule, lacking);
  now_->top->combine(notices_.data(), walk.units, rule, middle_of(own.domain.box));
  if (walk.gravity.images.expands_far()) now_->top->combine_far(own.far_moments);
  return {};
}

/// Moments for expansions, of the covers of all ranks.
void DeviceTreeExchange::exchange_far(const Own& own) {
  const std::vector<FarMoments> mine = now_->top->begin_far(own.far_moments);
  far_covers_ = comm_.all_gather_arrays(std::span<const FarMoments>(mine),
                                        std::span<const Count>(known_.covers_of_ranks()));
}

/// The covers of all ranks. said (in/out): by this rank; the sum.
std::vector<cuda::CoverNotice> DeviceTreeExchange::gather(const std::vector<cuda::CoverNotice>& own,
                                                          Said& said, PhaseTimers& timers) const {
  struct Told {
    cuda::CoverNotice cover;
    Said said;  ///< by a rank, with the first of its covers, or without one
  };
  const auto timer = timers.time("wait");  // for slower ranks
  const std::vector<Count> covers = known_.covers_of_ranks();
  std::vector<Count> told_by;
  for (const Count count : covers) told_by.push_back(std::max<Count>(1, count));
  std::vector<Told> told(std::max<std::size_t>(1, own.size()));
  for (std::size_t i = 0; i < own.size(); ++i) told[i].cover = own[i];
  told[0].said = std::exchange(said, {});
  const std::vector<Told> all =
      comm_.all_gather_arrays(std::span<const Told>(told), std::span<const Count>(told_by));
  std::vector<cuda::CoverNotice> notices;
  notices.reserve(known_.cover.size());
  auto next = all.begin();
  for (std::size_t rank = 0; rank < covers.size(); next += told_by[rank++]) {
    said.groups += next->said.groups;
    said.work += next->said.work;
    said.faults += next->said.faults;
    for (Count i = 0; i < covers[rank]; ++i) notices.push_back(next[i].cover);
  }
  return notices;
}

void DeviceTreeExchange::find_reach(const Own& own, std::span<const cuda::CoverNotice> notices) {
  wanted_.clear();
  for (std::size_t i = 0; i < notices.size(); ++i) {
    const auto cell = static_cast<std::size_t>(known_.cover[i]);
    wanted_.push_back(notices[i].wanted);
    centre_[cell] = notices[i].centre;
    core_[cell] = notices[i].core;
    balls_[cell] = notices[i].ball;
  }
  TopTree top;
  top.centre = centre_.data();
  top.core = core_.data();
  top.balls = balls_.data();
  now_->reach.emplace(known_, top, wanted_, own.setup.walk.units.length, keeps_ ? keeping_.room() / 2 : 0.F,
                      comm_.rank(), own.setup.walk.gravity.images);
}

Count DeviceTreeExchange::leaves_in(std::span<const std::int32_t> covers) const {
  return std::accumulate(covers.begin(), covers.end(), Count{0}, [&](Count sum, std::int32_t cover) {
    return sum + known_.cover_cell(cover).leaves;
  });
}

/// Near ranks whose cells own walks may open get the targets of all leaves in the covers from where. For far
/// ones the covers say enough.
void DeviceTreeExchange::exchange_targets(const Own& own) {
  std::vector<cuda::LeafRanges::Range> told;
  for (const Reach::Part& part : now_->reach->in()) {
    if (!part.is_near) continue;
    for (const std::int32_t cover : part.own) {
      const TopLinks& cell =
          table_.cells[static_cast<std::size_t>(known_.cover[static_cast<std::size_t>(cover)])];
      told.push_back({static_cast<std::uint32_t>(cell.first_leaf), static_cast<std::uint32_t>(cell.leaves)});
    }
  }
  const std::span<const Reach::Part> in = now_->reach->in(), out = now_->reach->out();
  const auto to_rank =
      by_rank(comm_.size(), in, [&](std::size_t i) { return in[i].is_near ? leaves_in(in[i].own) : 0; });
  const auto from_rank =
      by_rank(comm_.size(), out, [&](std::size_t i) { return out[i].is_near ? leaves_in(out[i].other) : 0; });
  const ExchangePlan plan(comm_, std::span<const Count>(to_rank), std::span<const Count>(from_rank));
  const double unit_length = own.setup.walk.units.length;
  std::vector<LeafTargets> far;
  std::vector<cuda::TargetClusters::Range> ranks;
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
  targets_ = cuda::DeviceArray<LeafTargets>(near + far.size());
  if (told != told_leaves_.ranges()) told_leaves_ = cuda::LeafRanges(std::move(told));
  const cuda::DeviceArray<LeafTargets> sent(told_leaves_.leaves());
  cuda::collect_targets(own.forest.trees(), now_->told ? now_->told->leaves() : nullptr, told_leaves_,
                        sent.data());
  exchange_.apply(plan, sent.data(), targets_.data(), sizeof(LeafTargets));
  cuda::device_upload(targets_.data() + near, far.data(), far.size() * sizeof(LeafTargets));
  if (!clusters_ || clusters_->ranks() != ranks) clusters_.emplace(std::move(ranks));
}

void DeviceTreeExchange::select(const Own& own) {
  const auto roots = cuda::KnownRoots::own_ones(notices_.data(), own.forest.leaves());
  if (comm_.size() == 1) {
    if (!now_->places) {
      now_->places = now_->shape.add(std::span<const cuda::LeafPlace>(own_places(own)));
      now_->shape.go();
    }
    return make_frames(own, roots, now_->shape.at<cuda::LeafPlace>(*now_->places));
  }
  if (!is_kept_) {
    make_frames(own, roots, nullptr);
    cuda::LetTargets targets(std::move(targets_), *clusters_, own.setup.walk.units,
                             middle_of(own.domain.box));
    cuda::LetReceivers receivers{now_->top->own_cells(), targets.view(), now_->frames.data(),
                                 own.setup.walk.units.length, own.setup.walk.gravity.images};
    if (keeps_) {
      receivers.room_of_cells = keeping_.room() / 2;
      receivers.drift = now_->told->drift();
    }
    now_->selection.emplace(own.forest.trees(), own.forest.largest_tree(), receivers, room_of_kind_[kind_]);
  }
  // The GPU packs while ranks tell each other how much that is.
  packed_.emplace(now_->selection->pack(own.forest.trees(), parameters_));
  if (!is_kept_) send_tables();
  sent_values_ = now_->top->gather(now_->sent_cells);
  if (own.setup.walk.gravity.images.expands_far()) sent_far_ = now_->top->gather_far(now_->sent_cells);
  if (!keeps_) now_->selection.reset();
}

/// places: null: for selections, of own leaves in all images.
void DeviceTreeExchange::make_frames(const Own& own, const cuda::KnownRoots& roots,
                                     const cuda::LeafPlace* places) {
  const Images& images = own.setup.walk.gravity.images;
  const bool are_numbered = places != nullptr && !images.are_open();
  const std::size_t frames =
      are_numbered ? now_->top->leaf_room()
                   : static_cast<std::size_t>(roots.count) * static_cast<std::size_t>(images.count());
  const std::size_t balls = images.expands_far() ? frames : 0;
  if (now_->frames.size() != frames) now_->frames = cuda::DeviceArray<SourceFrame>(frames);
  if (now_->balls.size() != balls) now_->balls = cuda::DeviceArray<Ball>(balls);
  cuda::make_frames(roots, places, middle_of(own.domain.box), own.setup.walk.units, now_->frames.data(),
                    images, now_->balls.data(),
                    are_numbered ? now_->top->leaf_numbers() : cuda::ImageNumbers{});
}

/// Tells ranks in reach how that hangs together what they get.
void DeviceTreeExchange::send_tables() {
  const std::span<const cuda::SelectedTree> trees = now_->selection->trees();
  std::vector<Message> messages;
  now_->sent.clear();
  now_->sent_cells.clear();
  auto next = trees.begin();
  for (std::int32_t slot = 0; slot < static_cast<std::int32_t>(now_->reach->out().size()); ++slot) {
    const auto first = next;
    next = std::find_if(first, trees.end(), [&](const auto& tree) { return tree.slot != slot; });
    const auto number_of = [&](std::int32_t leaf) {
      const auto tree =
          std::lower_bound(first, next, leaf, [](const auto& a, std::int32_t b) { return a.leaf < b; });
      return static_cast<std::int32_t>(tree - first);
    };
    LetTable table = let_table(
        table_, [&](std::int32_t cell) { return now_->selection->opens(slot, cell); }, number_of,
        now_->sent_cells);
    for (auto tree = first; tree != next; ++tree) table.trees.push_back({tree->nodes, tree->particles});
    messages.push_back({now_->reach->out()[static_cast<std::size_t>(slot)].rank, pack_table(table)});
    now_->sent.push_back(std::move(table));
  }
  tables_under_way_.emplace(comm_, std::move(messages), ranks_of(now_->reach->in()));
}

/// Returns how many bytes they are.
Count DeviceTreeExchange::receive_tables() {
  now_->received.clear();
  for (const Message& message : tables_under_way_->finish()) now_->received.push_back(unpack_table(message));
  tables_under_way_.reset();
  Count bytes = 0;
  for (const LetTable& table : now_->received)
    bytes += static_cast<Count>(bytes_of(table.covers) + bytes_of(table.cells) + bytes_of(table.trees));
  return bytes;
}

LetCounts DeviceTreeExchange::received() const {
  LetCounts all;
  for (const LetTable& table : now_->received) {
    const LetCounts counts = table.counts();
    all.trees += counts.trees;
    all.nodes += counts.nodes;
    all.particles += counts.particles;
  }
  return all;
}

/// Sends what is selected for other ranks, and puts what comes behind the own trees. Returns the values of
/// the cells that have come. far (out): moments of these for expansions, where there are some. bytes
/// (in/out): counts what has come.
cuda::DeviceArray<TopCell> DeviceTreeExchange::exchange_values(const Own& now, const DeviceForest& forest,
                                                               cuda::DeviceArray<FarMoments>& far,
                                                               Count& bytes) {
  const auto plan_of = [&](const auto& number) {
    const std::vector<Count> to =
        by_rank(comm_.size(), now_->reach->out(), [&](std::size_t i) { return number(now_->sent[i]); });
    const std::vector<Count> from =
        by_rank(comm_.size(), now_->reach->in(), [&](std::size_t i) { return number(now_->received[i]); });
    return ExchangePlan(comm_, std::span<const Count>(to), std::span<const Count>(from));
  };
  const ExchangePlan of_cells = plan_of([](const LetTable&t) { return t.sent_cells(); }),
                     of_nodes = plan_of([](const LetTable&t) { return t.counts().nodes; }),
                     of_particles = plan_of([](const LetTable&t) { return t.counts().particles; });
  const cuda::LeafTrees trees = forest.trees();
  cuda::DeviceArray<TopCell> top_cells(static_cast<std::size_t>(of_cells.receive_total()));
  std::vector<DeviceExchange::Transfer> transfers;
  const auto exchange = [&](const ExchangePlan& plan, const auto* values, auto* behind) {
    transfers.push_back({plan, values, behind, sizeof(*behind)});
    bytes += plan.receive_total() * static_cast<Count>(sizeof(*behind));
  };
  const auto exchange_field = [&](const ExchangePlan& plan, std::size_t own, auto field) {
    if (field.is_there(parameters_))
      exchange(plan, packed_->trees().*field.member, trees.*field.member + own);
  };
  exchange(of_cells, sent_values_.data(), top_cells.data());
  if (now.setup.walk.gravity.images.expands_far()) {
    far = cuda::DeviceArray<FarMoments>(top_cells.size());
    exchange(of_cells, sent_far_.data(), far.data());
  }
  exchange(of_nodes, packed_->links(), forest.links() + forest.nodes());
  cuda::let_fields::OfNodes::for_each(
      [&](auto field, std::size_t) { exchange_field(of_nodes, forest.nodes(), field); });
  cuda::let_fields::OfParticles::for_each(
      [&](auto field, std::size_t) { exchange_field(of_particles, forest.particles(), field); });
  exchange_.apply(transfers);
  packed_.reset();
  sent_values_ = {};
  sent_far_ = {};
  return top_cells;
}

/// The places of the own trees.
std::vector<cuda::LeafPlace> DeviceTreeExchange::own_places(const Own& own) const {
  std::vector<cuda::LeafPlace> places;
  for (const cuda::LeafPlaces& leaf : own.forest.places())
    places.push_back({static_cast<std::uint32_t>(leaf.node), static_cast<std::uint32_t>(leaf.first)});
  return places;
}

/// The places of the trees of known leaves: the own ones, those that come, one after the other, and of all
/// others the roots.
std::vector<cuda::LeafPlace> DeviceTreeExchange::places(const Own& own, const NumberedLets& lets) const {
  std::vector<cuda::LeafPlace> places = own_places(own);
  std::size_t node = own.forest.nodes(), particle = own.forest.particles();
  const std::size_t roots = node + static_cast<std::size_t>(received().nodes), own_leaves = places.size();
  for (std::size_t leaf = own_leaves; leaf < static_cast<std::size_t>(lets.top.leaves) + 1; ++leaf)
    places.push_back({static_cast<std::uint32_t>(roots + leaf - own_leaves), 0});
  auto next = lets.leaves.begin();
  for (const LetTable& table : now_->received) {
    for (const LetTable::Tree& tree : table.trees) {
      places[static_cast<std::size_t>(*next++)] = {static_cast<std::uint32_t>(node),
                                                   static_cast<std::uint32_t>(particle)};
      node += static_cast<std::size_t>(tree.nodes);
      particle += static_cast<std::size_t>(tree.particles);
    }
  }
  return places;
}

GravityStorage::Imported DeviceTreeExchange::import(const Own& own, DeviceForest& forest) {
  GravityStorage::Imported imported;
  if (comm_.size() == 1) return imported;
  NumberedLets lets;
  if (!is_kept_) {
    imported.bytes += receive_tables();
    lets = number_lets(table_, now_->received);
    now_->roots = static_cast<std::size_t>(lets.top.leaves) + 1 - own.forest.leaves();
  }
  imported.counts = received();
  const auto nodes = static_cast<std::size_t>(imported.counts.nodes);
  forest.make_room(nodes + now_->roots, static_cast<std::size_t>(imported.counts.particles));
  cuda::DeviceArray<FarMoments> far;
  const cuda::DeviceArray<TopCell> top_cells = exchange_values(own, forest, far, imported.bytes);
  try {
    if (!is_kept_) {
      now_->shape = {};
      now_->places = now_->shape.add(std::span<const cuda::LeafPlace>(places(own, lets)));
      const std::size_t cells = now_->shape.add(std::span<const TopLinks>(lets.top.cells)),
                        hung = now_->shape.add(std::span<const ImportedTop::Hung>(lets.top.hung));
      now_->shape.go();
      now_->top->adopt(lets.top, now_->shape.at<TopLinks>(cells), now_->shape.at<ImportedTop::Hung>(hung));
    }
  } catch (const std::length_error&) {
    fault_ = std::current_exception();  // ranks agree on it when they walk
  }
  tables_[TableBytes::trees] = (own.forest.leaves() + now_->roots) * sizeof(cuda::LeafPlace);
  if (fault_) return imported;
  now_->top->finish(top_cells.data(), middle_of(own.domain.box));
  if (own.setup.walk.gravity.images.expands_far()) now_->top->finish_far(far_covers_, far.data());
  const std::size_t roots = own.forest.nodes() + nodes;
  const cuda::LeafTrees trees = own.forest.trees();
  cuda::place_roots(now_->top->roots(), trees.core + roots, trees.moments + roots, own.forest.links() + roots,
                    trees.node_boxes ? trees.node_boxes + roots : nullptr);
  make_frames(own, now_->top->roots(), now_->shape.at<cuda::LeafPlace>(*now_->places));
  return imported;
}

cuda::WalkSources DeviceTreeExchange::sources(const Own& own) const {
  throw_fault();
  return cuda::WalkSources::of(own.forest.trees(), own.codes)
      .below(now_->top->sources(), now_->frames.data(), now_->balls.data());
}

}  // namespace grove
