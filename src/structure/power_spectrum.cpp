#include "structure/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/errors.hpp"
#include "comm/exact_sum.hpp"

namespace grove {
namespace {

struct Shells {
  int first, last;  ///< mode numbers, rounded; last: behind it
};

/// Which shells a mesh of this fold has.
Shells shells_of(const PowerOptions& options, int fold) {
  const int nyquist = (options.mesh + 1) / 2;
  return {fold == 0 ? 1 : options.mesh / 8, fold == options.folds ? nyquist : options.mesh / 4};
}

}  // namespace

double PowerBin::error() const { return power / std::sqrt(0.5 * static_cast<double>(modes)); }

std::vector<PowerBin> power_spectrum(const Communicator& comm, std::span<const Vec3d> position,
                                     std::span<const double> mass, const PowerOptions& options,
                                     const PowerEstimator& estimator) {
  const Count particles = std::max<Count>(1, comm.sum(static_cast<Count>(mass.size())));
  const auto masses = [&](const auto& add) {
    for (const double m : mass) add(0, m), add(1, m * m);
  };
  const auto sums = exact_sums_of(comm, masses, 2, particles);
  if (!(sums[0] > 0)) throw Agreed<InputError>("a power spectrum of particles without mass is not defined");
  const double volume = std::pow(options.box, 3), shot_noise = volume * sums[1] / (sums[0] * sums[0]);
  std::vector<PowerBin> bins;
  for (int fold = 0; fold <= options.folds; ++fold) {
    const auto [first, last] = shells_of(options, fold);
    if (last <= first) continue;
    const MassMesh mass_mesh{options.assignment, options.box, 1 << fold, sums[0]};
    const PowerMesh mesh{mass_mesh, options.mesh, options.interlaced, first, last};
    const double fundamental = 2 * std::numbers::pi / options.box * (1 << fold);
    for (const ShellTotals& shell : estimator.totals(comm, position, mass, mesh)) {
      if (shell.modes == 0) continue;
      const auto mean = [&](const WideSum& sum) { return sum.value() / static_cast<double>(shell.modes); };
      bins.push_back({fundamental * mean(shell.wavenumber), shell.modes, volume * mean(shell.power),
                      shot_noise * mean(shell.noise)});
    }
  }
  return bins;
}

}  // namespace grove
