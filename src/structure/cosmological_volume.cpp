#include "structure/cosmological_volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/shares.hpp"
#include "comm/exact_sum.hpp"
#include "comm/exchange_plan.hpp"
#include "cosmology/growth.hpp"
#include "structure/displacements.hpp"
#include "structure/glass_sites.hpp"
#include "structure/mesh_reading.hpp"

namespace grove {
namespace {

/// Sites of a lattice, those of a sphere or all.
class Sites {
 public:
  explicit Sites(const CosmologicalVolume& volume)
      : along_(volume.sites),
        box_(volume.box),
        is_box_(!volume.radius),
        // In squares of half a spacing.
        within_(std::pow(2 * volume.radius.value_or(0) / (volume.box / volume.sites), 2)) {}

  bool has(int x, int y, int z) const { return is_box_ || static_cast<double>(square(x, y, z)) <= within_; }

  /// The coordinate of a site on an axis: in the box, or from its middle.
  double place(int number) const {
    const double spacing = box_ / along_;
    return is_box_ ? (number + 0.5) * spacing : 0.5 * (2 * number + 1 - along_) * spacing;
  }

  /// Calls visit(x, y, z) for those with x in [first, last), in the order of their ids.
  template <class Visit>
  void for_each(int first, int last, const Visit& visit) const {
    for (int x = first; x < last; ++x)
      for (int y = 0; y < along_; ++y)
        for (int z = 0; z < along_; ++z)
          if (has(x, y, z)) visit(x, y, z);
  }

  Count count() const {
    if (is_box_) return Count{along_} * along_ * along_;
    Count sum = 0;
    for (int x = 0; x < along_; ++x)
      for (int y = 0; y < along_; ++y) {
        // Those on a line are symmetrical about its middle.
        int first = 0, middle = (along_ + 1) / 2;
        while (first < middle) {
          const int z = (first + middle) / 2;
          has(x, y, z) ? middle = z : first = z + 1;
        }
        sum += std::max(0, along_ - 2 * first);
      }
    return sum;
  }

 private:
  std::int64_t square(int x, int y, int z) const {
    const auto from_middle = [&](int number) { return std::int64_t{2} * number + 1 - along_; };
    const std::int64_t a = from_middle(x), b = from_middle(y), c = from_middle(z);
    return a * a + b * b + c * c;
  }

  int along_;
  double box_;
  bool is_box_;
  double within_;
};

std::size_t index_of(const MeshPart& part, int x, int y, int z) {
  const auto n = static_cast<std::size_t>(part.points);
  return (static_cast<std::size_t>(x - part.planes.first) * n + static_cast<std::size_t>(y)) * n +
         static_cast<std::size_t>(z);
}

/// In [0, box).
double wrapped(double x, double box) {
  const double inside = x - box * std::floor(x / box);
  return inside < box ? inside : 0;
}

/// Modes that the lattice has. In a mesh with more points the others are 0.
Array<Complex> density_of(const MeshPart& part, const CosmologicalVolume& volume,
                          const Expansion& expansion) {
  const LinearSpectrum spectrum(volume.cosmology.omega_matter, volume.spectrum);
  const double growth = power_growth(expansion, volume.redshift);
  Array<Complex> modes = gaussian_field(
      part, [&](double k) { return growth * spectrum(k); },
      volume.box / volume.megaparsec * volume.spectrum.h, volume.noise);
  const auto is_beyond = [&](int number) { return 2 * std::abs(number) >= volume.sites; };
  part.for_each_mode([&](const Mode& mode, std::size_t index) {
    if (is_beyond(mode.x) || is_beyond(mode.y) || is_beyond(mode.z)) modes[index] = 0;
  });
  return modes;
}

/// Sites along an edge of a glass; 0: it is no cube of a whole number.
int edge_of(const std::vector<Vec3d>& glass) {
  const int m = static_cast<int>(std::lround(std::cbrt(static_cast<double>(glass.size()))));
  return static_cast<std::size_t>(m) * static_cast<std::size_t>(m) * static_cast<std::size_t>(m) ==
                 glass.size()
             ? m
             : 0;
}

GlassSites glass_sites(const CosmologicalVolume& v) { return {v.glass, v.sites / edge_of(v.glass)}; }

/// The place of a site of a glass: in the box, or from its middle.
Vec3d place_of(const CosmologicalVolume& v, const Vec3d& site) {
  const double origin = v.radius ? 0.5 : 0;
  return v.box * (site - Vec3d{origin, origin, origin});
}

bool has_site(const CosmologicalVolume& v, const Vec3d& site) {
  return !v.radius || norm(place_of(v, site)) <= *v.radius;
}

/// In spacings of a mesh from the middle of its first cell.
Vec3d spacings(const Vec3d& site, int points) {
  return static_cast<double>(points) * site - Vec3d{0.5, 0.5, 0.5};
}

/// Ids of a glass' particles whose nearest point is on this rank's planes; these follow each other.
std::vector<ParticleId> glass_ids(const MeshPart& part, const CosmologicalVolume& v) {
  const GlassSites sites = glass_sites(v);
  const auto first_behind = [&](int plane) {
    Count low = 0, high = sites.count();
    while (low < high) {
      const Count middle = low + (high - low) / 2;
      const double u = spacings(sites.place(middle), part.points).x;
      std::floor(u + 0.5) < plane ? low = middle + 1 : high = middle;
    }
    return low;
  };
  std::vector<ParticleId> ids;
  if (part.planes.count() == 0) return ids;
  const Count last = first_behind(part.planes.last);
  for (Count i = first_behind(part.planes.first); i < last; ++i)
    if (has_site(v, sites.place(i))) ids.push_back(static_cast<ParticleId>(i) + 1);
  return ids;
}

/// Positions and momenta of a glass' particles along one axis.
void displace_glass(Particles& particles, const MeshTransform& transform, int axis,
                    const CosmologicalVolume& v, Array<double> shift, Array<double> momentum) {
  const GlassSites sites = glass_sites(v);
  const MeshReading shifts(transform, std::move(shift)), momenta(transform, std::move(momentum));
  for (std::size_t i = 0; i < particles.id.size(); ++i) {
    const Vec3d site = sites.place(static_cast<Count>(particles.id[i] - 1));
    const Vec3d u = spacings(site, transform.part().points);
    const double place = place_of(v, site)[axis] + shifts.at(u);
    particles.position[i][axis] = v.radius ? place : wrapped(place, v.box);
    particles.velocity[i][axis] = momenta.at(u);
  }
}

/// Positions and momenta along one axis.
void displace(Particles& particles, const MeshPart& part, const Sites& sites, int axis,
              const CosmologicalVolume& volume, const Array<double>& shift, const Array<double>& momentum) {
  std::size_t i = 0;
  sites.for_each(part.planes.first, part.planes.last, [&](int x, int y, int z) {
    const std::size_t site = index_of(part, x, y, z);
    const double place = sites.place(axis == 0 ? x : axis == 1 ? y : z) + shift[site];
    particles.position[i][axis] = volume.radius ? place : wrapped(place, volume.box);
    particles.velocity[i++][axis] = momentum[site];
  });
}

/// Displacements along an axis, and momenta.
std::pair<Array<double>, Array<double>> motion(const Displacements& displacements, int axis,
                                               const CosmologicalVolume& volume, const Expansion& expansion) {
  const double a = scale_factor_of(volume.redshift), rate = a * a * expansion.hubble(a);
  const Growth growth = growth_at(expansion, a);
  Array<double> shift = displacements.first(axis), momentum(shift.size());
  for (std::size_t i = 0; i < shift.size(); ++i) momentum[i] = rate * growth.first_rate * shift[i];
  if (!volume.second_order) return {std::move(shift), std::move(momentum)};
  const double ratio = growth.second / (growth.first * growth.first);
  const Array<double> second = displacements.second(axis);
  for (std::size_t i = 0; i < shift.size(); ++i) {
    shift[i] += ratio * second[i];
    momentum[i] += rate * growth.second_rate * ratio * second[i];
  }
  return {std::move(shift), std::move(momentum)};
}

/// Gives each rank an equal share, in the order that they stand in over all ranks.
void share_equally(const Communicator& comm, Particles& particles) {
  const auto own = static_cast<Count>(particles.size());
  const Count before = comm.exclusive_scan(own), all = comm.sum(own);
  std::vector<Count> send;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Count first = std::max(before, share_begin(all, rank, comm.size()));
    const Count last = std::min(before + own, share_begin(all, rank + 1, comm.size()));
    send.push_back(std::max(Count{0}, last - first));
  }
  const ExchangePlan plan(comm, send);
  plan.apply(particles.position), plan.apply(particles.velocity), plan.apply(particles.id);
  for_each_field([n = particles.id.size(), &particles](const auto& field) {
    if (!particles.holds(field.info)) return;
    auto& values = particles.*field.array;
    if (values.size() != n) values.assign(n, {});
  });
}

void check_glass(const CosmologicalVolume& v) {
  const int edge = edge_of(v.glass);
  if (edge == 0)
    throw InputError(fmt::format(
        "a glass must have as many particles as a cube of a whole number; this one has {}", v.glass.size()));
  if (v.sites % edge != 0)
    throw InputError(
        fmt::format("a glass of {}^3 particles fills boxes of sites that are a multiple of {}; {} are none",
                    edge, edge, v.sites));
  for (const Vec3d& g : v.glass)
    for (int axis = 0; axis < 3; ++axis)
      if (!(g[axis] >= 0 && g[axis] < 1)) throw InputError("a glass must be within its box");
}

}  // namespace

void check(const CosmologicalVolume& v) {
  constexpr int most = 1 << 20;
  if (v.sites < 2 || v.sites > most)
    throw InputError(
        fmt::format("a cosmological volume: sites = {} along an edge must be from 2 to {}", v.sites, most));
  if (!(std::isfinite(v.box) && v.box > 0))
    throw InputError(fmt::format("a cosmological volume: box_size = {} must be a positive length", v.box));
  if (v.radius && !(*v.radius > 0 && *v.radius <= v.box / 2))
    throw InputError(
        fmt::format("a cosmological sphere: radius = {} must be positive and at most half of box_size = {}",
                    *v.radius, v.box));
  if (!(std::isfinite(v.redshift) && v.redshift >= 0))
    throw InputError(fmt::format("a cosmological volume: redshift = {} must not be negative", v.redshift));
  if (!v.glass.empty()) check_glass(v);
  if (count_of(v) == 0)
    throw InputError(fmt::format("a cosmological sphere: radius = {} holds no site, which are {} apart",
                                 *v.radius, v.box / v.sites));
  Expansion{v.cosmology};
  const LinearSpectrum spectrum(v.cosmology.omega_matter, v.spectrum);
  const double longest = 2 * std::numbers::pi / (v.box / v.megaparsec * v.spectrum.h);
  for (const double k : {longest, longest * std::sqrt(3.0) * ((v.sites - 1) / 2)})
    if (k > 0) spectrum(k);  // where a table does not reach, it says so
}

Count count_of(const CosmologicalVolume& volume) {
  if (volume.glass.empty()) return Sites(volume).count();
  const GlassSites sites = glass_sites(volume);
  if (!volume.radius) return sites.count();
  Count count = 0;
  for (Count i = 0; i < sites.count(); ++i) count += has_site(volume, sites.place(i)) ? 1 : 0;
  return count;
}

double particle_mass(const CosmologicalVolume& v) {
  return matter_density(v.cosmology, v.gravitational_constant) * std::pow(v.box / v.sites, 3);
}

Particles make_particles(const Communicator& comm, const CosmologicalVolume& volume,
                         const std::function<void()>& pause) {
  comm.together([&] { check(volume); });
  const Expansion expansion(volume.cosmology);
  const bool is_lattice = volume.glass.empty();
  const MeshTransform transform(comm, is_lattice ? volume.sites : 2 * volume.sites);
  const MeshPart& part = transform.part();
  std::optional<Displacements> displacements;
  displacements.emplace(transform, density_of(part, volume, expansion), volume.box, volume.second_order,
                        pause, !is_lattice);
  const Sites sites(volume);
  Particles particles;
  if (!is_lattice) {
    const std::vector<ParticleId> ids = glass_ids(part, volume);
    particles.id.assign(ids.begin(), ids.end());
  } else
    sites.for_each(part.planes.first, part.planes.last, [&](int x, int y, int z) {
      particles.id.push_back(
          (static_cast<ParticleId>(x) * static_cast<ParticleId>(volume.sites) + static_cast<ParticleId>(y)) *
              static_cast<ParticleId>(volume.sites) +
          static_cast<ParticleId>(z) + 1);
    });
  particles.position.resize(particles.id.size());
  particles.velocity.resize(particles.id.size());
  for (int axis = 0; axis < 3; ++axis) {
    auto [shift, momentum] = motion(*displacements, axis, volume, expansion);
    if (is_lattice)
      displace(particles, part, sites, axis, volume, shift, momentum);
    else
      displace_glass(particles, transform, axis, volume, std::move(shift), std::move(momentum));
    if (pause) pause();
  }
  displacements.reset();
  share_equally(comm, particles);
  std::fill(particles.mass.begin(), particles.mass.end(), particle_mass(volume));
  std::fill(particles.type.begin(), particles.type.end(), std::uint8_t{1});
  return particles;
}

DisplacementSummary displacements_of(const Communicator& comm, const CosmologicalVolume& volume,
                                     const Particles& particles) {
  const Sites sites(volume);
  const auto n = static_cast<ParticleId>(volume.sites);
  std::vector<double> squares;
  double largest = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const ParticleId site = particles.id[i] - 1;
    const ParticleId number[] = {site / (n * n), site / n % n, site % n};
    Vec3d from;
    for (int axis = 0; axis < 3; ++axis) from[axis] = sites.place(static_cast<int>(number[axis]));
    if (!volume.glass.empty()) from = place_of(volume, glass_sites(volume).place(static_cast<Count>(site)));
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double shift = particles.position[i][axis] - from[axis];
      if (!volume.radius) shift -= volume.box * std::round(shift / volume.box);
      square += shift * shift;
    }
    squares.push_back(square);
    largest = std::max(largest, square);
  }
  const Count count = comm.sum(static_cast<Count>(particles.size()));
  return {std::sqrt(exact_sums(comm, squares, 1, count)[0] / static_cast<double>(count)),
          std::sqrt(comm.max(largest))};
}

}  // namespace grove
