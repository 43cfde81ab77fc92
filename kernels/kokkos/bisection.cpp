#include "kernels/kokkos/bisection.hpp"

#include <Kokkos_Core.hpp>

#include "kernels/kokkos/bisection_leaf.hpp"
#include "kernels/kokkos/bisection_native.hpp"
#include "kernels/kokkos/bisection_orb.hpp"

namespace grove {

using Simd = bisection::Native;

void make_records(const Box& box, const Vec3d* position, std::size_t count, Record* records,
                  std::size_t first) {
  for (std::size_t i = 0; i < count; ++i) {
    const IntegerPosition c = box.coordinates(position[i]);
    records[i] = {c.x, c.y, c.z, static_cast<std::uint32_t>(first + i)};
  }
}

std::vector<Cell> cut_to_leaves(const CutScheme& scheme, const Cell& root, std::span<Record> records,
                                const ParticleId* id, const std::uint32_t* weight) {
  return bisection::cut_to_leaves<Simd>(scheme, root, records, id, weight);
}

void cut_leaf(Record* records, std::int32_t count, const ParticleId* id, LocalCell* cells) {
  bisection::cut_leaf<Simd>(records, count, id, cells);
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
