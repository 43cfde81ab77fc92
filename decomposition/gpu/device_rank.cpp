#include "decomposition/gpu/device_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/errors.hpp"
#include "decomposition/gpu/root_tops.hpp"
#include "decomposition/key_ranges.hpp"
#include "decomposition/processor_set_tree.hpp"
#include "decomposition/root_cell.hpp"
#include "decomposition/services/all.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "decomposition/shares.hpp"
#include "decomposition/top_cells.hpp"
#include "kernels/cuda/cuts/bisection.hpp"
#include "kernels/cuda/cuts/partition/record_segments.hpp"
#include "kernels/cuda/cuts/services/delegated_records.hpp"
#include "kernels/cuda/particles/fields.hpp"

namespace grove {
DeviceRank::DeviceRank(DeviceParticles& particles, const DeviceExchange& exchange,
                       const DecompositionParameters& parameters, const Domain& previous,
                       DecompositionReport& report, bool keep_records)
    : particles_(particles),
      exchange_(exchange),
      parameters_(parameters),
      previous_(previous),
      report_(report),
      keep_records_(keep_records),
      extent_(cuda::find_extent(positions(), size())),
      work_(cuda::sum_work(particles.values(fields::work), size())),
      ids_(particles.size()) {}

bool DeviceRank::has_work() { return work_.get().work > 0; }

Count DeviceRank::weigh(bool weighted) {
  weighted_ = weighted;
  weight_ = static_cast<Count>(size());
  if (weighted_) {
    const auto& [work, idle] = work_.get();
    if (idle > 0) cuda::employ_idle(particles_.values(fields::work), size());
    weight_ = work + idle;
  }
  return weight_;
}

Box DeviceRank::take_all(const Communicator& comm, const CellAxes& axes, const std::optional<Box>& previous,
                         Cell& root) {
  cuda::Extent extent = extent_.get();
  comm.together([&] {
    if (!extent.is_finite) {
      const std::size_t i = cuda::first_not_finite(positions(), size());
      ParticleId id = 0;
      cuda::device_download(&id, ids() + i, sizeof(id));
      throw InputError(fmt::format("particle id {} has a position that is not a finite number", id));
    }
  });
  comm.min(std::span<double>(&extent.low.x, 3));
  comm.max(std::span<double>(&extent.high.x, 3));
  Box box;
  if (previous && previous->contains(extent.low) && previous->contains(extent.high))
    box = *previous;
  else
    comm.together([&] { box = Box::around(extent.low, extent.high); });
  box.axes = axes;
  box_ = box;
  records_ = cuda::DeviceRecords(size());
  cuda::make_records(box, led_positions(), size(), 0, records_);
  CellBounds bounds = CellBounds::of_nothing();
  const cuda::Segment all{0, size()};
  cuda::find_bounds(records_, std::span(&all, 1), std::span(&bounds, 1));
  unite_bounds(comm, bounds, root);
  return box;
}

std::vector<ServiceEntry> DeviceRank::services() { return services::all(*this); }

void DeviceRank::begin_services() { cells_.emplace(std::move(records_), ids(), weights(), ids_, weight_); }

/// Alone a GPU cuts half a million particles in the time of one level of services. Cuts by weights are found
/// by services in any case.
Count DeviceRank::most_delegated(const CutScheme& scheme, Count mean) const {
  constexpr Count as_fast_as_a_level = Count{1} << 19, part_of_mean = 4;
  return cuts_by_weight(scheme) ? 0 : std::max(as_fast_as_a_level, mean / part_of_mean);
}

std::vector<Cell> DeviceRank::cut_delegated(const Communicator& comm, const CutScheme& scheme,
                                            std::span<const Cell> top, const DelegatedCells& delegated) {
  std::vector<Count> counts(static_cast<std::size_t>(comm.size()), 0);
  std::vector<std::int32_t> leaving;
  for (std::size_t i = 0; i < delegated.size(); ++i) {
    if (delegated.rank(i) == comm.rank()) continue;
    leaving.push_back(delegated.cell(i));
    counts[static_cast<std::size_t>(delegated.rank(i))] = cells_->tally(delegated.cell(i)).count;
  }
  const ExchangePlan plan(comm, counts);
  const auto arriving = static_cast<std::size_t>(plan.receive_total());
  const auto cell = delegated.cell_of(comm.rank());
  const auto own = static_cast<std::size_t>(cell ? cells_->tally(*cell).count : 0);
  const cuda::DeviceArray<DelegatedRecord> packed(static_cast<std::size_t>(plan.send_total())),
      received(arriving + own);
  cells_->pack(leaving, packed.data());
  if (cell) cells_->pack(std::span(&*cell, 1), received.data() + arriving);
  exchange_.apply(plan, packed.data(), received.data(), sizeof(DelegatedRecord));
  std::vector<Cell> subtree;
  comm.together([&] {
    if (cell) subtree = cut_delegated_cell(scheme, top[static_cast<std::size_t>(*cell)], received);
  });
  return subtree;
}

std::vector<Cell> DeviceRank::cut_delegated_cell(const CutScheme& scheme, const Cell& root,
                                                 const cuda::DeviceArray<DelegatedRecord>& received) const {
  const std::size_t count = received.size();
  cuda::DeviceRecords records(count), spare(count);
  const cuda::DeviceArray<ParticleId> id(count);
  const cuda::DeviceArray<std::uint32_t> weight(weighted_ ? count : 0);
  cuda::unpack_delegated(received.data(), count, records, id.data(), weight.data());
  const cuda::SubtreeRoot all{root, 0};
  return std::move(cuda::cut_to_leaves(scheme, std::span(&all, 1), records, spare, id.data(),
                                       weighted_ ? weight.data() : nullptr)[0]);
}

void DeviceRank::divide_delegated(std::span<const Cell> top, const DelegatedCells& delegated) {
  std::vector<std::int32_t> cells;
  for (std::size_t i = 0; i < delegated.size(); ++i) cells.push_back(delegated.cell(i));
  cells_->divide_into_leaves(cells, top);
}

void DeviceRank::end_services() {
  if (!cells_) {
    spare_ = cuda::DeviceRecords(records_.size());
    return;
  }
  auto taken = cells_->take();
  records_ = std::move(taken.records);
  spare_ = std::move(taken.spare);
  cuda::device_synchronise();
}

void DeviceRank::cut_alone(const CutScheme& scheme, std::span<const Cell> top, const Frontier& frontier,
                           int rank) {
  const std::vector<std::size_t> depth = depths(top);
  std::vector<cuda::SubtreeRoot> roots;
  std::uint64_t begin = 0;
  std::optional<std::size_t> shallowest;
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    if (frontier.owner(i) != rank) continue;
    const Cell& cell = top[static_cast<std::size_t>(frontier.cell(i))];
    roots.push_back({cell, begin});
    begin += static_cast<std::uint64_t>(cell.count);
    if (cell.leaves == 1) continue;
    const std::size_t own = depth[static_cast<std::size_t>(frontier.cell(i))];
    shallowest = std::min(own, shallowest.value_or(own));
  }
  if (!shallowest) return;
  std::vector<std::vector<Cell>> subtrees;
  if (cuts_by_weight(scheme))
    for (const cuda::SubtreeRoot& root : roots) subtrees.push_back(cut_by_services(scheme, root));
  else
    subtrees = cut_roots(scheme, roots, *shallowest);
  for (const std::vector<Cell>& cells : subtrees)
    if (cells.size() > 1) own_cells_.insert(own_cells_.end(), cells.begin(), cells.end());
}

/// All of them. depth: of the first level.
std::vector<std::vector<Cell>> DeviceRank::cut_roots(const CutScheme& scheme,
                                                     std::span<const cuda::SubtreeRoot> roots,
                                                     std::size_t depth) {
  const auto cut = [&](std::span<const cuda::SubtreeRoot> cells) {
    return cuda::cut_to_leaves(scheme, cells, records_, spare_, ids(), weights(), &report_.levels, depth);
  };
  if (segments_.empty()) {
    const std::vector<IntegerPosition> begins = known_domain_cells();
    // The parts are of the root cube, so a rank that is not alone may have some of one in several roots.
    if (begins.empty() || roots.size() > 1) return cut(roots);
    std::vector<std::uint32_t> number(begins.size());
    std::iota(number.begin(), number.end(), 0U);
    const auto parts = static_cast<std::uint32_t>(begins.size());
    const cuda::DeviceArray<Count> part_begin = cuda::sort_by_part(records_, spare_, begins, number, parts);
    segments_ = segments_of(cuda::describe_parts(records_, ids(), weights(), {part_begin.data(), parts}),
                            weights() != nullptr, 0);
  }
  const RootTops tops(scheme, roots, segments_);
  depth += tops.least_levels();
  return tops.join(cut(tops.parts()));
}

/// The parts of the cube that held a domain cell each in the decomposition before, by where they begin;
/// nothing: that is of no use now.
std::vector<IntegerPosition> DeviceRank::known_domain_cells() const {
  const bool are_there = parameters_.rule == CutRule::domains && previous_.domain_cell > 0 &&
                         !previous_.cells.empty() && previous_.box == box_;
  return are_there ? geometric_parts(previous_) : std::vector<IntegerPosition>{};
}

/// Cuts by weights: as if the rank were alone in a decomposition of this cell, which may be a leaf.
std::vector<Cell> DeviceRank::cut_by_services(const CutScheme& scheme, const cuda::SubtreeRoot& of) {
  if (of.cell.leaves == 1) return {of.cell};
  Cell root = of.cell;
  const auto count = static_cast<std::uint64_t>(root.count);
  cuda::DeviceRecords own(count);
  const cuda::SegmentCopy there{of.first, count, 0}, back{0, count, of.first};
  cuda::copy_segments(records_, own, std::span(&there, 1));
  const cuda::Segment all{0, count};
  CellBounds bounds;
  cuda::find_bounds(own, std::span(&all, 1), std::span(&bounds, 1));
  root.low = bounds.low;
  root.high = bounds.high;
  std::swap(records_, own);  // begin_services() takes these
  const Count weight_of_all = std::exchange(weight_, root.weight);

  const Communicator alone(MPI_COMM_SELF);
  DecompositionParameters parameters = parameters_;
  parameters.schedule = Schedule::master;
  DecompositionReport report;
  std::vector<Cell> cells;
  ProcessorSetTree tree(alone, parameters.transport, services(), report);
  tree.run([&] { cells = cut_together(tree, parameters, scheme, Shares(root.weight, 1), 0, root, report); });
  records_ = std::move(own);
  weight_ = weight_of_all;
  cuda::copy_segments(cells_->take().records, records_, std::span(&back, 1));
  cells_.reset();
  return cells;
}

void DeviceRank::arrange() {
  spare_ = cuda::DeviceRecords();
  if (keep_records_) {
    if (!arrived_.empty()) leave_arrivals();
    return;
  }
  const auto time = report_.timers.time("order");
  order_fields();
  records_ = cuda::DeviceRecords();
  cuda::device_synchronise();
}

/// True if so few have arrived that they may wait beside all that was here until the trees are made.
bool DeviceRank::have_few_arrived() const {
  constexpr std::size_t few = 8;
  return few * (ids_ - size()) <= records_.size();
}

/// To be ordered once, when the order of the trees is known.
void DeviceRank::leave_arrivals() {
  const auto columns = particles_.columns();
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (!columns[c].info.migrate)
      columns[c].values = {};
    else if (columns[c].values.size() == size() * columns[c].element_size)
      columns[c].rest = std::move(arrived_[c]);
  arrived_.clear();
  particles_.leave_in_parts(records_.size());
}

void DeviceRank::order_fields() {
  const std::size_t count = records_.size();
  const bool have_arrived = !arrived_.empty();
  const auto columns = particles_.columns();
  // The narrow ones first: what they free makes room for the widest.
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return columns[a].element_size < columns[b].element_size;
  });
  for (const std::size_t c : order) {
    const std::size_t element = columns[c].element_size;
    cuda::DeviceArray<std::byte> ordered(count * element);
    // Those that are looked up have their arrivals among their values.
    if (columns[c].info.migrate || !have_arrived)
      cuda::gather_elements(ordered.data(),
                            {columns[c].values.data(), columns[c].values.size() / element,
                             have_arrived ? arrived_[c].data() : nullptr},
                            records_.columns[3].data(), count, element);
    columns[c].values = std::move(ordered);
    if (have_arrived) arrived_[c] = {};
  }
  arrived_.clear();
  particles_.set_size(count);
}

Domain decompose(const Communicator& comm, DeviceParticles& particles, const DeviceExchange& exchange,
                 const DecompositionParameters& parameters, const Domain& previous,
                 DecompositionReport& report, cuda::DeviceRecords* records) {
  DeviceRank own(particles, exchange, parameters, previous, report, records != nullptr);
  Domain domain = decompose(comm, own, parameters, previous, report);
  if (records) *records = own.take_records();
  return domain;
}

}  // namespace grove
