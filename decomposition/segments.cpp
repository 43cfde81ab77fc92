#include "decomposition/segments.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "kernels/math/cell_questions.hpp"

namespace grove {
namespace {

class TopBuilder {
 public:
  TopBuilder(std::span<const Segment> segments, const CutScheme& scheme, int own_rank, int ranks)
      : segments_(segments), scheme_(scheme), own_rank_(own_rank) {
    top_.moves.send.assign(static_cast<std::size_t>(ranks), 0);
  }

  TopOfSegments build() {
    top_.cells = {cell_of(0, segments_.size(), 0)};
    divide(0, 0, segments_.size());
    top_.frontier = Frontier(top_.cells, owner_);
    top_.moves.all = top_.cells[0].count;
    for (const auto& [rank, count] : leaving_) top_.moves.most = std::max(top_.moves.most, count);
    return std::move(top_);
  }

 private:
  Cell cell_of(std::size_t begin, std::size_t end, Count first) const {
    CellBounds bounds = CellBounds::of_nothing();
    Cell cell;
    cell.first = first;
    for (const Segment& s : segments_.subspan(begin, end - begin)) {
      bounds |= {s.low, s.high};
      cell.count += s.count;
      cell.weight += s.weight;
    }
    cell.low = bounds.low;
    cell.high = bounds.high;
    cell.leaves = scheme_.leaves_of(cell.count);
    return cell;
  }

  /// Goes on to divide a cell with these segments, as the rule says. Cost: of all calls together, the
  /// segments times the depth of the tree.
  void divide(std::size_t index, std::size_t begin, std::size_t end) {
    Cell cell = top_.cells[index];
    if (end - begin == 1 || cell.is_whole(scheme_.domain_cell)) {
      give_out(segments_.subspan(begin, end - begin));
      return;
    }
    const int axis = geometric_axis(cell.low, cell.high);
    const Coordinate middle = geometric_middle(cell.low[axis], cell.high[axis]);
    const auto segment = segments_.begin();
    const std::size_t half = static_cast<std::size_t>(
        std::partition_point(segment + static_cast<std::ptrdiff_t>(begin),
                             segment + static_cast<std::ptrdiff_t>(end),
                             [&](const Segment& s) { return s.low[axis] < middle; }) -
        segment);
    if (half == begin || half == end) throw std::logic_error("segments that are no geometric cells");
    const Cell left = cell_of(begin, half, cell.first), right = cell_of(half, end, cell.first + left.count);
    cell.cut = first_of(half, end, axis, right.low[axis]);
    cell.child = static_cast<std::int32_t>(top_.cells.size());
    top_.cells[index] = cell;
    top_.cells.push_back(left);
    top_.cells.push_back(right);
    divide(static_cast<std::size_t>(cell.child), begin, half);
    divide(static_cast<std::size_t>(cell.child) + 1, half, end);
  }

  /// The cut before the first particle of these segments.
  Cut first_of(std::size_t begin, std::size_t end, int axis, Coordinate least) const {
    Cut cut{~ParticleId{0}, least, axis};
    for (const Segment& s : segments_.subspan(begin, end - begin))
      if (s.low[axis] == least) cut.id = std::min(cut.id, s.first[axis]);
    return cut;
  }

  /// A frontier cell of these goes to the rank with most of the particles, of equal ones the lowest.
  void give_out(std::span<const Segment> segments) {
    std::map<int, Count> counts;
    for (const Segment& s : segments) counts[s.rank] += s.count;
    const auto has_less = [](const auto& a, const auto& b) { return a.second < b.second; };
    const int owner = std::max_element(counts.begin(), counts.end(), has_less)->first;
    owner_.push_back(owner);
    for (const auto& [rank, count] : counts) {
      if (rank == owner) continue;
      leaving_[rank] += count;
      if (rank == own_rank_) top_.moves.send[static_cast<std::size_t>(owner)] += count;
      if (owner == own_rank_) top_.moves.arriving.push_back({own_cells_, rank, count});
    }
    if (owner == own_rank_) ++own_cells_;
    top_.portions.push_back(counts[own_rank_]);
  }

  std::span<const Segment> segments_;
  CutScheme scheme_;
  int own_rank_;
  TopOfSegments top_;
  std::vector<int> owner_;        ///< by frontier cell
  std::size_t own_cells_ = 0;     ///< of these
  std::map<int, Count> leaving_;  ///< by rank: particles
};

}  // namespace

Segment joined(std::span<const Segment> segments) {
  Segment sum = segments.front();
  for (const Segment& s : segments.subspan(1)) {
    for (int axis = 0; axis < 3; ++axis) {
      if (s.low[axis] < sum.low[axis] || (s.low[axis] == sum.low[axis] && s.first[axis] < sum.first[axis]))
        sum.first[axis] = s.first[axis];
      sum.low[axis] = std::min(sum.low[axis], s.low[axis]);
      sum.high[axis] = std::max(sum.high[axis], s.high[axis]);
    }
    sum.count += s.count;
    sum.weight += s.weight;
  }
  return sum;
}

TopOfSegments top_of(std::vector<Segment> segments, const CutScheme& scheme, int own_rank, int ranks) {
  std::sort(segments.begin(), segments.end(),
            [](const Segment& a, const Segment& b) { return comes_before(a.low, b.low); });
  return TopBuilder(segments, scheme, own_rank, ranks).build();
}

}  // namespace grove
