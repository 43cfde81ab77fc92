#pragma once

#include <optional>

#include "base/box.hpp"
#include "comm/communicator.hpp"
#include "decomposition/decompose.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cell_questions.hpp"
#include "kernels/math/cut_rule.hpp"
#include "particles/particles.hpp"

/// The facts about all particles that the first cut needs.
namespace grove {

/// Collective. Chooses the root cube, the previous one if all particles are in it, else a new one around all,
/// lays cells along these axes, and makes the records of this rank's particles in it. root.low, root.high
/// (out): the tight bounds of all particles. InputError if a position is not finite. Cost: one pass, two for
/// a new cube.
Box take_all(const Communicator& comm, RankParticles& own, const CellAxes& axes,
             const std::optional<Box>& previous, Cell& root);

/// Makes the records of this rank's particles. False: a position is not finite or outside of the box. Cost:
/// one pass.
bool make_records_inside(RankParticles& own, const Box& box);

/// Collective. root.low, root.high (out): what holds the bounds of every rank's particles.
void unite_bounds(const Communicator& comm, CellBounds own, Cell& root);

/// Along which axes the cells of an epoch lie. Rules `middle` and `domains` turn them from epoch to epoch:
/// nodes whose sides are always parallel to the same axes have errors that stay, and add up to a torque
/// (docs/measurements/accuracy.md, "Torques"). Rule `domains`, whose geometric cuts no hash moves, shifts
/// them, too. In a periodic box, which has no torque and a cube's sides itself, they are never turned: boxes
/// around turned nodes are wider (docs/cosmology.md, "Cost").
CellAxes axes_of(const DecompositionParameters& parameters);

/// The rule with its parameter; root.count (in) is the number of particles, root.leaves (out) of the leaves.
/// InputError if there are no particles or fewer than leaves.
CutScheme scheme_of(const DecompositionParameters& parameters, Cell& root);

/// InputError if a rank could not number its cells, of so many leaves on all ranks.
void check_leaves(const DecompositionParameters& parameters, LeafNumber leaves, int ranks);

}  // namespace grove
