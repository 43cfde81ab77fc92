#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/neighbours/neighbour_groups.hpp"
#include "kernels/math/gas_density.hpp"
#include "kernels/math/gas_visitors.hpp"
#include "kernels/math/neighbour_tree.hpp"

/// Walks of gas through its neighbours on a GPU. All pointers are to device memory.
namespace grove::cuda {

/// Finds H, rho and the flow of the particles that are wanted, which search by gathering within
/// DensityFields::radius. Cost: one walk, and some passes over the neighbours of each. Parts of groups
/// with more than 992 possible neighbours get a block each; if there are more than 65536, they are found anew
/// for each pass. Device memory: 256 KiB for each multiprocessor and 8 bytes for each group.
void find_densities(const NeighbourTree& tree, const NeighbourGroups& groups, const std::uint8_t* is_wanted,
                    const DensityFields& fields);

/// fastest: a velocity above 0, of the order of the largest ones, the unit of those in single precision.
/// Cost: one walk. Large parts and memory as above.
void find_rates(const NeighbourTree& tree, const NeighbourGroups& groups, const FindRates& visitor,
                double fastest);

/// Those that ask raise the rung that neighbours have to have at least: AskNeighbours. rung (in), least
/// (in/out): [particles], own and imported. Cost: a pass over particles and nodes, and a walk that skips
/// nodes where all rungs are high enough.
void ask_neighbours(const NeighbourTree& tree, const NeighbourGroups& groups, const std::uint8_t* is_asking,
                    const std::uint8_t* rung, std::size_t particles, std::uint32_t* least);

}  // namespace grove::cuda
