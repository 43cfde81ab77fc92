#include "kernels/cuda/trees/tree_renewal.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/trees/cell_recut.cuh"
#include "kernels/cuda/trees/leaf_bisection.cuh"
#include "kernels/math/tree_renewal.hpp"

namespace grove::cuda {
namespace {

/// More than where all leaves are cut: few are, and their time is that of one.
constexpr int renewal_threads = 1024;
/// The blocks that share what is renewed: a few times as many as a GPU holds.
constexpr unsigned renewal_blocks = 528;
constexpr std::size_t most_fields = 24;

/// Active particles of each leaf, a block each.
__global__ void __launch_bounds__(threads) count_active(const LeafPlaces* leaves, const std::uint8_t* rung,
                                                        int first_active, std::uint32_t* active) {
  __shared__ std::uint32_t sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const LeafPlaces leaf = leaves[blockIdx.x];
  std::uint32_t found = 0;
#pragma unroll 8
  for (std::int32_t i = threadIdx.x; i < leaf.count; i += threads)
    found += rung[leaf.first + static_cast<std::uint64_t>(i)] >= first_active ? 1 : 0;
  found = __reduce_add_sync(~0u, found);
  if (threadIdx.x % 32 == 0 && found > 0) atomicAdd(&sum, found);
  __syncthreads();
  if (threadIdx.x == 0) active[blockIdx.x] = sum;
}

/// A warp per domain cell. active: by leaf; taken, of_cell (out): by domain cell, and by leaf, if its domain
/// cell is taken.
__global__ void __launch_bounds__(threads)
    take_cells(const DomainCell* cells, std::uint32_t count, const std::uint32_t* active, std::uint8_t* taken,
               std::uint8_t* of_cell) {
  const std::uint32_t number = blockIdx.x * warps + threadIdx.x / 32;
  if (number >= count) return;
  const DomainCell cell = cells[number];
  const auto lane = static_cast<std::int32_t>(threadIdx.x % 32);
  std::uint32_t all = 0;
  for (std::int32_t leaf = lane; leaf < cell.leaves; leaf += 32) all += active[cell.first_leaf + leaf];
  const bool is_taken = TreeRenewal::takes(cell.count, __reduce_add_sync(~0u, all));
  if (lane == 0) taken[number] = is_taken ? 1 : 0;
  if (!is_taken) return;
  for (std::int32_t leaf = lane; leaf < cell.leaves; leaf += 32) of_cell[cell.first_leaf + leaf] = 1;
}

/// The leaves whose trees are cut anew, in any order. Device memory.
struct RenewedLeaves {
  struct Leaf {
    std::uint32_t number;
    bool is_of_cell;  ///< its domain cell has been cut
  };
  Leaf* leaves;
  std::uint32_t* count;
};

__global__ void __launch_bounds__(threads)
    list_renewed(const LeafPlaces* leaves, std::uint32_t count, const std::uint32_t* active,
                 const std::uint8_t* of_cell, const RenewedLeaves renewed) {
  const std::uint32_t leaf = blockIdx.x * threads + threadIdx.x;
  if (leaf >= count) return;
  const bool is_of_cell = of_cell && of_cell[leaf] != 0;
  if (!is_of_cell && !TreeRenewal::takes(leaves[leaf].count, active[leaf])) return;
  renewed.leaves[atomicAdd(renewed.count, 1u)] = {leaf, is_of_cell};
}

/// Records of the particles of domain cells that are taken. Blocks along y share a cell.
__global__ void __launch_bounds__(recut_threads)
    make_records(const DomainCell* cells, const std::uint8_t* taken,
                 const __grid_constant__ RenewedParticles particles, Record* records) {
  if (!taken[blockIdx.x]) return;
  const DomainCell cell = cells[blockIdx.x];
  const std::uint32_t step = gridDim.y * recut_threads;
  for (std::uint32_t k = blockIdx.y * recut_threads + threadIdx.x; k < cell.count; k += step) {
    const std::uint64_t i = cell.first + k;
    const IntegerPosition c = particles.box.coordinates(particles.position[i]);
    records[i] = {c.x, c.y, c.z, static_cast<std::uint32_t>(i)};
  }
}

/// A block per cut of a level. from: of this level; to (out): of the next one; order (out): of the particles
/// in leaves.
__global__ void __launch_bounds__(recut_threads)
    recut_level(const DomainCell* cells, const std::uint8_t* taken, const DeviceDomainCells::CutOfCell* cuts,
                const ParticleId* ids, const Record* from, Record* to, std::uint32_t* order) {
  __shared__ RecutMemory memory;
  const auto [cut, number] = cuts[blockIdx.x];
  if (!taken[number]) return;
  const std::uint64_t first = cells[number].first + cut.first;
  CountedDivision(memory, ids, from + first, cut.count)
      .divide(cut.left, [&](int side, std::uint32_t place, const Record& record) {
        if (side == 0 ? cut.left_is_leaf : cut.right_is_leaf)
          order[first + place] = record.index;
        else
          to[first + place] = record;
      });
}

/// Cuts the domain cells that are taken. order (out): of their particles.
void recut_cells(const DeviceDomainCells& cells, const std::uint8_t* taken, const RenewedParticles& particles,
                 std::uint32_t* order) {
  const DeviceArray<Record> even(particles.count), odd(particles.count);
  const auto count = static_cast<unsigned>(cells.cells().size());
  make_records<<<dim3(count, std::max(1u, renewal_blocks / count)), recut_threads, 0, stream()>>>(
      cells.cells().data(), taken, particles, even.data());
  const std::span<const std::uint32_t> begin = cells.level_begin();
  for (std::size_t level = 0; level + 1 < begin.size(); ++level)
    recut_level<<<begin[level + 1] - begin[level], recut_threads, 0, stream()>>>(
        cells.cells().data(), taken, cells.cuts().data() + begin[level], particles.id,
        (level % 2 == 0 ? even : odd).data(), (level % 2 == 0 ? odd : even).data(), order);
  launched("Grove::cuda::recut_cells", 0, static_cast<int>(begin.size()));
}

/// A leaf of the particles. before: the order that these are in now, of all; null: that of their numbers.
struct ParticlesOfLeaf {
  const RenewedParticles& all;
  std::uint64_t first;
  const std::uint32_t* before;

  __device__ IntegerPosition coordinates(int i) const { return all.box.coordinates(all.position[index(i)]); }
  __device__ std::uint32_t index(int i) const {
    return before ? before[first + static_cast<std::uint64_t>(i)] : static_cast<std::uint32_t>(first) + i;
  }
  __device__ ParticleId id(int i) const { return all.id[index(i)]; }
};

/// before: the order of particles in domain cells that have been cut; order (out): of the particles of
/// renewed leaves.
template <int items>
__global__ void __launch_bounds__(renewal_threads)
    cut_active(const LeafPlaces* leaves, const RenewedLeaves renewed,
               const __grid_constant__ RenewedParticles particles, const GroupCuts rule,
               const std::uint32_t* before, std::uint32_t* order, NodeLinks* links) {
  extern __shared__ __align__(16) std::byte memory[];
  for (std::uint32_t k = blockIdx.x; k < *renewed.count; k += gridDim.x) {
    const auto [number, is_of_cell] = renewed.leaves[k];
    const LeafPlaces leaf = leaves[number];
    __syncthreads();  // the memory is free
    LeafBisection<renewal_threads, items, ParticlesOfLeaf>(
        *reinterpret_cast<CutMemory<renewal_threads, items>*>(memory),
        {particles, leaf.first, is_of_cell ? before : nullptr}, leaf.count, rule, order + leaf.first,
        links + leaf.node)
        .run();
  }
}

/// A field as units of 1, 4 or 8 bytes, and a copy of it.
struct FieldUnits {
  std::byte *values, *copy;
  std::uint32_t size, of_element;
};
struct SomeFields {
  FieldUnits field[most_fields];
  int count = 0;
};

FieldUnits units_of(const FieldBytes& field, std::byte* copy) {
  const std::size_t size = field.element_size % 8 == 0 ? 8 : field.element_size % 4 == 0 ? 4 : 1;
  return {field.values, copy, static_cast<std::uint32_t>(size),
          static_cast<std::uint32_t>(field.element_size / size)};
}

template <class Unit>
__device__ void put_in_order(const FieldUnits& field, const LeafPlaces& leaf, const std::uint32_t* order) {
  const std::uint32_t units = static_cast<std::uint32_t>(leaf.count) * field.of_element;
  for (std::uint32_t u = threadIdx.x; u < units; u += renewal_threads) {
    const std::uint32_t i = u / field.of_element, unit = u % field.of_element;
    reinterpret_cast<Unit*>(field.copy)[leaf.first * field.of_element + u] = reinterpret_cast<const Unit*>(
        field.values)[std::uint64_t{order[leaf.first + i]} * field.of_element + unit];
  }
}
template <class Unit>
__device__ void put_back(const FieldUnits& field, const LeafPlaces& leaf) {
  const std::uint64_t begin = leaf.first * field.of_element,
                      units = static_cast<std::uint64_t>(leaf.count) * field.of_element;
  for (std::uint64_t u = threadIdx.x; u < units; u += renewal_threads)
    reinterpret_cast<Unit*>(field.values)[begin + u] = reinterpret_cast<const Unit*>(field.copy)[begin + u];
}

/// Copies what the particles of renewed leaves will have, or brings that back once all is copied.
template <bool is_back>
__global__ void __launch_bounds__(renewal_threads)
    move_renewed(const LeafPlaces* leaves, const RenewedLeaves renewed, const std::uint32_t* order,
                 const __grid_constant__ SomeFields fields) {
  for (std::uint32_t k = blockIdx.x; k < *renewed.count; k += gridDim.x) {
    const LeafPlaces leaf = leaves[renewed.leaves[k].number];
    for (int f = 0; f < fields.count; ++f) {
      const FieldUnits& field = fields.field[f];
      const auto move = [&](auto unit) {
        using Unit = decltype(unit);
        if constexpr (is_back)
          put_back<Unit>(field, leaf);
        else
          put_in_order<Unit>(field, leaf, order);
      };
      if (field.size == 8)
        move(std::uint64_t{});
      else if (field.size == 4)
        move(std::uint32_t{});
      else
        move(std::uint8_t{});
    }
  }
}

/// As many fields at once as the copy has room for.
void arrange_renewed(const DeviceArray<LeafPlaces>& leaves, std::size_t particles,
                     std::span<const FieldBytes> fields, const RenewedLeaves& renewed,
                     const std::uint32_t* order) {
  std::size_t room = 2 * sizeof(Record);  // as much as the records had
  for (const FieldBytes& field : fields) room = std::max(room, field.element_size);
  const DeviceArray<std::uint64_t> copy((room * particles + 7) / 8 + most_fields);
  const unsigned blocks = std::min(renewal_blocks, static_cast<unsigned>(leaves.size()));
  for (std::size_t next = 0; next < fields.size();) {
    SomeFields some;
    std::size_t used = 0;
    for (std::size_t bytes = 0; next < fields.size() && bytes + fields[next].element_size <= room; ++next) {
      bytes += fields[next].element_size;
      some.field[some.count++] = units_of(fields[next], reinterpret_cast<std::byte*>(copy.data() + used));
      used += (fields[next].element_size * particles + 7) / 8;
    }
    move_renewed<false><<<blocks, renewal_threads, 0, stream()>>>(leaves.data(), renewed, order, some);
    move_renewed<true><<<blocks, renewal_threads, 0, stream()>>>(leaves.data(), renewed, order, some);
    launched("Grove::cuda::arrange_renewed", 0, 2);
  }
}

}  // namespace

DeviceDomainCells::DeviceDomainCells(const DomainCellsView& host)
    : cells_(std::span(host.cells, host.count)) {
  std::vector<CutOfCell> cuts;
  for (std::uint32_t c = 0; c < host.count; ++c)
    for (std::uint32_t i = 0; i < host.cells[c].cuts; ++i)
      cuts.push_back({host.cuts[host.cells[c].first_cut + i], c});
  std::stable_sort(cuts.begin(), cuts.end(),
                   [](const CutOfCell& a, const CutOfCell& b) { return a.cut.depth < b.cut.depth; });
  for (std::uint32_t i = 0; i < cuts.size(); ++i)
    if (i == 0 || cuts[i].cut.depth != cuts[i - 1].cut.depth) level_begin_.push_back(i);
  level_begin_.push_back(static_cast<std::uint32_t>(cuts.size()));
  cuts_ = DeviceArray<CutOfCell>{std::span<const CutOfCell>(cuts)};
}

void renew_trees(const DeviceArray<LeafPlaces>& leaves, std::int32_t largest, const DeviceDomainCells& cells,
                 const RenewedParticles& particles, std::span<const FieldBytes> fields, NodeLinks* links,
                 const GroupCuts& rule) {
  if (largest == 0) return;
  if (fields.size() > most_fields) throw std::logic_error("renew_trees: more fields than it takes");
  const auto count = static_cast<std::uint32_t>(leaves.size()),
             domain_cells = static_cast<std::uint32_t>(cells.cells().size());
  const DeviceArray<std::uint32_t> active(count), numbers(1);
  const DeviceArray<RenewedLeaves::Leaf> list(count);
  DeviceArray<std::uint8_t> taken(domain_cells), of_cell(domain_cells > 0 ? count : 0);
  const RenewedLeaves renewed{list.data(), numbers.data()};
  device_clear(renewed.count, sizeof(std::uint32_t));
  count_active<<<count, threads, 0, stream()>>>(leaves.data(), particles.rung, particles.first_active,
                                                active.data());
  if (domain_cells > 0) {
    of_cell.clear();
    take_cells<<<blocks_for(domain_cells, warps), threads, 0, stream()>>>(
        cells.cells().data(), domain_cells, active.data(), taken.data(), of_cell.data());
  }
  list_renewed<<<blocks_for(count), threads, 0, stream()>>>(
      leaves.data(), count, active.data(), domain_cells > 0 ? of_cell.data() : nullptr, renewed);
  launched("Grove::cuda::list_renewed", 0, domain_cells > 0 ? 3 : 2);
  const DeviceArray<std::uint32_t> order(particles.count);
  {
    const DeviceArray<std::uint32_t> before(domain_cells > 0 ? particles.count : 0);
    if (domain_cells > 0) recut_cells(cells, taken.data(), particles, before.data());
    with_items<renewal_threads>(largest, [&](auto per_thread) {
      constexpr int items = decltype(per_thread)::value;
      allow_cut_memory<renewal_threads, items>(cut_active<items>);
      cut_active<items>
          <<<std::min(renewal_blocks, count), renewal_threads, sizeof(CutMemory<renewal_threads, items>),
             stream()>>>(leaves.data(), renewed, particles, rule, before.data(), order.data(), links);
    });
    launched("Grove::cuda::cut_active");
  }
  arrange_renewed(leaves, particles.count, fields, renewed, order.data());
}

}  // namespace grove::cuda
