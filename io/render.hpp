#pragma once

#include <optional>
#include <string>

#include "base/display_units.hpp"
#include "comm/communicator.hpp"
#include "io/view.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Labels of a picture, beside those that follow from the view.
struct Caption {
  double time = 0;  ///< in units of the particles
  DisplayUnits shown;
  std::optional<double> redshift{};  ///< where space expands, in place of the time
};

/// True for the fields that render_png() reads.
bool is_drawn(const FieldInfo& info);

/// Draws the particles of all ranks into a PNG file: the logarithm of their column density in a square, from
/// as many sides as the view has axes. Collective; InputError on all ranks together if the view cannot be
/// drawn or the file cannot be written. before: what the picture before showed, or nothing. Returns what this
/// one shows, for the next ones of the same kind. The file's bytes do not depend on the number of ranks.
///
/// Each particle is spread over as many pixels as it takes to find a few dozen others. Cost: two integer maps
/// for each panel and rank, summed over ranks; smoothing, some 0.02 s for a panel of 512 x 512 pixels, panels
/// on ranks of their own; drawing by the master.
Frame render_png(const Communicator& comm, const Particles& particles, const View& view,
                 const Caption& caption, const std::string& path, const Frame& before = {});

/// The frame that render_png() would show. Collective.
Frame measure(const Communicator& comm, const Particles& particles, const View& view,
              const Frame& before = {});

}  // namespace grove
