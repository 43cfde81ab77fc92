#include "kernels/cuda/neighbours/lowest_of_nodes.hpp"

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

constexpr std::uint32_t piece_size = 32;  ///< particles, one after the other
constexpr std::uint8_t highest = 255;

__global__ void __launch_bounds__(threads)
    find_lowest_of_pieces(const double* reach, const std::uint8_t* value, std::size_t particles,
                          std::uint8_t* lowest) {
  const std::size_t begin = (blockIdx.x * std::size_t{threads} + threadIdx.x) * piece_size;
  if (begin >= particles) return;
  std::uint8_t found = highest;
  for (std::size_t i = begin; i < min(begin + piece_size, particles); ++i)
    if (reach[i] >= 0) found = min(found, value[i]);
  lowest[begin / piece_size] = found;
}

/// The first and the last piece may have particles of other nodes, too: the bound may be too low, never too
/// high.
__global__ void __launch_bounds__(threads)
    find_lowest_of_nodes(const NeighbourNode* nodes, std::uint32_t count, const std::uint8_t* of_piece,
                         std::uint8_t* lowest) {
  const std::uint32_t n = blockIdx.x * threads + threadIdx.x;
  if (n >= count) return;
  const std::uint32_t first = nodes[n].first, particles = nodes[n].count;
  std::uint8_t found = 0;
  if (particles > 0 && particles <= most_particles_looked_into) {
    found = highest;
    for (std::uint32_t piece = first / piece_size; piece <= (first + particles - 1) / piece_size; ++piece)
      found = min(found, of_piece[piece]);
  }
  lowest[n] = found;
}

}  // namespace

DeviceArray<std::uint8_t> lowest_of_nodes(const NeighbourTree& tree, const std::uint8_t* value,
                                          std::size_t particles) {
  const std::size_t pieces = (particles + piece_size - 1) / piece_size;
  const DeviceArray<std::uint8_t> of_piece(pieces);
  DeviceArray<std::uint8_t> lowest(tree.node_count);
  if (pieces > 0) {
    find_lowest_of_pieces<<<blocks_for(pieces), threads>>>(tree.reach, value, particles, of_piece.data());
    launched("Grove::cuda::find_lowest_of_pieces", 9 * std::uint64_t{particles});
  }
  if (tree.node_count > 0) {
    find_lowest_of_nodes<<<blocks_for(tree.node_count), threads>>>(tree.nodes, tree.node_count,
                                                                   of_piece.data(), lowest.data());
    launched("Grove::cuda::find_lowest_of_nodes", sizeof(NeighbourNode) * std::uint64_t{tree.node_count});
  }
  return lowest;
}

}  // namespace grove::cuda
