#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/box.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "forest/tree_builder.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/gas.hpp"
#include "neighbours/neighbours.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Where particles are inside of their steps at present, by rung (BlockClock::inside()).
struct InsideSteps {
  RungTable since_middle{};  ///< time since that of the velocity and the energy
  RungTable behind{};        ///< places are this times the acceleration ahead of a parabola, time squared
  bool is_straight = true;   ///< they are; else on it
};

/// The gas of this rank, in the memory of the host: particles of type 0 that have internal energies. Every
/// bit of its forces is the same for any number of ranks.
class Gas {
 public:
  /// particles: in tree order when anything is asked for; shapes: of their trees (HostGravity::shapes()). All
  /// are kept by the caller.
  Gas(const Communicator& comm, const GasParameters& parameters, const Images& images, Particles& particles,
      const TreeShapes& shapes)
      : comm_(comm), parameters_(parameters), images_(images), particles_(particles), shapes_(shapes) {}

  const GasParameters& parameters() const { return parameters_; }

  /// Finds H, density, pressure and the rates of change of the active particles, on rungs of at least
  /// first_active, and adds the hydrodynamical acceleration to `acceleration`, in which there is gravity's.
  /// since_middle: time since the middle of the step in which particles are, by rung; velocities and energies
  /// are those of that middle. Returns how many of this rank have no finite rates.
  ///
  /// Collective. InputError on all ranks if a particle has too few neighbours anywhere. Cost: two searches of
  /// neighbours, O(N / P), and some hundred pairs for each active particle.
  Count evaluate(const Domain& domain, int first_active, const RungTable& since_middle);

  /// Gives active particles whose step is longer than signals allow a shorter one, and neighbours of
  /// particles with a shorter step one that is four times as long at most. rule: by which rungs have been
  /// chosen; only block steps have rungs to choose. inside: of the present, when active particles are
  /// synchronised. Returns how many particles of this rank, gas or not, are on which rung.
  ///
  /// Collective. Where some step is so short: a search of neighbours, and walks of those with new rungs.
  RungCounts limit_rungs(const Domain& domain, const StepRule& rule, int first_active,
                         const InsideSteps& inside);

 private:
  void limit_by_signals(const StepRule& rule, int first_active);
  void limit_by_neighbours(const Domain& domain, int first_active, const InsideSteps& inside);
  void shorten_step(std::size_t i, std::uint8_t rung, const InsideSteps& inside);
  void predict(const RungTable& since_middle);
  void find_densities(const Domain& domain, int first_active);
  Array<double> first_radii(const Domain& domain) const;
  void require_neighbours(const Domain& domain, std::span<const double> radius) const;
  Array<GasSource> sources();
  Count find_rates(const Domain& domain, int first_active);
  bool is_gas(std::size_t i) const { return particles_.type[i] == gas_type; }

  const Communicator& comm_;
  GasParameters parameters_;
  Images images_;
  Particles& particles_;
  const TreeShapes& shapes_;
  Array<Vec3d> velocity_;  ///< [particles] at the present time
  Array<double> energy_;   ///< [particles] the same
};

}  // namespace grove
