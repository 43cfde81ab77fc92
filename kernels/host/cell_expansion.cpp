#include "kernels/host/cell_expansion.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/host/lane_sums.hpp"
#include "kernels/host/transposed.hpp"
#include "kernels/math/local_expansion.hpp"

namespace grove {
namespace {

/// The first ten numbers of lane_count CellSources, field by field.
struct CellLanes {
  Lanes x, y, z, mass, xx, yy, zz, xy, xz, yz;

  FarCell<Lanes> beside(const Vec3f& middle, float radius) const {
    const Lanes third(1.F / 3);  // from traceless moments
    return FarCell<Lanes>::of({x - Lanes(middle.x), y - Lanes(middle.y), z - Lanes(middle.z)}, mass,
                              (xx - zz) * third, (yy - zz) * third, xy * third, xz * third, yz * third,
                              Lanes(radius));
  }
};

#if defined(__AVX512F__)

CellLanes load_cells(const CellSource* cells, const std::int32_t (&list)[lane_count]) {
  static_assert(sizeof(CellSource) == 64 && offsetof(CellSource, yz) == 36);
  constexpr __mmask16 all = 0xffff;
  FourColumns rows[4];
  for (int q = 0; q < 4; ++q) {
    const auto row = [&](int k) {
      return _mm512_load_ps(reinterpret_cast<const float*>(cells + list[4 * q + k]));
    };
    rows[q] = transposed(row(0), row(1), row(2), row(3));
  }
  // The numbers k, 4 + k and 8 + k of all rows.
  Lanes number[12];
  const auto gather = [&](int k, __m512 FourColumns::*column) {
    const __m512 low0 = _mm512_maskz_shuffle_f32x4(all, rows[0].*column, rows[1].*column, 0x44),
                 low1 = _mm512_maskz_shuffle_f32x4(all, rows[2].*column, rows[3].*column, 0x44),
                 high0 = _mm512_maskz_shuffle_f32x4(all, rows[0].*column, rows[1].*column, 0xee),
                 high1 = _mm512_maskz_shuffle_f32x4(all, rows[2].*column, rows[3].*column, 0xee);
    number[k].v = _mm512_maskz_shuffle_f32x4(all, low0, low1, 0x88);
    number[4 + k].v = _mm512_maskz_shuffle_f32x4(all, low0, low1, 0xdd);
    number[8 + k].v = _mm512_maskz_shuffle_f32x4(all, high0, high1, 0x88);
  };
  gather(0, &FourColumns::a);
  gather(1, &FourColumns::b);
  gather(2, &FourColumns::c);
  gather(3, &FourColumns::d);
  return {number[0], number[1], number[2], number[3], number[4],
          number[5], number[6], number[7], number[8], number[9]};
}

#else

CellLanes load_cells(const CellSource* cells, const std::int32_t (&list)[lane_count]) {
  const auto field = [&](float CellSource::*member) {
    float value[lane_count];
    for (int k = 0; k < lane_count; ++k) value[k] = cells[list[k]].*member;
    return Lanes::load(value);
  };
  float x[lane_count], y[lane_count], z[lane_count];
  for (int k = 0; k < lane_count; ++k) {
    const Vec3f& centre = cells[list[k]].centre;
    x[k] = centre.x, y[k] = centre.y, z[k] = centre.z;
  }
  return {Lanes::load(x),         Lanes::load(y),         Lanes::load(z),         field(&CellSource::mass),
          field(&CellSource::xx), field(&CellSource::yy), field(&CellSource::zz), field(&CellSource::xy),
          field(&CellSource::xz), field(&CellSource::yz)};
}

#endif

/// The octupoles of lane_count cells.
Octupole<Lanes> load_octupoles(const CellSource* cells, const std::int32_t (&list)[lane_count]) {
  float number[7][lane_count];
  for (int k = 0; k < lane_count; ++k) {
    const Octupole<float> o = cells[list[k]].octupole.unpacked<float>();
    const float all[] = {o.xxx, o.xxy, o.xyy, o.yyy, o.xxz, o.xyz, o.yyz};
    for (int c = 0; c < 7; ++c) number[c][k] = all[c];
  }
  return {Lanes::load(number[0]), Lanes::load(number[1]), Lanes::load(number[2]), Lanes::load(number[3]),
          Lanes::load(number[4]), Lanes::load(number[5]), Lanes::load(number[6])};
}

/// The terms of cells, summed by lanes.
template <int terms>
struct TermSums {
  Lanes sum[terms], rest[terms];

  TermSums() {
    for (int k = 0; k < terms; ++k) sum[k] = rest[k] = Lanes(0.F);
  }
  void add(const Lanes (&block)[terms]) {
    for (int k = 0; k < terms; ++k) add_exactly(sum[k], rest[k], block[k]);
  }
  void total(float (&l)[terms]) const {
    for (int k = 0; k < terms; ++k) {
      float value[lane_count], lost[lane_count];
      sum[k].store(value), rest[k].store(lost);
      double all = 0;
      for (int lane = 0; lane < lane_count; ++lane) all += static_cast<double>(value[lane]) + lost[lane];
      l[k] = static_cast<float>(all);
    }
  }
};

/// Adds the terms of up to lane_count cells. end: where the terms of lanes that have no cell begin.
template <Order order, int terms>
void add_cells(const LocalTree& tree, const std::int32_t (&list)[lane_count], int end,
               const ExpansionFrame& frame, Lanes (&sum)[terms]) {
  const FarCell<Lanes> cell = load_cells(tree.cells.data(), list).beside(frame.middle, frame.radius);
  const auto fourth = FourthOrder<Lanes>::of(cell.direction);
  const auto fifth = FifthOrder<Lanes>::of(cell.direction);
  Lanes high[ExpansionTerm::high], low[ExpansionTerm::low];
  high_terms(cell, fourth, fifth, high);
  low_terms(cell, fourth, low);
  const auto add = [&](Lanes& to, Lanes term) { to += end == lane_count ? term : lanes_before(end, term); };
  for (int k = 0; k < ExpansionTerm::high; ++k) add(sum[k], high[k]);
  if constexpr (order == Order::octupole) {
    const auto octupole = FarOctupole<Lanes>::of(load_octupoles(tree.cells.data(), list), Lanes(1.F), cell,
                                                 Lanes(1 / frame.radius));
    add_octupole_terms(cell, octupole, fourth, fifth, low);
    Lanes more[ExpansionTerm::fifth];
    fifth_terms(cell, fifth, more);
    for (int k = 0; k < ExpansionTerm::fifth; ++k) add(sum[ExpansionTerm::xxxxx + k], more[k]);
  }
  for (int k = 0; k < ExpansionTerm::low; ++k) add(sum[ExpansionTerm::one + k], low[k]);
}

/// Adds those of a list.
template <Order order, int terms>
void add_list(const LocalTree& tree, std::span<const std::int32_t> list, const ExpansionFrame& frame,
              Lanes (&sum)[terms]) {
  std::int32_t some[lane_count];
  for (std::size_t first = 0; first < list.size(); first += lane_count) {
    const std::size_t count = std::min<std::size_t>(lane_count, list.size() - first);
    for (std::size_t k = 0; k < lane_count; ++k) some[k] = list[first + std::min(k, count - 1)];
    add_cells<order>(tree, some, static_cast<int>(count), frame, sum);
  }
}

template <Order order, int terms>
void evaluate(const float (&l)[terms], const ExpansionFrame& frame, GroupLanes& lanes) {
  const Lanes per_radius(1 / frame.radius);
  Lanes all[terms];
  for (int k = 0; k < terms; ++k) all[k] = Lanes(l[k]);
  for (int from = 0; from < lanes.count; from += lane_count) {
    const Vec3<Lanes> s{(Lanes::load(lanes.x + from) - Lanes(frame.middle.x)) * per_radius,
                        (Lanes::load(lanes.y + from) - Lanes(frame.middle.y)) * per_radius,
                        (Lanes::load(lanes.z + from) - Lanes(frame.middle.z)) * per_radius};
    Accumulator<Lanes> sum{{Lanes(0.F), Lanes(0.F), Lanes(0.F)}, Lanes(0.F)};
    add_expansion<order>(all, s, per_radius, sum);
    add_to_targets(lanes, from, sum);
  }
}

/// Moves the cells that are expanded from one list to the end of another one; all keep their order.
void take_expanded(const ExpansionFrame& frame, const TargetBounds& target, const LocalTree& tree,
                   Array<std::int32_t>& cells, Array<std::int32_t>& expanded) {
  std::size_t kept = 0, taken = expanded.size();
  expanded.resize(taken + cells.size());
  for (const std::int32_t index : cells) {
    const CellSource& cell = tree.cells[static_cast<std::size_t>(index)];
    const bool expands = frame.expands(cell.mass, cell.softening, target.distance2(cell.centre));
    cells[kept] = expanded[taken] = index;
    kept += expands ? 0 : 1, taken += expands ? 1 : 0;
  }
  cells.resize(kept);
  expanded.resize(taken);
}

template <Order order>
void sum_list(const ExpansionFrame& frame, const LocalTree& tree, std::span<const std::int32_t> list,
              GroupLanes& lanes) {
  constexpr int terms = ExpansionTerm::count(order);
  TermSums<terms> sums;
  for (std::size_t first = 0; first < list.size(); first += sum_block) {
    Lanes block[terms];
    for (Lanes& term : block) term = Lanes(0.F);
    add_list<order>(tree, list.subspan(first, std::min<std::size_t>(sum_block, list.size() - first)), frame,
                    block);
    sums.add(block);
  }
  float l[terms];
  sums.total(l);
  evaluate<order>(l, frame, lanes);
}

}  // namespace

void sum_expanded(const ExpansionFrame& frame, const TargetBounds& target, const LocalTree& tree,
                  InteractionLists& lists, GroupLanes& lanes) {
  take_expanded(frame, target, tree, lists.near_cells, lists.expanded);
  if (lists.expanded.empty()) return;
  if (frame.order == Order::octupole)
    sum_list<Order::octupole>(frame, tree, lists.expanded, lanes);
  else
    sum_list<Order::quadrupole>(frame, tree, lists.expanded, lanes);
}

}  // namespace grove
