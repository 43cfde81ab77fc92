#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "io/view.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The axes of a panel, seen along an axis: y is seen along x, so that z goes up wherever it is in the
/// picture.
struct PanelAxes {
  int right, up;
};
constexpr PanelAxes panel_axes(int line_of_sight) {
  return line_of_sight == 2 ? PanelAxes{0, 1} : line_of_sight == 1 ? PanelAxes{0, 2} : PanelAxes{1, 2};
}

/// Mass and number of particles per pixel of a square and a margin around it, as integers: their sums over
/// particles and ranks do not depend on the order. Row 0 is at the bottom.
struct PixelMap {
  /// A side of the map is a multiple of this many pixels.
  static constexpr int granule = 128;
  static constexpr double number_unit = 1.0 / 65536;

  explicit PixelMap(int pixels_of_side);

  int pixels;  ///< of a side of the picture
  int margin;  ///< pixels left of it and below it, whose particles are smeared into it
  int side;    ///< of the map
  std::vector<std::int64_t> mass, number;  ///< length side^2; empty but on the rank that has the result
  double mass_unit = 0;                    ///< mass of one
};

/// Adds up all ranks' particles of a frame, seen along an axis, each shared between its four nearest pixels;
/// in a periodic box all their images on the map, but one of those behind each other. Collective; the result
/// is on rank `root`.
PixelMap deposit(const Communicator& comm, const Particles& particles, const Frame& frame, int line_of_sight,
                 int pixels, int root, const Images& images = {});

/// Mass per pixel of the picture, length pixels^2, smoothed adaptively: a source pixel is spread by the
/// narrowest of a series of Gaussians that covers a few dozen particles, blended with the next narrower one.
/// Spreading keeps the mass, but for what leaves the map. Cost: some 200 operations per pixel; Gaussians
/// wider than two pixels are taken on maps of half the resolution, of a quarter, ...
std::vector<float> smooth(const PixelMap& map);

}  // namespace grove
