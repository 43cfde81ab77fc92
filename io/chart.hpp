#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/display_units.hpp"
#include "io/font.hpp"
#include "io/image.hpp"
#include "io/view.hpp"

namespace grove {

/// Column densities of a frame seen along an axis, length pixels^2; row 0 is at the bottom.
struct Panel {
  int line_of_sight;
  std::vector<float> densities;
};

/// A picture before it is drawn.
struct Chart {
  int pixels;  ///< of a panel's side
  std::vector<Panel> panels;
  Frame frame;
  DisplayUnits shown;
  std::string title, particles;
};

/// Panels side by side, each with its axes and line of sight named and ticks at its edges, and a bar with the
/// scale of the colours. Letters grow with the panels, and charts with as many panels of one size are equally
/// large. Without a font there are ticks, but no letters.
Image draw(const Chart& chart, const std::optional<Font>& font);

}  // namespace grove
