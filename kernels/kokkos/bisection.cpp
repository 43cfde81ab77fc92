#include "kernels/kokkos/bisection.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>

namespace grove {
namespace {

struct Bounds {
  IntegerPosition low{~0u, ~0u, ~0u}, high{0, 0, 0};
};

Bounds bounds_of(std::span<const Record> records) {
  Bounds b;
  for (const Record& r : records)
    for (int axis = 0; axis < 3; ++axis) {
      b.low[axis] = std::min(b.low[axis], r[axis]);
      b.high[axis] = std::max(b.high[axis], r[axis]);
    }
  return b;
}

/// The order of particles on an axis.
struct Before {
  int axis;
  const ParticleId* id;
  bool operator()(const Record& a, const Record& b) const {
    return a[axis] != b[axis] ? a[axis] < b[axis] : id[a.index] < id[b.index];
  }
};

/// Puts the first `left` particles of the order on the left; returns the cut.
Cut divide(std::span<Record> records, Count left, int axis, const ParticleId* id) {
  const auto middle = records.begin() + left;
  std::nth_element(records.begin(), middle, records.end(), Before{axis, id});
  return {id[middle->index], (*middle)[axis], axis};
}

Count left_of_middle(std::span<const Record> records, const Bounds& bounds, int axis) {
  const Coordinate middle = spatial_middle(bounds.low[axis], bounds.high[axis]);
  return std::count_if(records.begin(), records.end(), [=](const Record& r) { return r[axis] < middle; });
}

struct LeafCutter {
  CutScheme scheme;
  std::span<Record> records;
  Count first;
  const ParticleId* id;
  const std::uint32_t* weight;
  std::vector<Cell>& cells;

  Count weigh(std::span<const Record> part) const {
    if (!weight) return static_cast<Count>(part.size());
    Count sum = 0;
    for (const Record& r : part) sum += weight[r.index];
    return sum;
  }

  Count prefix(const CutTarget& target, std::span<Record> part, int axis) const {
    if (target.is_exact()) return target.least;
    std::sort(part.begin(), part.end(), Before{axis, id});
    Count count = 0, sum = 0;
    for (const Record& r : part) {
      sum += weight ? weight[r.index] : 1;
      if (!target.accepts(count + 1, sum)) break;
      ++count;
    }
    return count;
  }

  void cut(std::size_t index) {
    Cell cell = cells[index];
    const auto part =
        records.subspan(static_cast<std::size_t>(cell.first - first), static_cast<std::size_t>(cell.count));
    const Bounds bounds = bounds_of(part);
    cell.low = bounds.low;
    cell.high = bounds.high;
    cell.cut = {0, 0, -1};
    cell.child = -1;
    if (!scheme.is_leaf(cell.count, cell.leaves)) {
      const int axis = longest_axis(cell.low, cell.high);
      const CutTarget target =
          scheme.target(cell.count, cell.weight, cell.leaves, left_of_middle(part, bounds, axis));
      const Count left = prefix(target, part, axis);
      cell.cut = divide(part, left, axis, id);
      cell.child = static_cast<std::int32_t>(cells.size());
      Cell a{}, b{};
      a.first = cell.first;
      a.count = left;
      a.weight = weigh(part.first(static_cast<std::size_t>(left)));
      a.first_leaf = cell.first_leaf;
      a.leaves = scheme.left_leaves(cell.leaves, left);
      b.first = cell.first + left;
      b.count = cell.count - left;
      b.weight = cell.weight - a.weight;
      b.first_leaf = cell.first_leaf + a.leaves;
      b.leaves = cell.leaves - a.leaves;
      cells.push_back(a);
      cells.push_back(b);
    }
    cells[index] = cell;
    if (cell.child < 0) return;
    cut(static_cast<std::size_t>(cell.child));
    cut(static_cast<std::size_t>(cell.child) + 1);
  }
};

void cut_local(Record* records, std::int32_t first, std::int32_t count, std::int32_t self, std::int32_t child,
               const ParticleId* id, LocalCell* cells) {
  const std::span<Record> part{records + first, static_cast<std::size_t>(count)};
  const Bounds bounds = bounds_of(part);
  const bool bucket = count <= bucket_size;
  cells[self] = {bounds.low, bounds.high, first, count, bucket ? -1 : child};
  if (bucket) {
    std::sort(part.begin(), part.end(),
              [id](const Record& a, const Record& b) { return id[a.index] < id[b.index]; });
    return;
  }
  const int axis = longest_axis(bounds.low, bounds.high);
  const auto left = static_cast<std::int32_t>(middle_left_count(
      count, left_of_middle(part, bounds, axis), count > group_size ? group_size : bucket_size));
  divide(part, left, axis, id);
  cut_local(records, first, left, child, child + 2, id, cells);
  cut_local(records, first + left, count - left, child + 1, child + 1 + local_cells(left), id, cells);
}

}  // namespace

void make_records(const Box& box, const Vec3d* position, std::size_t count, Record* records) {
  for (std::size_t i = 0; i < count; ++i) {
    const IntegerPosition c = box.coordinates(position[i]);
    records[i] = {c.x, c.y, c.z, static_cast<std::uint32_t>(i)};
  }
}

std::vector<Cell> cut_to_leaves(const CutScheme& scheme, const Cell& root, std::span<Record> records,
                                const ParticleId* id, const std::uint32_t* weight) {
  std::vector<Cell> cells{root};
  cells.reserve(static_cast<std::size_t>(2 * root.leaves));
  LeafCutter{scheme, records, root.first, id, weight, cells}.cut(0);
  return cells;
}

void cut_leaf(Record* records, std::int32_t count, const ParticleId* id, LocalCell* cells) {
  if (count > 0) cut_local(records, 0, count, 0, 1, id, cells);
}

void cut_leaves(std::span<const Count> leaf_begin, Record* records, const ParticleId* id,
                std::span<const Count> cell_begin, LocalCell* cells) {
  const auto leaves = static_cast<std::int64_t>(leaf_begin.size()) - 1;
  const Count *begin = leaf_begin.data(), *first_cell = cell_begin.data();
  Kokkos::parallel_for(
      "Grove::bisection::cut_leaves", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, leaves),
      [=](std::int64_t leaf) {
        cut_leaf(records + begin[leaf], static_cast<std::int32_t>(begin[leaf + 1] - begin[leaf]), id,
                 cells + first_cell[leaf]);
      });
}

}  // namespace grove
