#include "structure/power_spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/errors.hpp"
#include "comm/exact_sum.hpp"
#include "structure/gaussian_field.hpp"

namespace grove {
namespace {

/// The factors by which the assignment changes a mode, along one axis, by its number.
struct AxisResponse {
  std::vector<double> window;       ///< square of the cloud's transform
  std::vector<double> images;       ///< the sum of these over all images beyond Nyquist's frequency
  std::vector<double> alternating;  ///< the same with alternating signs

  AxisResponse(Assignment assignment, int points) {
    for (int m = 0; m <= points / 2; ++m) {
      const double angle = std::numbers::pi * m / points, c = std::cos(angle),
                   s2 = std::pow(std::sin(angle), 2);
      const double sinc = m == 0 ? 1 : std::sin(angle) / angle, c2 = c * c;
      window.push_back(std::pow(sinc, 2 * points_of(assignment)));
      // Sums over n of sin(x)^2p / (x + n pi)^2p and of (-1)^n times that, from derivatives of cot x and 1 /
      // sin x.
      const bool cic = assignment == Assignment::cic;
      images.push_back(cic ? 1 - 2. / 3 * s2 : 1 - s2 + 2. / 15 * s2 * s2);
      alternating.push_back(cic ? c * (5 + c2) / 6 : c * (61 + c2 * (58 + c2)) / 120);
    }
  }
};

/// Modes of the density contrast, times the number of points; not corrected.
Array<Complex> modes_of(const MeshTransform& transform, std::span<const Vec3d> position,
                        std::span<const double> mass, MassMesh mesh, bool interlaced) {
  Array<Complex> modes = transform.forward(density_mesh(transform, position, mass, mesh));
  if (!interlaced) return modes;
  mesh.offset = 0.5;
  const Array<Complex> shifted = transform.forward(density_mesh(transform, position, mass, mesh));
  const MeshPart& part = transform.part();
  const int least = -2 * ((part.points - 1) / 2), last = 3 * (part.points / 2);  // of the sum of mode numbers
  std::vector<Complex> turns;
  for (int sum = least; sum <= last; ++sum)
    turns.push_back(std::polar(0.5, -std::numbers::pi * sum / part.points));
  part.for_each_mode([&](const Mode& mode, std::size_t i) {
    const Complex turn = turns[static_cast<std::size_t>(mode.x + mode.y + mode.z - least)];
    modes[i] = 0.5 * modes[i] + turn * shifted[i];
  });
  return modes;
}

struct Shells {
  int first, last;  ///< mode numbers, rounded; last: behind it
};

/// Which shells a mesh of this fold has.
Shells shells_of(const PowerOptions& options, int fold) {
  const int nyquist = (options.mesh + 1) / 2;
  return {fold == 0 ? 1 : options.mesh / 8, fold == options.folds ? nyquist : options.mesh / 4};
}

enum { wavenumbers, powers, noises, quantities };

void add_shells(const MeshTransform& transform, const Array<Complex>& modes, const PowerOptions& options,
                int fold, double shot_noise, std::vector<PowerBin>& bins) {
  const Shells shells = shells_of(options, fold);
  if (shells.last <= shells.first) return;
  const MeshPart& part = transform.part();
  const AxisResponse response(options.assignment, part.points);
  const double points = std::pow(part.points, 3), volume = std::pow(options.box, 3);
  const auto count = static_cast<std::size_t>(shells.last - shells.first);
  std::vector<Count> counts(count, 0);
  const auto for_each = [&](const auto& visit) {
    part.for_each_mode([&](const Mode& mode, std::size_t i) {
      const double size = std::sqrt(static_cast<double>(mode.square()));
      const int shell = static_cast<int>(size + 0.5);
      if (shell < shells.first || shell >= shells.last || is_nyquist(part, mode)) return;
      visit(mode, i, size, static_cast<std::size_t>(shell - shells.first));
    });
  };
  const auto terms = [&](const auto& add) {
    for_each([&](const Mode& mode, std::size_t i, double size, std::size_t shell) {
      const auto product = [&](const std::vector<double>& f) {
        return f[static_cast<std::size_t>(std::abs(mode.x))] * f[static_cast<std::size_t>(std::abs(mode.y))] *
               f[static_cast<std::size_t>(mode.z)];
      };
      const double window = product(response.window), images = product(response.images);
      const double seen = options.interlaced ? 0.5 * (images + product(response.alternating)) : images;
      const double copies = part.copies(mode);
      add(shell * quantities + wavenumbers, copies * size);
      add(shell * quantities + powers, copies * std::norm(modes[i] / points) / window);
      add(shell * quantities + noises, copies * seen / window);
    });
  };
  for_each(
      [&](const Mode& mode, std::size_t, double, std::size_t shell) { counts[shell] += part.copies(mode); });
  const Communicator& comm = transform.comm();
  comm.sum(std::span<Count>(counts));
  const std::vector<double> sums = exact_sums_of(comm, terms, count * quantities, static_cast<Count>(points));
  const double fundamental = 2 * std::numbers::pi / options.box * (1 << fold);
  for (std::size_t shell = 0; shell < count; ++shell) {
    if (counts[shell] == 0) continue;
    const auto mean = [&](int quantity) {
      return sums[shell * quantities + static_cast<std::size_t>(quantity)] /
             static_cast<double>(counts[shell]);
    };
    bins.push_back(
        {fundamental * mean(wavenumbers), counts[shell], volume * mean(powers), shot_noise * mean(noises)});
  }
}

}  // namespace

double PowerBin::error() const { return power / std::sqrt(0.5 * static_cast<double>(modes)); }

std::vector<PowerBin> power_spectrum(const Communicator& comm, std::span<const Vec3d> position,
                                     std::span<const double> mass, const PowerOptions& options) {
  const Count particles = std::max<Count>(1, comm.sum(static_cast<Count>(mass.size())));
  const auto masses = [&](const auto& add) {
    for (const double m : mass) add(0, m), add(1, m * m);
  };
  const auto sums = exact_sums_of(comm, masses, 2, particles);
  if (!(sums[0] > 0)) throw Agreed<InputError>("a power spectrum of particles without mass is not defined");
  const double shot_noise = std::pow(options.box, 3) * sums[1] / (sums[0] * sums[0]);
  const MeshTransform transform(comm, options.mesh);
  std::vector<PowerBin> bins;
  for (int fold = 0; fold <= options.folds; ++fold) {
    const MassMesh mesh{options.assignment, options.box, 1 << fold, 0, sums[0]};
    add_shells(transform, modes_of(transform, position, mass, mesh, options.interlaced), options, fold,
               shot_noise, bins);
  }
  return bins;
}

}  // namespace grove
