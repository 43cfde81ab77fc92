#include "kernels/host/bisection.hpp"

#include "kernels/host/bisection_leaf.hpp"
#include "kernels/host/bisection_native.hpp"
#include "kernels/host/bisection_orb.hpp"
#include "kernels/kokkos/host_loop.hpp"
#include "kernels/kokkos/particle_loops.hpp"

namespace grove {

using Simd = bisection::Native;

void make_records(const Box& box, const LedPositions& position, std::size_t count, Record* records,
                  std::size_t first) {
  const RecordBody make{box, first, position, records};
  for (std::size_t i = 0; i < count; ++i) make(i);
}

std::vector<Cell> cut_to_leaves(const CutScheme& scheme, const Cell& root, std::span<Record> records,
                                const ParticleId* id, const std::uint32_t* weight) {
  return bisection::cut_to_leaves<Simd>(scheme, root, records, id, weight);
}

void cut_leaf(Record* records, std::int32_t count, const ParticleId* id, LocalCell* cells) {
  bisection::cut_leaf<Simd>(GroupCuts{}, records, count, id, cells);
}

void cut_leaves(std::span<const Count> leaf_begin, Record* records, const ParticleId* id,
                std::span<const Count> cell_begin, LocalCell* cells) {
  const Count *begin = leaf_begin.data(), *first_cell = cell_begin.data();
  host_loop("Grove::bisection::cut_leaves", leaf_begin.size() - 1, [=](std::size_t leaf) {
    cut_leaf(records + begin[leaf], static_cast<std::int32_t>(begin[leaf + 1] - begin[leaf]), id,
             cells + first_cell[leaf]);
  });
}

}  // namespace grove
