#include "kernels/host/group_walk.hpp"

#include <stdexcept>

#include "kernels/host/transposed.hpp"

namespace grove {
namespace {

/// Pairs of siblings tested at once.
constexpr int batch = 8;

/// The next entries go here; the arrays have room for all nodes and a batch.
struct Ends {
  std::int32_t *far_cells, *near_cells, *expanded, *far_buckets, *near_buckets, *queue;
};

[[noreturn]] void fail() { throw std::logic_error("walk: a group opens what its leaf does not open"); }

void push_children(const LocalNode& node, Ends& ends) {
  for (std::int32_t c = 0; c < node.count; c += 2) *ends.queue++ = (node.child + c) / 2;
}

#if defined(__AVX512F__)

/// accepts(), TargetBounds::distance2() and ExpansionFrame::expands() for 16 nodes at once.
struct Tester {
  const LocalTree& tree;
  __m512 low_x, low_y, low_z, high_x, high_y, high_z, inverse_tolerance, per_radius2, per_mass;
  bool has_octupoles;

  Tester(const LocalTree& t, const TargetBounds& b, const ExpansionFrame& f)
      : tree(t),
        low_x(_mm512_set1_ps(b.low.x)),
        low_y(_mm512_set1_ps(b.low.y)),
        low_z(_mm512_set1_ps(b.low.z)),
        high_x(_mm512_set1_ps(b.high.x)),
        high_y(_mm512_set1_ps(b.high.y)),
        high_z(_mm512_set1_ps(b.high.z)),
        inverse_tolerance(_mm512_set1_ps(b.inverse_tolerance)),
        per_radius2(_mm512_set1_ps(f.per_radius2)),
        per_mass(_mm512_set1_ps(f.per_mass)),
        has_octupoles(f.order == Order::octupole) {}

  static __m512 max(__m512 a, __m512 b) { return _mm512_maskz_max_ps(0xffff, a, b); }
  static __m512 outside(__m512 p, __m512 low, __m512 high) { return max(max(low - p, p - high), __m512{}); }
  static void append(std::int32_t*& end, unsigned which, __m512i values) {
    _mm512_storeu_si512(end, _mm512_maskz_compress_epi32(static_cast<__mmask16>(which), values));
    end += __builtin_popcount(which);
  }

  static __m512 even_lanes(__m512 a, __m512 b) { return _mm512_maskz_shuffle_f32x4(0xffff, a, b, 0x88); }
  static __m512 odd_lanes(__m512 a, __m512 b) { return _mm512_maskz_shuffle_f32x4(0xffff, a, b, 0xdd); }

  /// The fields of 8 pairs, nodes in the order: first siblings of pairs 0-3, second ones, and so for 4-7.
  struct Fields {
    __m512 x, y, z, reach2, power, near2;
    __m512i child, count;
  };
  Fields load(const std::int32_t* pairs) const {
    const auto row = [&](int k) {
      return _mm512_load_ps(reinterpret_cast<const float*>(&tree.pairs[static_cast<std::size_t>(pairs[k])]));
    };
    const FourColumns p = transposed(row(0), row(1), row(2), row(3)),
                      q = transposed(row(4), row(5), row(6), row(7));
    return {even_lanes(p.a, q.a),
            even_lanes(p.b, q.b),
            even_lanes(p.c, q.c),
            even_lanes(p.d, q.d),
            odd_lanes(p.a, q.a),
            odd_lanes(p.b, q.b),
            _mm512_castps_si512(odd_lanes(p.c, q.c)),
            _mm512_castps_si512(odd_lanes(p.d, q.d))};
  }

  /// The masses of 8 pairs, in the order of Fields.
  __m512 masses(__m512i pairs) const {
    const __m512i all = _mm512_castpd_si512(_mm512_mask_i32gather_pd(
        _mm512_setzero_pd(), 0xff, _mm512_castsi512_si256(pairs), tree.mass.data(), 8));
    const __m512i order = _mm512_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
    return _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi32(0xffff, order, all));
  }

  /// pairs: 8 readable numbers of pairs, of which `count` count.
  void operator()(const std::int32_t* pairs, int count, Ends& ends) const {
    const Fields f = load(pairs);
    const __m512i order = _mm512_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7);
    const __m512i second = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1);
    const __m512i numbers = _mm512_maskz_loadu_epi32(0xff, pairs);
    const __m512i pair = _mm512_maskz_permutexvar_epi32(0xffff, order, numbers);
    const __m512i index =
        reinterpret_cast<__m512i>(reinterpret_cast<__v16si>(pair) * 2 + reinterpret_cast<__v16si>(second));
    const unsigned valid = _mm512_cmplt_epi32_mask(order, _mm512_set1_epi32(count));

    const __m512 x = outside(f.x, low_x, high_x), y = outside(f.y, low_y, high_y),
                 z = outside(f.z, low_z, high_z);
    const __m512 distance2 = x * x + y * y + z * z;
    const __m512 needed = max(f.power * inverse_tolerance, f.reach2);
    const unsigned accepted = valid & _mm512_cmp_ps_mask(distance2, needed, _CMP_GT_OQ);
    const unsigned far = _mm512_cmp_ps_mask(distance2, f.near2, _CMP_GT_OQ);
    // Softening does not reach far nodes.
    const __m512 in_radii = distance2 * per_radius2, threshold = masses(numbers) * per_mass;
    const __m512 power =
        in_radii * in_radii * (has_octupoles ? in_radii * _mm512_maskz_sqrt_ps(0xffff, in_radii) : in_radii);
    const unsigned expanded = accepted & far & _mm512_cmp_ps_mask(in_radii, _mm512_set1_ps(1), _CMP_GT_OQ) &
                              _mm512_cmp_ps_mask(power, threshold, _CMP_GT_OQ);
    append(ends.expanded, expanded, index);
    append(ends.far_cells, accepted & far & ~expanded, index);
    append(ends.near_cells, accepted & ~far, index);

    const unsigned opened = valid & ~accepted, leaf = _mm512_movepi32_mask(f.child);
    if (opened & _mm512_cmpeq_epi32_mask(f.child, _mm512_set1_epi32(LocalNode::closed))) fail();
    append(ends.far_buckets, opened & leaf & far, index);
    append(ends.near_buckets, opened & leaf & ~far, index);
    const unsigned inner = opened & ~leaf;
    if (inner & _mm512_cmpgt_epi32_mask(f.count, _mm512_set1_epi32(2))) [[unlikely]]
      push_many(inner, index, ends);
    else
      append(ends.queue, inner, _mm512_maskz_srai_epi32(0xffff, f.child, 1));
  }

  void push_many(unsigned inner, __m512i index, Ends& ends) const {
    alignas(64) std::int32_t indices[2 * batch];
    _mm512_store_si512(indices, index);
    for (int k = 0; k < 2 * batch; ++k)
      if (inner >> k & 1U) push_children(tree.node(indices[k]), ends);
  }
};

#else

struct Tester {
  const LocalTree& tree;
  const TargetBounds& target;
  const ExpansionFrame& frame;

  void operator()(const std::int32_t* pairs, int count, Ends& ends) const {
    for (int k = 0; k < 2 * count; ++k) {
      const std::int32_t index = 2 * pairs[k / 2] + k % 2;
      const LocalNode& node = tree.node(index);
      const float distance2 = target.distance2({node.x, node.y, node.z});
      const bool far = distance2 > node.near2;
      if (accepts(node.reach2, node.power, distance2, target.inverse_tolerance, 0)) {
        const CellSource& cell = tree.cells[static_cast<std::size_t>(index)];
        const bool expands = far && frame.expands(cell.mass, cell.softening, distance2);
        *(expands ? ends.expanded : far ? ends.far_cells : ends.near_cells)++ = index;
      } else if (node.child >= 0) {
        push_children(node, ends);
      } else {
        if (!node.is_bucket()) fail();
        *(far ? ends.far_buckets : ends.near_buckets)++ = index;
      }
    }
  }
};

#endif

void set_length(Array<std::int32_t>& list, const std::int32_t* end) {
  list.resize(static_cast<std::size_t>(end - list.data()));
}

}  // namespace

void list_interactions(const LocalTree& tree, const TargetBounds& target, const ExpansionFrame& frame,
                       InteractionLists& lists) {
  const std::size_t room = static_cast<std::size_t>(tree.size()) + 2 * batch;
  for (auto* list : {&lists.far_cells, &lists.near_cells, &lists.expanded, &lists.far_buckets,
                     &lists.near_buckets, &lists.queue})
    list->resize(room);
  const Tester test{tree, target, frame};
  Ends ends{lists.far_cells.data(),   lists.near_cells.data(),   lists.expanded.data(),
            lists.far_buckets.data(), lists.near_buckets.data(), lists.queue.data()};
  const std::int32_t* next = lists.queue.data();
  if (tree.size() > 0) *ends.queue++ = 0;
  while (next < ends.queue) {
    const int count = static_cast<int>(ends.queue - next < batch ? ends.queue - next : batch);
    for (int k = count; k < batch; ++k) ends.queue[k - count] = 0;  // readable, though they do not count
    test(next, count, ends);
    next += count;
  }
  lists.tests = 2 * static_cast<std::int32_t>(next - lists.queue.data());
  set_length(lists.far_cells, ends.far_cells);
  set_length(lists.near_cells, ends.near_cells);
  set_length(lists.expanded, ends.expanded);
  set_length(lists.far_buckets, ends.far_buckets);
  set_length(lists.near_buckets, ends.near_buckets);
}

}  // namespace grove
