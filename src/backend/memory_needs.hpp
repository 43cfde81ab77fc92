#pragma once

#include "kernels/math/opening.hpp"

/// The memory and disk that particles and nodes of trees take at most. All that predicts memory asks here.
/// Bytes of arrays follow from their types. The rest is what was measured (docs/measurements/cpu.md, "Memory
/// of a run"; docs/measurements/gpu-forces.md).
namespace grove {

/// Nodes of trees. Bisections have 2 for each bucket of 8. A kd-tree that halves nodes of bucket + 1
/// particles has 4 / (bucket + 1). Octrees of uniform, Plummer and Hernquist models have at most 9 / (bucket
/// + 4). Tight clumps that lie far apart may have two or three times as many of either, but never more
/// than 2.
double nodes_per_particle(const GravityParameters& gravity);

/// Memory of the host: fields, trees, and what a decomposition, snapshots and checkpoints take meanwhile, or
/// the search for neighbours in gas.
double host_bytes_per_particle(const GravityParameters& gravity, bool has_gas = false);
/// And what the growth of the tree of one leaf, or the walk from it, takes besides.
double host_bytes_of_leaf(double particles, const GravityParameters& gravity);

/// Memory of a GPU that a step takes: fields, records and trees, and what the search for neighbours in gas
/// takes besides. Where there are several ranks, nearly all particles travel before the first step.
double device_bytes_per_particle(int ranks, const GravityParameters& gravity, bool has_gas = false);

/// A checkpoint: fields and trees.
double checkpoint_bytes_per_particle(const GravityParameters& gravity, bool has_gas = false);

}  // namespace grove
