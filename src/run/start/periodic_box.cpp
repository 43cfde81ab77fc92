#include "periodic_box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/errors.hpp"
#include "comm/exact_sum.hpp"
#include "cosmology/expansion.hpp"

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

double omega_matter_in(const Communicator& comm, const Particles& particles, double edge,
                       const Parameters& parameters) {
  const Count count = comm.sum(static_cast<Count>(particles.size()));
  const double mass =
      exact_sums(comm, std::span<const double>(particles.mass), 1, std::max<Count>(1, count))[0];
  const double matter = matter_density(*parameters.universe, parameters.units.gravitational_constant);
  return parameters.universe->omega_matter * (mass / (edge * edge * edge) / matter);
}

bool is_same_density(double omega_matter_found, double omega_matter) {
  return std::abs(omega_matter_found / omega_matter - 1) < 0.01;
}

void require_mean_density(const Communicator& comm, const Parameters& parameters, const Particles& particles,
                          const std::string& source) {
  if (!parameters.universe || !parameters.gravity.self_gravity) return;
  const double found = omega_matter_in(comm, particles, *parameters.box.size, parameters),
               given = parameters.universe->omega_matter;
  if (!is_same_density(found, given))
    throw Agreed<InputError>(fmt::format(
        "{}: the particles in the box have the mean density of cosmology.omega_matter {:.4g}, but {:.4g} is "
        "given, with which space would not expand as they let it: either the cosmology, the masses or "
        "box.size are another's",
        source, found, given));
}

std::string remark_on_box(const Parameters& parameters, const std::string& file,
                          const SnapshotHeader& header) {
  const bool is_meant = parameters.universe ? header.box_size != Vec3d{} : header.is_periodic;
  if (parameters.box.periodic || !is_meant) return {};
  const double edge = header.box_size.x;
  const bool is_cube = edge > 0 && header.box_size == Vec3d{1, 1, 1} * edge;
  return fmt::format(
      "{}: states a {}box of {}; space is taken to be open{}; for a box that is periodic give box: "
      "{{periodic: true{}}}",
      file, header.is_periodic ? "periodic " : "", parameters.shown.text(edge, dimension::length),
      parameters.universe ? ", as a sphere needs it" : "", is_cube ? "" : ", size: ...");
}

}  // namespace grove
