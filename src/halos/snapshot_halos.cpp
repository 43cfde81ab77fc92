#include "halos/snapshot_halos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/errors.hpp"
#include "comm/exact_sum.hpp"
#include "cosmology/expansion.hpp"
#include "io/comoving.hpp"
#include "io/snapshot.hpp"
#include "io/snapshot_file.hpp"
#include "io/validate.hpp"

namespace grove {
namespace {

constexpr double eight_pi_over_3 = 8.37758040957278197;

/// Tells all ranks what the master's header says of expanding space.
CatalogueHeader catalogue_header(const Communicator& comm, const SnapshotHeader& from) {
  struct Said {
    bool is_comoving, is_of_swift;
    double h, omega_matter, omega_lambda;
  };
  const Said said = comm.broadcast(Said{!from.comoving.empty(), from.comoving == swift_is_comoving, from.h,
                                        from.omega_matter, from.omega_lambda});
  CatalogueHeader header;
  header.units = from.units;
  header.redshift = from.redshift;
  header.is_comoving = said.is_comoving;
  header.time = said.is_comoving ? scale_factor_of(from.redshift) : from.time;
  header.h = said.h > 0 ? said.h : 1;
  header.omega_matter = said.omega_matter;
  header.omega_lambda = said.omega_lambda;
  header.h_power = said.is_comoving && !said.is_of_swift ? 1 : 0;
  return header;
}

/// Takes away the particles of other types.
void keep_types(const Communicator& comm, Particles& particles, const HaloRequest& options) {
  if (options.types.empty()) return;
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (std::find(options.types.begin(), options.types.end(), int{particles.type[i]}) != options.types.end())
      kept.push_back(static_cast<std::uint32_t>(i));
  particles.reorder(kept);
  if (comm.sum(static_cast<Count>(kept.size())) == 0)
    throw Agreed<InputError>(fmt::format("{}: has no particles of these types", options.snapshot));
}

/// Velocities as catalogues have them, a^2 dx/dt; those of files are sqrt(a) dx/dt, of SWIFT a dx/dt.
void make_canonical_velocities(Particles& particles, const CatalogueHeader& header) {
  if (!header.is_comoving) return;
  const double by = header.h_power > 0 ? momentum_over_gadget(header.time) : momentum_over_swift(header.time);
  for (Vec3d& velocity : particles.velocity) velocity *= by;
}

/// A number as the file has it.
double parsed(const CatalogueHeader& header, const std::string& text, const Dimension& dimension) {
  return number_of_file(text, dimension, header.units, std::pow(header.h, header.h_power));
}

double edge_of_box(const SnapshotHeader& header, const CatalogueHeader& catalogue,
                   const HaloRequest& options) {
  const Vec3d& box = header.box_size;
  const bool is_cube = box.x == box.y && box.x == box.z;
  if (!options.box.empty()) {
    const double edge = parsed(catalogue, options.box, dimension::length);
    if (!(edge >= 0))
      throw InputError(fmt::format("--box-size: {} must be a length, or 0 for open space", options.box));
    if (is_cube && box.x > 0 && edge > 0 && std::abs(edge / box.x - 1) > 1e-6)
      throw InputError(fmt::format(
          "--box-size: {} is not the box of {}, whose edge is {} in its units; give the same, 0 for open "
          "space, or leave it out",
          options.box, options.snapshot, box.x));
    return edge;
  }
  if (!is_cube)
    throw InputError(fmt::format("{}: its box is no cube; --box-size gives an edge, or 0 for open space",
                                 options.snapshot));
  return box.x;
}

/// H, as numbers have it, at the scale factor a; 0: the file does not say it.
double hubble_of(const CatalogueHeader& header, double a) {
  if (!header.is_comoving || !(header.omega_matter > 0) || header.units.is_dimensionless()) return 0;
  const double h = header.h_power > 0 ? 1 : header.h;
  Cosmology cosmology{.omega_matter = header.omega_matter, .omega_lambda = header.omega_lambda};
  cosmology.hubble = 1e7 * h / named_unit("Mpc")->cgs * header.units.cgs(dimension::time);  // 100 km/s/Mpc
  return Expansion(cosmology, std::max(a, 1.0)).hubble(a);
}

/// The critical density at the scale factor a, in comoving volume.
double critical_density(const CatalogueHeader& header, double a) {
  const double hubble = hubble_of(header, a);
  return a * a * a * hubble * hubble / (eight_pi_over_3 * header.units.gravitational_constant);
}

/// The mean distance of these particles: from the box, else from the mean density of the universe. mass: of
/// the particles of all types in the file, also of those that are not linked: they tell how much space there
/// is.
double mean_spacing(const CatalogueHeader& header, const HaloRequest& options, Count count, double mass) {
  if (header.box > 0) return header.box / std::cbrt(static_cast<double>(count));
  const double density = header.omega_matter * critical_density(header, 1);
  if (!(density > 0 && mass > 0))
    throw InputError(fmt::format(
        "{}: states neither a box nor a cosmology, so particles have no mean spacing: {} gives the "
        "linking length",
        options.snapshot, options.length_option));
  return std::cbrt(mass / static_cast<double>(count) / density);
}

double linking_length(const CatalogueHeader& header, const HaloRequest& options, Count count, double mass) {
  const bool is_given = !options.length.empty();
  const double length = is_given ? parsed(header, options.length, dimension::length)
                                 : options.spacings * mean_spacing(header, options, count, mass);
  const std::string name = is_given ? fmt::format("{} {}", options.length_option, options.length)
                                    : fmt::format("--spacings {}", options.spacings);
  if (!(length > 0)) throw InputError(fmt::format("{}: the linking length must be positive", name));
  if (header.box > 0 && !(length < 0.5 * header.box))
    throw InputError(
        fmt::format("{}: the linking length, {:g}, is not less than half the edge of the periodic box, {:g}",
                    name, length, header.box));
  return length;
}

/// count: particles that are linked; mass: of all in the file.
HaloOptions halo_options(const Communicator& comm, const CatalogueHeader& header, const HaloRequest& options,
                         Count count, double mass) {
  HaloOptions halo;
  comm.together([&] {
    halo.length = linking_length(header, options, count, mass);
    const std::string& density = options.critical_density;
    halo.critical_density =
        density.empty() ? critical_density(header, header.time) : parsed(header, density, dimension::density);
    if (!density.empty() && !(halo.critical_density > 0))
      throw InputError(fmt::format("--critical-density {}: must be positive", density));
  });
  halo.least = options.least;
  halo.gravitational_constant = header.units.gravitational_constant;
  halo.scale_factor = header.is_comoving ? header.time : 1;
  halo.images = {header.box};
  return halo;
}

}  // namespace

WrittenHalos write_halos_of(const Communicator& comm, const HaloRequest& request,
                            const FriendFinder& finder) {
  WrittenHalos written;
  Snapshot snapshot =
      read_snapshot(comm, request.snapshot, {.comoving = true, .before_particles = request.before});
  ValidationOptions sound{.source = request.snapshot, .tracer = all_types, .softening = {}};
  validate_values(comm, snapshot.particles, sound);
  validate_ids(comm, snapshot.particles, sound);
  const double mass = exact_sums(comm, snapshot.particles.mass, 1,
                                 comm.sum(static_cast<Count>(snapshot.particles.size())))[0];
  keep_types(comm, snapshot.particles, request);
  written.particles = comm.sum(static_cast<Count>(snapshot.particles.size()));
  written.header = catalogue_header(comm, snapshot.header);
  comm.together([&] { written.header.box = edge_of_box(snapshot.header, written.header, request); });
  make_canonical_velocities(snapshot.particles, written.header);
  written.options = halo_options(comm, written.header, request, written.particles, mass);
  written.found = find_halos(comm, snapshot.particles, written.options, finder);
  written.order = CatalogueOrder::of(comm, written.found.halos);
  write_catalogue(comm, request.output, written.found, written.order, written.header, written.options);
  return written;
}

}  // namespace grove
