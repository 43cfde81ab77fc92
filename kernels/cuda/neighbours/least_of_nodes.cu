#include "kernels/cuda/neighbours/least_of_nodes.hpp"

#include "kernels/cuda/device/check.cuh"
#include "kernels/cuda/device/launch.cuh"

namespace grove::cuda {
namespace {

constexpr std::uint32_t particles_of_piece = 32;   ///< particles, one after the other
constexpr std::uint32_t most_pieces_of_node = 64;  ///< that the particles of a node fill

__global__ void __launch_bounds__(threads)
    find_least_of_pieces(const std::uint8_t* number, std::size_t particles, std::uint8_t* least) {
  const std::size_t begin = (blockIdx.x * std::size_t{threads} + threadIdx.x) * particles_of_piece;
  if (begin >= particles) return;
  const std::size_t end = min(begin + particles_of_piece, particles);
  std::uint8_t found = number[begin];
  for (std::size_t i = begin + 1; i < end; ++i) found = min(found, number[i]);
  least[begin / particles_of_piece] = found;
}

__global__ void __launch_bounds__(threads)
    find_least_of_nodes(const NeighbourNode* nodes, std::uint32_t count, const std::uint8_t* of_piece,
                        std::uint8_t* least) {
  const std::uint32_t n = blockIdx.x * threads + threadIdx.x;
  if (n >= count) return;
  const std::uint32_t first = nodes[n].first, particles = nodes[n].count;
  std::uint8_t found = 0;
  if (particles > 0 && particles <= particles_of_piece * most_pieces_of_node) {
    found = of_piece[first / particles_of_piece];
    for (std::uint32_t i = first / particles_of_piece + 1; i <= (first + particles - 1) / particles_of_piece;
         ++i)
      found = min(found, of_piece[i]);
  }
  least[n] = found;
}

}  // namespace

DeviceArray<std::uint8_t> least_of_nodes(const NeighbourTree& tree, const std::uint8_t* number,
                                         std::size_t particles) {
  const std::size_t pieces = (particles + particles_of_piece - 1) / particles_of_piece;
  const DeviceArray<std::uint8_t> of_piece(pieces);
  DeviceArray<std::uint8_t> least(tree.node_count);
  if (particles == 0 || tree.node_count == 0) return least;
  find_least_of_pieces<<<blocks_for(pieces), threads>>>(number, particles, of_piece.data());
  launched("Grove::cuda::find_least_of_pieces", particles);
  find_least_of_nodes<<<blocks_for(tree.node_count), threads>>>(tree.nodes, tree.node_count, of_piece.data(),
                                                                least.data());
  launched("Grove::cuda::find_least_of_nodes", sizeof(NeighbourNode) * std::uint64_t{tree.node_count});
  return least;
}

}  // namespace grove::cuda
