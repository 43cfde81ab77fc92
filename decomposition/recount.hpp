#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/domain.hpp"

namespace grove {

/// Something in a decomposition is not as it should be.
struct DecompositionFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A rank's recount of a finished decomposition, from its particles alone; by cell. Counts, weights
/// and bounds are filled in for leaves.
struct Recount {
  explicit Recount(std::size_t cells)
      : count(cells, 0),
        weight(cells, 0),
        left_of_middle(cells, 0),
        first_right(cells, 0),
        low(3 * cells, ~0u),
        high(3 * cells, 0) {}

  std::vector<Count> count, weight;
  std::vector<Count> left_of_middle;
  std::vector<Count> first_right;  ///< weight of the particle that the cut names
  std::vector<Coordinate> low, high;
};

/// Collective. Adds up the ranks' recounts and compares: counts, weights, tight bounds and numbering of all
/// cells; the cut of every cell exactly where the rule says. particles: of all ranks. Throws
/// DecompositionFault that says what is wrong first.
void compare(const Communicator& comm, Recount recount, Count particles,
             const DecompositionParameters& parameters, const Domain& domain);

/// Collective. Throws what the lowest rank has found wrong, on all; empty: nothing.
void agree_on_fault(const Communicator& comm, const std::string& fault);

/// tree_hash(), given the sum of mixed(mixed(id) + leaf) over this rank's particles.
std::uint64_t tree_hash(const Communicator& comm, std::uint64_t leaves_of_ids, const Domain& domain);

}  // namespace grove
