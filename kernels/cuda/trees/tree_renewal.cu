#include "kernels/cuda/trees/tree_renewal.hpp"

#include <stdexcept>

#include "kernels/cuda/device/streams.cuh"
#include "kernels/cuda/trees/leaf_bisection.cuh"
#include "kernels/math/tree_renewal.hpp"

namespace grove::cuda {
namespace {

/// More than where all leaves are cut: few are, and their time is that of one.
constexpr int renewal_threads = 1024;
constexpr std::size_t most_fields = 24;
constexpr int places_per_thread = most_in_leaf / renewal_threads;

/// A leaf of the particles.
struct ParticlesOfLeaf {
  const RenewedParticles& all;
  std::uint64_t first;

  __device__ IntegerPosition coordinates(int i) const { return all.box.coordinates(all.position[index(i)]); }
  __device__ std::uint32_t index(int i) const { return static_cast<std::uint32_t>(first) + i; }
  __device__ ParticleId id(int i) const { return all.id[index(i)]; }
};

/// By all threads of a block.
__device__ bool is_renewed(const LeafPlaces& leaf, const RenewedParticles& particles) {
  Count active = 0;
  for (std::int32_t begin = 0; begin < leaf.count; begin += renewal_threads) {
    const std::int32_t i = begin + static_cast<std::int32_t>(threadIdx.x);
    active +=
        __syncthreads_count(i < leaf.count && particles.rung[leaf.first + static_cast<std::uint64_t>(i)] >=
                                                  particles.first_active);
  }
  return TreeRenewal::takes(leaf.count, active);
}

/// A block per leaf. order (out): of the particles of leaves that are cut; renewed (out): by leaf.
template <int items>
__global__ void __launch_bounds__(renewal_threads)
    cut_active(const LeafPlaces* leaves, const __grid_constant__ RenewedParticles particles,
               const GroupCuts rule, std::uint32_t* order, NodeLinks* links, std::uint8_t* renewed) {
  extern __shared__ __align__(16) std::byte memory[];
  const LeafPlaces leaf = leaves[blockIdx.x];
  const bool is_cut = is_renewed(leaf, particles);
  if (threadIdx.x == 0) renewed[blockIdx.x] = is_cut ? 1 : 0;
  if (!is_cut) return;
  LeafBisection<renewal_threads, items, ParticlesOfLeaf>(
      *reinterpret_cast<CutMemory<renewal_threads, items>*>(memory), {particles, leaf.first}, leaf.count,
      rule, order + leaf.first, links + leaf.node)
      .run();
}

/// A field as units of 1, 4 or 8 bytes.
struct FieldUnits {
  std::byte* values;
  std::uint32_t size, of_element;
};
struct AllFields {
  FieldUnits field[most_fields];
  int count;
};

FieldUnits units_of(const FieldBytes& field) {
  const std::size_t size = field.element_size % 8 == 0 ? 8 : field.element_size % 4 == 0 ? 4 : 1;
  return {field.values, static_cast<std::uint32_t>(size),
          static_cast<std::uint32_t>(field.element_size / size)};
}

/// The places of a leaf that a thread fills, and from where.
struct Moves {
  std::uint64_t first;
  std::int32_t count;
  std::uint32_t from[places_per_thread];

  /// One unit of each element. All is read before any is written.
  template <class Unit>
  __device__ void apply(Unit* values, std::uint32_t of_element, std::uint32_t unit) const {
    Unit moved[places_per_thread];
#pragma unroll
    for (int k = 0; k < places_per_thread; ++k)
      if (place(k) < count) moved[k] = values[std::uint64_t{from[k]} * of_element + unit];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < places_per_thread; ++k)
      if (place(k) < count)
        values[(first + static_cast<std::uint64_t>(place(k))) * of_element + unit] = moved[k];
  }
  __device__ static std::int32_t place(int k) {
    return k * renewal_threads + static_cast<std::int32_t>(threadIdx.x);
  }
};

/// A block per leaf.
__global__ void __launch_bounds__(renewal_threads)
    arrange_renewed(const LeafPlaces* leaves, const std::uint8_t* renewed, const std::uint32_t* order,
                    const __grid_constant__ AllFields fields) {
  if (!renewed[blockIdx.x]) return;
  const LeafPlaces leaf = leaves[blockIdx.x];
  Moves moves{leaf.first, leaf.count, {}};
  for (int k = 0; k < places_per_thread; ++k)
    if (Moves::place(k) < leaf.count)
      moves.from[k] = order[leaf.first + static_cast<std::uint64_t>(Moves::place(k))];
  for (int f = 0; f < fields.count; ++f) {
    const FieldUnits& field = fields.field[f];
    for (std::uint32_t unit = 0; unit < field.of_element; ++unit) {
      if (field.size == 8)
        moves.apply(reinterpret_cast<std::uint64_t*>(field.values), field.of_element, unit);
      else if (field.size == 4)
        moves.apply(reinterpret_cast<std::uint32_t*>(field.values), field.of_element, unit);
      else
        moves.apply(reinterpret_cast<std::uint8_t*>(field.values), field.of_element, unit);
    }
  }
}

}  // namespace

void renew_trees(const DeviceArray<LeafPlaces>& leaves, std::int32_t largest,
                 const RenewedParticles& particles, std::span<const FieldBytes> fields, NodeLinks* links,
                 const GroupCuts& rule) {
  if (largest == 0) return;
  if (fields.size() > most_fields) throw std::logic_error("renew_trees: more fields than it takes");
  AllFields all{{}, 0};
  for (const FieldBytes& field : fields) all.field[all.count++] = units_of(field);
  const DeviceArray<std::uint32_t> order(particles.count);
  const DeviceArray<std::uint8_t> renewed(leaves.size());
  const auto blocks = static_cast<unsigned>(leaves.size());
  with_items<renewal_threads>(largest, [&](auto per_thread) {
    constexpr int items = decltype(per_thread)::value;
    allow_cut_memory<renewal_threads, items>(cut_active<items>);
    cut_active<items><<<blocks, renewal_threads, sizeof(CutMemory<renewal_threads, items>), stream()>>>(
        leaves.data(), particles, rule, order.data(), links, renewed.data());
  });
  arrange_renewed<<<blocks, renewal_threads, 0, stream()>>>(leaves.data(), renewed.data(), order.data(), all);
  launched("Grove::cuda::renew_trees", 0, 2);
}

}  // namespace grove::cuda
