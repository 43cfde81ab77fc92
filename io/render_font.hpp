#pragma once

#include <cstdint>
#include <string>

namespace grove {

/// Text in a built-in bitmap font of 5 x 7 pixels and two rows for descenders, enlarged with smooth edges. It
/// has digits, lower-case letters, G, M and . - + = /; other characters are blank. (0, 0) is the upper left
/// corner, y goes down.

/// Width of a text, whose pixels are enlarged by `scale`.
double text_width(const std::string& text, double scale);

/// How much of the picture's pixel with its centre at (x, y) the text covers, 0 to 1.
double text_coverage(const std::string& text, double scale, double x, double y);

}  // namespace grove
