#include "kernels/kokkos/group_walk.hpp"

#include <stdexcept>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace grove {
namespace {

constexpr int batch = 16;

/// Appending pointers into the lists; the arrays have room for all nodes and a batch.
struct Ends {
  std::int32_t *far_cells, *near_cells, *opened;
};

#if defined(__AVX512F__)

struct Tester {
  const LocalTree& tree;
  __m512 low_x, low_y, low_z, high_x, high_y, high_z, strictness;

  Tester(const LocalTree& t, const TargetBounds& b)
      : tree(t),
        low_x(_mm512_set1_ps(b.low.x)),
        low_y(_mm512_set1_ps(b.low.y)),
        low_z(_mm512_set1_ps(b.low.z)),
        high_x(_mm512_set1_ps(b.high.x)),
        high_y(_mm512_set1_ps(b.high.y)),
        high_z(_mm512_set1_ps(b.high.z)),
        strictness(_mm512_set1_ps(b.strictness)) {}

  static __m512 outside(__m512 p, __m512 low, __m512 high) {
    constexpr __mmask16 all = 0xffff;
    const __m512 farther = _mm512_maskz_max_ps(all, low - p, p - high);
    return _mm512_maskz_max_ps(all, farther, __m512{});
  }
  static std::int32_t* append(std::int32_t* end, __mmask16 which, __m512i values) {
    _mm512_storeu_si512(end, _mm512_maskz_compress_epi32(which, values));
    return end + __builtin_popcount(which);
  }

  /// Tests count <= batch nodes; sorts them into accepted far, accepted near, opened.
  void operator()(const std::int32_t* nodes, int count, Ends& ends) const {
    const auto valid = static_cast<__mmask16>((1U << count) - 1);
    const __m512i index = _mm512_maskz_loadu_epi32(valid, nodes);
    const auto gather = [&](const Array<float>& values) {
      return _mm512_mask_i32gather_ps(__m512{}, valid, index, values.data(), 4);
    };
    const __m512 x = outside(gather(tree.x), low_x, high_x), y = outside(gather(tree.y), low_y, high_y),
                 z = outside(gather(tree.z), low_z, high_z);
    const __m512 distance2 = x * x + y * y + z * z;
    const __m512 needed = _mm512_maskz_max_ps(valid, gather(tree.power) * strictness, gather(tree.reach2));
    const __mmask16 accepted = _mm512_mask_cmp_ps_mask(valid, distance2, needed, _CMP_GT_OQ);
    const __mmask16 far = _mm512_mask_cmp_ps_mask(accepted, distance2, gather(tree.near2), _CMP_GT_OQ);
    ends.far_cells = append(ends.far_cells, far, index);
    ends.near_cells = append(ends.near_cells, static_cast<__mmask16>(accepted & ~far), index);
    ends.opened = append(ends.opened, static_cast<__mmask16>(valid & ~accepted), index);
  }
};

#else

struct Tester {
  const LocalTree& tree;
  const TargetBounds& target;

  void operator()(const std::int32_t* nodes, int count, Ends& ends) const {
    for (int k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(nodes[k]);
      const float distance2 = target.distance2({tree.x[i], tree.y[i], tree.z[i]});
      const float needed = larger(tree.reach2[i], tree.power[i] * target.strictness);
      if (!(distance2 > needed))
        *ends.opened++ = nodes[k];
      else if (distance2 > tree.near2[i])
        *ends.far_cells++ = nodes[k];
      else
        *ends.near_cells++ = nodes[k];
    }
  }
};

#endif

void make_room(InteractionLists& lists, std::size_t nodes) {
  for (auto* list :
       {&lists.far_cells, &lists.near_cells, &lists.far_buckets, &lists.near_buckets, &lists.queue})
    list->resize(nodes + 2 * batch);
}

}  // namespace

void list_interactions(const LocalTree& tree, const TargetBounds& target, InteractionLists& lists) {
  const auto nodes = static_cast<std::size_t>(tree.size());
  make_room(lists, nodes);
  const Tester test{tree, target};
  std::int32_t opened[2 * batch];
  Ends ends{lists.far_cells.data(), lists.near_cells.data(), opened};
  std::int32_t *far_bucket = lists.far_buckets.data(), *near_bucket = lists.near_buckets.data();
  std::int32_t *head = lists.queue.data(), *tail = head;
  if (nodes > 0) *tail++ = 0;

  while (head < tail) {
    const int count = static_cast<int>(tail - head < batch ? tail - head : batch);
    ends.opened = opened;
    test(head, count, ends);
    head += count;
    for (const std::int32_t* node = opened; node < ends.opened; ++node) {
      const auto i = static_cast<std::size_t>(*node);
      const LocalLinks links = tree.links[i];
      if (links.child >= 0) {
        for (std::int32_t c = 0; c < links.count; ++c) *tail++ = links.child + c;
      } else {
        if (!links.is_bucket()) throw std::logic_error("walk: a group opens what its leaf does not open");
        const float distance2 = target.distance2({tree.x[i], tree.y[i], tree.z[i]});
        if (distance2 > tree.near2[i])
          *far_bucket++ = *node;
        else
          *near_bucket++ = *node;
      }
    }
  }
  lists.tests = static_cast<std::int32_t>(tail - lists.queue.data());
  lists.far_cells.resize(static_cast<std::size_t>(ends.far_cells - lists.far_cells.data()));
  lists.near_cells.resize(static_cast<std::size_t>(ends.near_cells - lists.near_cells.data()));
  lists.far_buckets.resize(static_cast<std::size_t>(far_bucket - lists.far_buckets.data()));
  lists.near_buckets.resize(static_cast<std::size_t>(near_bucket - lists.near_buckets.data()));
}

}  // namespace grove
