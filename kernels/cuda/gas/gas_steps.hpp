#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"
#include "kernels/math/gas_fields.hpp"

/// The work of gas on each particle, on a GPU. All pointers are to device memory, arrays of all own
/// particles. Cost of each: one pass over what it names.
namespace grove::cuda {

/// The own particles.
struct GasParticles {
  GasFields fields;
  std::size_t count;
};

/// energy, flow (out): energies and velocities of the present, as GasFields has them.
void predict_gas(const GasParticles& particles, const GasMoment& now, double* energy, FlowSource* flow);

/// is_wanted (out): 1 of active gas, else 0. Returns how many.
Count want_active(const GasParticles& particles, int first_active, std::uint8_t* is_wanted);

/// The first radius of the search of each particle of gas, else 0. leaves: the own ones.
void first_radii(const GasParticles& particles, const FirstRadius& rule, const LeafPlaces* leaves,
                 std::uint32_t leaf_count, double* radius);

/// reach (out): the radii of those that are wanted, 0 of other gas, -1 of all else.
void gathering_reach(const GasParticles& particles, const std::uint8_t* is_wanted, const double* radius,
                     double* reach);

/// Those that are wanted and have no H yet stay wanted. Returns how many.
Count still_wanted(const GasParticles& particles, std::uint8_t* is_wanted);

/// H of gas, -1 of all else.
void symmetric_reach(const GasParticles& particles, double* reach);

/// The first particle whose reach is not below `most`. reach: [count]
std::optional<std::size_t> first_beyond(const double* reach, std::size_t count, double most);

/// How others see the particles; their pressures. energy, flow: predict_gas().
void find_sources(const GasParticles& particles, const GasParameters& gas, const GasSpace& space,
                  const FlowSource* flow, const double* energy, GasSource* sources);

/// The largest sum of speed and sound speed of a particle of gas; 0 if there is none.
double fastest(const GasSource* sources, std::size_t count);

/// GasFields::take() of those that are wanted. Returns how many are not finite.
Count take_rates(const GasParticles& particles, const GasParameters& gas, const GasSpace& space,
                 const std::uint8_t* is_wanted, const GasRates* rates, const GasSource* sources);

/// GasFields::limit_by_signal() of active gas. is_asking (out): 1 of those that have neighbours whose rungs
/// may be too far from theirs, else 0. Returns how many.
Count limit_by_signals(const GasParticles& particles, const GasParameters& gas, const StepRule& rule,
                       int first_active, std::uint8_t* is_asking);

/// Particles whose rung is below the one that they are asked for get that, and ask in turn. Returns how many.
Count shorten_steps(const GasParticles& particles, const InsideSteps& inside, const std::uint32_t* least,
                    std::uint8_t* is_asking);

RungCounts count_rungs(const std::uint8_t* rung, std::size_t count);

}  // namespace grove::cuda
