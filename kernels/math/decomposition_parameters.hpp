#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {

/// How the search for a cut narrows the interval of coordinates that holds it; both are exact.
enum class CutMethod : std::uint8_t {
  bisection,  ///< in two, or in K + 1 by K candidates: at most 32 rounds
  histogram,  ///< by a radix digit of 8 to 11 bits: at most 4 rounds
};

/// Which cells all ranks cut together; both give the same tree, bit for bit.
enum class Schedule : std::uint8_t {
  straddling,  ///< those whose share of the work reaches over a rank boundary; the rest each rank cuts alone
  master,      ///< all, level by level: the reference
};

/// How service calls and their answers travel between the ranks; both give the same answers.
enum class Transport : std::uint8_t {
  messages,     ///< point to point along the processor-set tree
  collectives,  ///< MPI_Bcast and MPI_Reduce
};

/// How particles travel between GPUs; all bring the same.
enum class PayloadPath : std::uint8_t {
  nccl,    ///< over the links between GPUs
  mpi,     ///< device memory handed to an MPI that takes it
  staged,  ///< through pinned memory of the host
};

/// The ways to use a GPU that are compared: the published ones, and ours.
enum class GpuSchedule : std::uint8_t {
  a,  ///< the host counts and divides, by bisection
  b,  ///< the GPU counts on a copied axis, one launch per cell; the host divides
  c,  ///< the same with one launch per level
  d,  ///< all on the GPU, by bisection
  e,  ///< all on the GPU, by histogram, cells of one rank without the others
};

/// Choices of the user about the decomposition, and values that a run adds.
struct DecompositionParameters {
  CutRule rule = CutRule::domains;
  Count leaf_size = 0;    ///< particles in a full leaf; 0: from `leaves`, or if that is 0 too, the default
  Count leaves = 0;       ///< wanted number of leaves, used if leaf_size is 0; exact under `halves`
  Count domain_cell = 0;  ///< `domains`: the most particles in a domain cell; 0: the default
  CutMethod method = CutMethod::histogram;
  std::int32_t candidates = 1;  ///< cuts that `bisection` tries at once per cell and round
  Schedule schedule = Schedule::straddling;
  Transport transport = Transport::collectives;
  std::uint32_t epoch = 0;  ///< of cuts: middle_of_epoch(), CellAxes::turned(), shifted()
  double lead = 0;          ///< LedPositions::lead of the cells
  double period = 0;        ///< edge of a periodic box, which is the root cube; 0: space is open
  /// Particles of all ranks by rung: ranks share out the steps of each. None: all have the same steps.
  RungCounts rungs{};
  bool all_cells = true;  ///< every rank gets all cells, or those that it needs to know (KnownCells)
  /// Speeds of the ranks, positive, in any unit: a rank gets as much of the work. Empty: all are alike.
  std::vector<std::uint32_t> speeds{};
  /// The interactions that take as long as what each step does for a particle beside walks; used under
  /// `domains`.
  std::uint32_t particle_cost = 0;
};

}  // namespace grove
