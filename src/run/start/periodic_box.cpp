#include "periodic_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/errors.hpp"

namespace grove {
namespace {

/// By which files round lengths: single precision, with h.
constexpr double same_length = 1e-6;

void require_same_box(const Parameters& parameters, const SnapshotHeader& header) {
  const Vec3d& box = header.box_size;
  if (box == Vec3d{}) return;  // it says none
  const double size = *parameters.box.size;
  for (int axis = 0; axis < 3; ++axis)
    if (!(std::abs(box[axis] - size) <= same_length * size))
      throw InputError(fmt::format(
          "box.size is {}, but {} states a box of {} along {}: the box must be a cube, of the file's size",
          parameters.shown.text(size, dimension::length), header.files[0],
          parameters.shown.text(box[axis], dimension::length), "xyz"[axis]));
}

}  // namespace

void require_periodic_box(const Communicator& comm, const Parameters& parameters, const Particles& particles,
                          const SnapshotHeader* header) {
  comm.together([&] {
    if (header) require_same_box(parameters, *header);
  });
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Vec3d low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};
  for (const Vec3d& p : particles.position)
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], p[axis]);
      high[axis] = std::max(high[axis], p[axis]);
    }
  comm.min(std::span<double>(&low.x, 3));
  comm.max(std::span<double>(&high.x, 3));
  const double size = *parameters.box.size;
  for (int axis = 0; axis < 3; ++axis)
    if (high[axis] - low[axis] > size * (1 + same_length))
      throw Agreed<InputError>(fmt::format(
          "box.size is {}, but the particles reach from {} to {} along {}",
          parameters.shown.text(size, dimension::length), parameters.shown.text(low[axis], dimension::length),
          parameters.shown.text(high[axis], dimension::length), "xyz"[axis]));
}

std::string remark_on_box(const Parameters& parameters, const std::string& file,
                          const SnapshotHeader& header) {
  if (!parameters.universe || parameters.box.periodic || header.box_size == Vec3d{}) return {};
  return fmt::format(
      "{}: states a box of {}; space is taken to be open, as a sphere needs it; for a box that "
      "is periodic give box: {{periodic: true, size: ...}}",
      file, parameters.shown.text(header.box_size.x, dimension::length));
}

}  // namespace grove
