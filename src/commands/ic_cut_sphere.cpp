#include "commands/ic_cut_sphere.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "run/start/periodic_box.hpp"

namespace grove {
namespace {

/// Edge of the box.
double checked_box(const SnapshotHeader& header, const std::string& file, double radius) {
  const Vec3d& box = header.box_size;
  if (!(box.x > 0 && box.x == box.y && box.x == box.z))
    throw InputError(fmt::format("{}: states no cubic box", file));
  if (!(radius <= box.x / 2))
    throw InputError(fmt::format("{}: a radius of {:.6g} is more than half of the box, {:.6g} (kpc)", file,
                                 radius, box.x));
  return box.x;
}

/// Particles of a file fill its box with the matter of the universe.
void check_density(const Communicator& comm, const std::string& file, const Particles& particles, double box,
                   const Parameters& p) {
  const double found = omega_matter_in(comm, particles, box, p);
  if (!is_same_density(found, p.universe->omega_matter))
    throw Agreed<InputError>(
        fmt::format("{}: its particles have the density of omega_matter {:.4g}, but {} is given", file, found,
                    p.universe->omega_matter));
}

}  // namespace

void cut_sphere(const Communicator& comm, const std::string& file, const Parameters& p,
                const std::string& output) {
  const double h = *p.cosmology.h, radius = *p.initial_conditions.cosmological.radius;
  const SnapshotHeader stated = read_snapshot_header(comm, file, {.comoving = true});
  comm.together([&] {
    if (!comm.is_master()) return;
    if (stated.comoving.empty()) throw InputError(fmt::format("{}: is not a file of a comoving box", file));
    constexpr double same = 1e-3;
    if (stated.h > 0 && std::abs(stated.h / h - 1) > same)
      throw InputError(fmt::format("{}: has h = {}, but --hubble or --cosmology says {}", file, stated.h, h));
  });
  Snapshot snapshot = read_snapshot(comm, file, {.convert_to = p.units, .h = h});
  Particles& particles = snapshot.particles;
  validate_values(comm, particles, {.source = file, .tracer = all_types, .softening = {}});
  double box = 0;
  comm.together([&] { box = checked_box(snapshot.header, file, radius); });
  check_density(comm, file, particles, box, p);
  std::vector<std::uint32_t> inside;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    Vec3d& x = particles.position[i];
    for (int axis = 0; axis < 3; ++axis) {
      x[axis] -= 0.5 * box;
      x[axis] -= box * std::round(x[axis] / box);
    }
    if (dot(x, x) <= radius * radius) inside.push_back(static_cast<std::uint32_t>(i));
  }
  particles.reorder(inside);
  const double a = scale_factor_of(snapshot.header.redshift);
  WriteOptions write;
  write.units = p.units;
  write.comoving = ComovingTime{*p.universe, h, a};
  write_snapshot(comm, output, particles, write);
  const Count count = comm.sum(static_cast<Count>(particles.size()));
  if (comm.is_master())
    fmt::print("{}: {} of {} of {}, at redshift {:.6g}\n", output, count,
               how_many(snapshot.header.count(), "particle"), file, snapshot.header.redshift);
}

}  // namespace grove
