#pragma once

#include <cstdint>
#include <vector>

#include "io/render.hpp"

namespace grove {

/// Mass and number of particles per pixel of a square and a margin around it, as integers: their sums over
/// particles and ranks do not depend on the order. Row 0 is at the bottom.
struct PixelMap {
  int pixels = 0;  ///< of a side of the picture
  int margin = 0;  ///< pixels beyond each edge, whose particles are smeared into the picture
  std::vector<std::int64_t> mass, number;  ///< length side()^2; empty but on the master
  double mass_unit = 0;                    ///< mass of one
  static constexpr double number_unit = 1.0 / 65536;

  int side() const { return pixels + 2 * margin; }
};

/// Fills in the types, centre and width of a view. Collective.
View fit_view(const Communicator& comm, const Particles& particles, View view);

/// Adds up all ranks' particles of a fitted view, each shared between its four nearest pixels. Collective;
/// the result is on the master.
PixelMap deposit(const Communicator& comm, const Particles& particles, const View& view);

/// Mass per pixel of the picture, length pixels^2, smoothed adaptively: a source pixel is spread by the
/// narrowest of a series of Gaussians that covers a few dozen particles, blended with the next narrower one.
/// Spreading keeps the mass, but for what leaves the picture. Cost: two blurs per Gaussian, each a few
/// operations per pixel.
std::vector<double> smooth(const PixelMap& map);

}  // namespace grove
