#include "kernels/cuda/cuts/services/resident_cells.hpp"

#include <algorithm>
#include <cub/device/device_reduce.cuh>

#include "kernels/cuda/cuts/partition/cell_counts.cuh"
#include "kernels/cuda/cuts/partition/left_counts.cuh"
#include "kernels/cuda/cuts/partition/orb_partition.cuh"
#include "kernels/cuda/cuts/partition/record_segments.hpp"
#include "kernels/cuda/cuts/services/delegated_records.cuh"
#include "kernels/cuda/device/check.cuh"
#include "kernels/math/cell_walk.hpp"

namespace grove::cuda {
namespace {

/// Records that a block reads when it counts.
constexpr std::uint64_t counting_tile = 1u << 16;

struct ResidentCell {
  std::uint64_t first, count;
  Count weight;
  int set = 0;   ///< of columns, that holds it
  int axis = 0;  ///< that it is to be cut on
  bool is_divided = false;
};

}  // namespace

struct ResidentCells::Impl {
  DeviceRecords sets[2];
  Columns columns[2];
  const ParticleId* ids;
  const std::uint32_t* weights;
  std::size_t particles;
  std::vector<ResidentCell> cells;

  Tiles counting_tiles{counting_tile}, partition_tiles{OrbPartition::tile_size};
  std::vector<std::uint64_t> tiled[2];  ///< the counts that the tiles are of
  OrbPartition partition;
  LeftCounts left_counts;
  PassMemory memory;

  ResidentCell& cell(std::int32_t number) { return cells[static_cast<std::size_t>(number)]; }

  /// The coordinates of each cell on its axis.
  template <class Question>
  std::vector<AxisSegment> axes_of(std::span<const Question> questions) {
    std::vector<AxisSegment> axes;
    for (const Question& q : questions) {
      const ResidentCell& c = cell(q.cell);
      axes.push_back({columns[c.set].at[c.axis], columns[c.set].at[3], c.first, c.count});
    }
    return axes;
  }
  std::vector<DelegatedSegment> segments_of(std::span<const std::int32_t> numbers) {
    std::vector<DelegatedSegment> segments;
    std::uint64_t place = 0;
    for (const std::int32_t number : numbers) {
      const ResidentCell& c = cell(number);
      segments.push_back({c.first, c.count, place, c.set, number});
      place += c.count;
    }
    return segments;
  }
  /// The questions about a level are often about the same cells.
  void make_tiles(Tiles& tiles, std::span<const AxisSegment> axes) {
    std::vector<std::uint64_t> counts;
    for (const AxisSegment& axis : axes) counts.push_back(axis.count);
    std::vector<std::uint64_t>& last = tiled[&tiles == &partition_tiles];
    if (counts == last) return;
    tiles.make(counts);
    last = std::move(counts);
  }
};

ResidentCells::ResidentCells(DeviceRecords records, const ParticleId* ids, const std::uint32_t* weights,
                             std::size_t particles, Count weight_of_all)
    : impl_(std::make_unique<Impl>()) {
  Impl& my = *impl_;
  const std::uint64_t count = records.size();
  my.sets[0] = std::move(records);
  my.sets[1] = DeviceRecords(count);
  for (int set = 0; set < 2; ++set) my.columns[set] = columns_of(my.sets[set]);
  my.ids = ids;
  my.weights = weights;
  my.particles = particles;
  my.cells.push_back({0, count, weight_of_all});
}

ResidentCells::~ResidentCells() = default;

Tally ResidentCells::tally(std::int32_t cell) const {
  const ResidentCell& c = impl_->cell(cell);
  return {static_cast<Count>(c.count), c.weight};
}

std::uint64_t ResidentCells::first(std::int32_t cell) const { return impl_->cell(cell).first; }

void ResidentCells::make_axis(std::span<const AxisChoice> choices, std::span<Count> answer) {
  Impl& my = *impl_;
  for (const AxisChoice& choice : choices) my.cell(choice.cell).axis = choice.axis;
  if (std::none_of(choices.begin(), choices.end(), [](const AxisChoice& c) { return c.middle > 0; })) return;
  const std::vector<AxisSegment> axes = my.axes_of(choices);
  my.make_tiles(my.counting_tiles, axes);
  count_near_middle(my.memory, axes, choices, my.counting_tiles, answer);
}

void ResidentCells::count_left(std::span<const CandidateCuts> cuts, std::span<Tally> answer) const {
  if (cuts.empty()) return;
  Impl& my = *impl_;
  const std::vector<AxisSegment> axes = my.axes_of(cuts);
  my.make_tiles(my.counting_tiles, axes);
  count_candidates(my.memory, axes, cuts, my.counting_tiles, my.weights, answer);
}

std::vector<GatheredKey> ResidentCells::gather_keys(std::span<const KeyInterval> intervals) const {
  if (intervals.empty()) return {};
  Impl& my = *impl_;
  const std::vector<AxisSegment> axes = my.axes_of(intervals);
  my.make_tiles(my.counting_tiles, axes);
  return gather_intervals(my.memory, axes, intervals, my.counting_tiles, my.weights);
}

ParticleId ResidentCells::greatest_id() const {
  const Impl& my = *impl_;
  if (my.particles == 0) return 0;
  DeviceArray<ParticleId> greatest(1);
  std::size_t bytes = 0;
  const auto count = static_cast<std::int64_t>(my.particles);
  GROVE_CUDA(cub::DeviceReduce::Max(nullptr, bytes, my.ids, greatest.data(), count));
  const DeviceArray<std::byte> scratch(bytes);
  GROVE_CUDA(cub::DeviceReduce::Max(scratch.data(), bytes, my.ids, greatest.data(), count));
  launched("Grove::cuda::greatest_id", 8 * my.particles, kernels_of_pass);
  ParticleId result = 0;
  greatest.download(std::span(&result, 1));
  return result;
}

void ResidentCells::select_tie(std::span<const TiedCuts> cuts, std::span<Tally> answer) const {
  if (cuts.empty()) return;
  Impl& my = *impl_;
  const std::vector<AxisSegment> axes = my.axes_of(cuts);
  my.make_tiles(my.counting_tiles, axes);
  count_tied(my.memory, axes, cuts, my.counting_tiles, my.ids, my.weights, answer);
}

void ResidentCells::partition(std::span<const CellDivision> divisions, std::span<DivisionResult> answer) {
  if (divisions.empty()) return;
  Impl& my = *impl_;
  const std::vector<AxisSegment> axes = my.axes_of(divisions);
  my.make_tiles(my.counting_tiles, axes);
  my.make_tiles(my.partition_tiles, axes);
  std::vector<CellTask> tasks;
  for (const CellDivision& division : divisions) {
    const ResidentCell& c = my.cell(division.cell);
    CellTask task{};
    task.first = c.first;
    task.count = c.count;
    task.axis = division.cut.axis;
    task.from = c.set;
    task.cut = division.cut;
    tasks.push_back(task);
  }
  std::vector<SideTally> sides(divisions.size(), SideTally{0, 0, ~ParticleId{0}});
  std::vector<ChildBounds> bounds(divisions.size());
  Parcel& parcel = my.memory.parcel;
  parcel.clear();
  const std::size_t axes_at = parcel.add(std::span<const AxisSegment>(axes)),
                    tasks_at = parcel.add(std::span<const CellTask>(tasks)),
                    sides_at = parcel.add(std::span<const SideTally>(sides)),
                    bounds_at = parcel.add(std::span<const ChildBounds>(bounds));
  parcel.send();
  auto* const device_tasks = parcel.at<CellTask>(tasks_at);
  my.left_counts.reserve(my.partition_tiles.size());
  count_sides(parcel.at<AxisSegment>(axes_at), my.counting_tiles, my.partition_tiles, my.ids, my.weights,
              device_tasks, my.left_counts.in(), parcel.at<SideTally>(sides_at));
  my.left_counts.scan(my.partition_tiles.size());
  my.partition.run(my.columns, my.ids, device_tasks, my.partition_tiles, my.left_counts.before(),
                   parcel.at<ChildBounds>(bounds_at));
  parcel.fetch(sides_at);
  parcel.get(sides_at, std::span(sides));
  parcel.get(bounds_at, std::span(bounds));
  for (std::size_t i = 0; i < divisions.size(); ++i) {
    const auto child = static_cast<std::size_t>(divisions[i].child);
    my.cells.resize(std::max(my.cells.size(), child + 2));
    ResidentCell& parent = my.cell(divisions[i].cell);
    ResidentCell &left = my.cells[child], &right = my.cells[child + 1];
    parent.is_divided = true;
    left.first = parent.first;
    left.count = sides[i].left;
    right.first = left.first + left.count;
    right.count = parent.count - left.count;
    left.weight = my.weights ? static_cast<Count>(sides[i].weight_left) : static_cast<Count>(left.count);
    right.weight = parent.weight - left.weight;
    left.set = right.set = 1 - parent.set;
    answer[i] = {sides[i].first_right,
                 {static_cast<Count>(left.count), left.weight},
                 bounds[i].of(0),
                 bounds[i].of(1)};
  }
}

void ResidentCells::pack(std::span<const std::int32_t> cells, DelegatedRecord* to) const {
  pack_delegated(impl_->columns, impl_->segments_of(cells), impl_->ids, impl_->weights, to);
}

void ResidentCells::divide_into_leaves(std::span<const std::int32_t> cells, std::span<const Cell> top) {
  Impl& my = *impl_;
  const std::vector<DelegatedSegment> segments = my.segments_of(cells);
  my.cells.resize(top.size(),
                  ResidentCell{0, 0, 0, 0, 0, true});  // those between a delegated one and its leaves
  std::vector<std::int32_t> leaves;
  std::vector<std::size_t> segment_of;
  for (std::size_t i = 0; i < cells.size(); ++i)
    for_each_leaf(top, cells[i], [&](std::int32_t number, const Cell&) {
      leaves.push_back(number);
      segment_of.push_back(i);
    });
  const std::vector<std::uint32_t> before = sort_by_leaf(my.columns, segments, my.ids, top, leaves);
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    const DelegatedSegment& segment = segments[segment_of[l]];
    const bool is_last = l + 1 == leaves.size() || segment_of[l + 1] != segment_of[l];
    const std::uint64_t end = is_last ? segment.place + segment.count : before[l + 1];
    ResidentCell& leaf = my.cell(leaves[l]);
    leaf.first = segment.first + (before[l] - segment.place);
    leaf.count = end - before[l];
    leaf.set = 1 - segment.set;
    leaf.is_divided = false;
  }
  for (const std::int32_t number : cells) my.cell(number).is_divided = true;
}

ResidentCells::Records ResidentCells::take() {
  Impl& my = *impl_;
  std::uint64_t in_set[2] = {0, 0};
  for (const ResidentCell& c : my.cells)
    if (!c.is_divided) in_set[c.set] += c.count;
  const int to = in_set[1] > in_set[0] ? 1 : 0;
  std::vector<SegmentCopy> copies;
  for (const ResidentCell& c : my.cells)
    if (!c.is_divided && c.set != to) copies.push_back({c.first, c.count, c.first});
  copy_segments(my.sets[1 - to], my.sets[to], copies);
  return {std::move(my.sets[to]), std::move(my.sets[1 - to])};
}

}  // namespace grove::cuda
