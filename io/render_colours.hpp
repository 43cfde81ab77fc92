#pragma once

#include <array>
#include <cstdint>

namespace grove {

/// Red, green, blue of the screen's colour space (sRGB), 0 to 1.
using Colour = std::array<double, 3>;

/// The colour of a value from 0 (nearly black) to 1 (pale yellow). Lightness rises in proportion to the value
/// and hue turns evenly from blue over magenta and orange to yellow, both in Ottosson's OKLab space (2020, "A
/// perceptual color space for image processing"), so equal steps look equal, also in grey and to the
/// colour-blind.
Colour colour_of(double value);

/// OKLab lightness and the two opponent coordinates of a colour.
std::array<double, 3> oklab_of(const Colour& colour);

}  // namespace grove
