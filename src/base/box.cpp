#include "base/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "base/hash.hpp"

namespace grove {

CellAxes CellAxes::turned(std::uint32_t k) {
  // The entries of these rotations are a half, half the golden ratio and half its reciprocal. Here is half of
  // each.
  constexpr std::int64_t h = one / 4, g = 868675383, r = 331804471;
  switch (k % 5) {
    case 1:
      return {{r, -g, h}, {g, h, r}, {-h, r, g}};
    case 2:
      return {{-g, -h, r}, {h, -r, g}, {-r, g, h}};
    case 3:
      return {{-g, h, -r}, {-h, -r, g}, {r, g, h}};
    case 4:
      return {{r, g, -h}, {-g, h, r}, {h, r, g}};
    default:
      return {};
  }
}

CellAxes CellAxes::shifted(std::uint32_t k, bool turns) {
  CellAxes axes = turns ? turned(k) : CellAxes();
  if (axes == CellAxes())
    for (Vec3<std::int64_t>* const axis : {&axes.x, &axes.y, &axes.z})
      *axis = {axis->x / 2, axis->y / 2, axis->z / 2};
  // Turned and halved, the corners of the cube lie within 0.4046 of its edge of the middle.
  constexpr std::int64_t most = 3 * (std::int64_t{1} << 27);
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint64_t bits = mixed(3 * std::uint64_t{k} + static_cast<std::uint64_t>(axis)) >> 32;
    axes.middle[axis] += static_cast<std::int64_t>(bits * (2 * most) >> 32) - most;
  }
  return axes;
}

Box Box::around(const Vec3d& low, const Vec3d& high) {
  double extent = 0, magnitude = 0;
  for (int axis = 0; axis < 3; ++axis) {
    if (!std::isfinite(low[axis]) || !std::isfinite(high[axis]))
      throw InputError("positions must be finite numbers");
    extent = std::max(extent, high[axis] - low[axis]);
    magnitude = std::max({magnitude, std::abs(low[axis]), std::abs(high[axis])});
  }
  if (magnitude > 1e150)
    throw InputError(
        fmt::format("positions up to {:g} are too large: at most 1e150 in the unit of length", magnitude));

  // A double resolves 2^-52 of its magnitude: a finer cube than 2^-20 of it would have empty integer bits.
  // Points at the origin have no size at all: any cube will do.
  const double least = magnitude == 0 ? 1 : std::max({extent, std::ldexp(magnitude, -20), 1e-150});
  int exponent = std::ilogb(least);
  for (;; ++exponent) {
    Box box{low, std::ldexp(1.0, exponent)};
    const double grid = box.edge / 8;
    bool fits = true;
    for (int axis = 0; axis < 3; ++axis) {
      // Centred on the grid, so that particles can leave the bounds on either side before the cube must
      // change.
      const double centre = 0.5 * low[axis] + 0.5 * high[axis];
      box.low[axis] = std::floor((centre - 0.5 * box.edge) / grid + 0.5) * grid;
      const double margin = box.edge / 64;
      fits = fits && low[axis] - margin >= box.low[axis] && high[axis] + margin < box.low[axis] + box.edge;
    }
    if (fits) return box;
  }
}

}  // namespace grove
