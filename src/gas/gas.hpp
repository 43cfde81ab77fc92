#pragma once

#include <cstddef>
#include <string>

#include "base/box.hpp"
#include "comm/communicator.hpp"
#include "decomposition/domain.hpp"
#include "kernels/math/block_steps.hpp"
#include "kernels/math/gas.hpp"
#include "kernels/math/gas_fields.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The gas of this rank, in the memory of the host or of a GPU: particles of type 0 that have internal
/// energies. Every bit of its forces is the same for any number of ranks.
class Gas {
 public:
  virtual ~Gas() = default;
  Gas(const Gas&) = delete;
  Gas& operator=(const Gas&) = delete;

  const GasParameters& parameters() const { return parameters_; }

  /// Finds H, density, pressure and the rates of change of the active particles, on rungs of at least
  /// first_active, and adds the hydrodynamical acceleration to `acceleration`, in which there is gravity's.
  /// Particles are in tree order; velocities and energies are those of the middle of the step in which they
  /// are. Returns how many of this rank have no finite rates.
  ///
  /// Collective. InputError on all ranks if a particle has too few neighbours anywhere. Cost: two searches of
  /// neighbours, O(N / P), and some hundred pairs for each active particle.
  virtual Count evaluate(const Domain& domain, int first_active, const GasMoment& now) = 0;

  /// Gives active particles whose step is longer than signals allow a shorter one, and neighbours of
  /// particles with a shorter step one that is four times as long at most. rule: by which rungs have been
  /// chosen; only block steps have rungs to choose. inside: of the present, when active particles are
  /// synchronised. Returns how many particles of this rank, gas or not, are on which rung.
  ///
  /// Collective. Where some step is so short: a search of neighbours, and walks of those with new rungs.
  virtual RungCounts limit_rungs(const Domain& domain, const StepRule& rule, int first_active,
                                 const InsideSteps& inside) = 0;

 protected:
  explicit Gas(const GasParameters& parameters) : parameters_(parameters) {}

 private:
  GasParameters parameters_;
};

/// A search within more than this finds images that are not the nearest, or all there is several times.
inline double largest_search(const Images& images, const Box& box) {
  return images.are_open() ? 4 * box.edge : images.edge / 2;
}
/// What is wrong with a particle for which that does not do.
std::string fault_of_neighbours(ParticleId id, const Images& images, SmoothingKernel kernel);

}  // namespace grove
