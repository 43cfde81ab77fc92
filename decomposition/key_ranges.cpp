#include "decomposition/key_ranges.hpp"

#include <algorithm>
#include <optional>

namespace grove {
namespace {

/// The places from one on, in Morton's order, up to another one; no end: to the last.
struct Stretch {
  IntegerPosition begin;
  std::optional<IntegerPosition> end;
};

void add_cover(const GeometricCell& cell, const Stretch& stretch, std::vector<GeometricCell>& cover) {
  const IntegerPosition high = cell.high();
  if (comes_before(high, stretch.begin) || (stretch.end && !comes_before(cell.low, *stretch.end))) return;
  if (!comes_before(cell.low, stretch.begin) && (!stretch.end || comes_before(high, *stretch.end))) {
    cover.push_back(cell);
    return;
  }
  for (const bool right : {false, true}) add_cover(cell.half(right), stretch, cover);
}

/// Adds the parts of a geometric cell that holds a cell of the domain. Halves that hold nothing of it are
/// parts: else the next one would reach over more than a geometric cell.
void add_parts(const Domain& domain, std::int32_t index, GeometricCell region,
               std::vector<IntegerPosition>& parts) {
  const Cell& cell = domain.cells[static_cast<std::size_t>(index)];
  if (cell.is_leaf() || cell.is_whole(domain.domain_cell)) {
    parts.push_back(region.low);
    return;
  }
  std::vector<IntegerPosition> behind;
  for (;;) {
    const GeometricCell left = region.half(false), right = region.half(true);
    const bool is_left = comes_before(cell.high, right.low), is_right = !comes_before(cell.low, right.low);
    if (is_left) {
      behind.push_back(right.low);
      region = left;
    } else if (is_right) {
      parts.push_back(left.low);
      region = right;
    } else {
      add_parts(domain, cell.child, left, parts);
      add_parts(domain, cell.child + 1, right, parts);
      break;
    }
  }
  parts.insert(parts.end(), behind.rbegin(), behind.rend());
}

}  // namespace

std::vector<IntegerPosition> geometric_parts(const Domain& domain) {
  std::vector<IntegerPosition> parts;
  add_parts(domain, 0, {}, parts);
  return parts;
}

KeyRanges::KeyRanges(const Domain& domain) { add(domain, 0, {0, 0, 0}); }

void KeyRanges::add(const Domain& domain, std::int32_t index, const IntegerPosition& begin) {
  const Cell& cell = domain.cells[static_cast<std::size_t>(index)];
  if (!cell.is_leaf() && !cell.is_whole(domain.domain_cell)) {
    add(domain, cell.child, begin);
    add(domain, cell.child + 1, right_half(cell.low, cell.high));
    return;
  }
  const int owner = domain.owners.owner(cell.first_leaf);
  if (parts_.empty() || parts_.back().rank != owner) parts_.push_back({begin, owner});
}

std::vector<GeometricCell> KeyRanges::cover(int rank) const {
  std::vector<GeometricCell> cells;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].rank != rank) continue;
    Stretch stretch{parts_[i].begin, std::nullopt};
    if (i + 1 < parts_.size()) stretch.end = parts_[i + 1].begin;
    add_cover({}, stretch, cells);
  }
  return cells;
}

PlaceFinder::PlaceFinder(const KeyRanges& ranges, int own_rank) {
  const std::vector<GeometricCell> own = ranges.cover(own_rank);
  std::size_t next = 0;
  for (std::size_t i = 0; i < ranges.parts().size(); ++i) {
    const KeyRanges::Part& part = ranges.parts()[i];
    if (part.rank != own_rank) {
      begin_.push_back(part.begin);
      answer_.push_back(-1 - part.rank);
      shared_bits_.push_back({~0u, ~0u, ~0u});
      continue;
    }
    const bool is_last = i + 1 == ranges.parts().size();
    for (; next < own.size() && (is_last || comes_before(own[next].low, ranges.parts()[i + 1].begin));
         ++next) {
      begin_.push_back(own[next].low);
      answer_.push_back(static_cast<std::int32_t>(next));
      shared_bits_.push_back(own[next].shared_bits());
    }
  }
  own_cells_ = own.size();
}

std::int32_t PlaceFinder::find(const IntegerPosition& place, std::size_t& near) const {
  const IntegerPosition &low = begin_[near], &bits = shared_bits_[near];
  const Coordinate differing =
      ((place.x ^ low.x) & bits.x) | ((place.y ^ low.y) & bits.y) | ((place.z ^ low.z) & bits.z);
  if (differing != 0) near = part_of(begin_.data(), begin_.size(), place);
  return answer_[near];
}

}  // namespace grove
