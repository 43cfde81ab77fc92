#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/units.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "particles/particles.hpp"

namespace grove {

/// What a picture of the particles shows: the logarithm of their column density in a square. What is unset is
/// chosen from the particles.
struct View {
  int axis = 2;            ///< line of sight: 0, 1, 2 for x, y, z; the next two axes go right and up
  int pixels = 800;        ///< of a side
  std::uint8_t types = 0;  ///< bit t set: type t is shown; 0: stars (types 2 to 4) if there are any, else all
  std::optional<Vec3d> centre;  ///< unset: the middle of the particles
  std::optional<double> width;  ///< of the square; unset: twice what holds 90 % of the particles
  std::optional<std::array<double, 2>> range;  ///< column densities of the dark and the bright end
  double time = 0;                             ///< for the label
  Units units = Units::dimensionless();        ///< of the particles and the time, for the labels
};

/// Draws the particles of all ranks into a PNG file with a scale bar and the time. Collective; InputError on
/// all ranks together if the file cannot be written. Returns the view with everything chosen, to make more
/// pictures of the same kind. The file's bytes do not depend on the number of ranks.
///
/// Each particle is spread over as many pixels as it takes to find a few dozen others. Cost: two integer
/// maps per rank, summed over ranks; smoothing by the master, about 0.3 s for 800 x 800 pixels.
View render_png(const Communicator& comm, const Particles& particles, const View& view,
                const std::string& path);

}  // namespace grove
