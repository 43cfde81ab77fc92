#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/box.hpp"
#include "base/vec3.hpp"

namespace grove {

/// The middle of a picture.
enum class CentreOn : std::uint8_t {
  middle,   ///< of the particles, halfway between two galaxies; it stays until they have left the picture; of
            ///< a periodic box: its own
  mass,     ///< their centre of mass, in each picture
  densest,  ///< the densest place, in each picture
  fixed,    ///< a place that is given
};

/// The contents of pictures of particles, as far as they are asked for; what is unset is chosen from the
/// particles.
struct View {
  std::vector<int> axes{2, 1, 0};  ///< lines of sight of the panels: 0, 1, 2 for x, y, z
  std::int64_t pixels =
      0;  ///< of a panel's side; 0: `single_panel_pixels` of one, `several_panels_pixels` of more
  std::uint8_t types = 0;  ///< bit t set: type t is shown; 0: stars (types 2 to 4) if there are any, else all
  CentreOn centre_on = CentreOn::middle;
  Vec3d centre{};               ///< if it is fixed; length
  std::optional<double> width;  ///< of the panels' squares, length
  std::vector<double> limits;   ///< column densities of the dark and the bright end, mass / length^2, or none
  Images images{};  ///< of the periodic box of the particles, of which pictures show all that are in them

  static constexpr double most_edges = 8;  ///< of a periodic box across a picture
  static constexpr int fewest_pixels = 16, most_pixels = 4096;
  static constexpr int single_panel_pixels = 800, several_panels_pixels = 512;
  int panel_pixels() const {
    if (pixels > 0) return static_cast<int>(pixels);
    return axes.size() > 1 ? several_panels_pixels : single_panel_pixels;
  }
};

/// The square that a picture has shown, for the next one of the same kind. Checkpoints store it as it is in
/// memory.
struct Frame {
  Vec3d centre{};
  double width = 0;                ///< 0: there was no picture yet
  std::array<double, 2> limits{};  ///< equal: not chosen yet
  std::uint64_t types = 0;
};

}  // namespace grove
