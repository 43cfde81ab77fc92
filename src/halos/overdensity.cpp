#include "halos/overdensity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace grove {
namespace {

constexpr double overdensity = 200, pi = 3.14159265358979323846;

/// The radius of a sphere with this mass at that density.
double radius_of(double mass, double density) { return std::cbrt(3 * mass / (4 * pi * density)); }

/// Collects what is in a sphere. For the host alone.
struct CollectMass {
  struct Found {
    double r2;
    ParticleId id;
    double mass;
  };
  struct Sum {
    std::vector<Found> found;
  };
  const double* mass;
  const ParticleId* id;

  void particle(Sum& sum, const NeighbourPair& pair) const {
    sum.found.push_back({pair.r2, id[pair.source], mass[pair.source]});
  }
};

/// Sets R200 and M200; false if they lie beyond the sphere of this radius.
bool set_r200(std::vector<CollectMass::Found>& found, double radius, double density, Halo& halo) {
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return std::tie(a.r2, a.id) < std::tie(b.r2, b.id); });
  double mass = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    mass += found[k].mass;
    const double r = radius_of(mass, density),
                 next2 = k + 1 < found.size() ? found[k + 1].r2 : radius * radius;
    // The sphere with this density must end between this particle and the next.
    if (mass > 0 && r * r <= next2) {
      halo.r200 = r;
      halo.m200 = mass;
      return true;
    }
  }
  return false;
}

}  // namespace

void find_r200(const Communicator& comm, Neighbours& neighbours, const Particles& particles,
               const HaloOptions& options, std::span<Halo> halos) {
  const double density = overdensity * options.critical_density;
  const double most = options.images.are_open() ? std::numeric_limits<double>::infinity()
                                                : std::nextafter(0.5 * options.images.edge, 0);
  std::vector<std::size_t> open;
  std::vector<double> radius;
  for (std::size_t i = 0; i < halos.size(); ++i)
    if (halos[i].mass > 0) {
      open.push_back(i);
      radius.push_back(std::min(radius_of(halos[i].mass, density), most));
    }
  while (comm.max(open.size()) > 0) {
    std::vector<NeighbourTarget> places;
    for (std::size_t i = 0; i < open.size(); ++i)
      places.push_back({halos[open[i]].centre, {0, 0, 0}, radius[i]});
    neighbours.search_around(particles.position, places);
    const Array<double> mass = neighbours.share(std::span<const double>(particles.mass));
    const Array<ParticleId> id = neighbours.share(std::span<const ParticleId>(particles.id));
    auto sums = neighbours.walk_around(places, CollectMass{mass.data(), id.data()});
    std::vector<std::size_t> still_open;
    std::vector<double> larger;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (set_r200(sums[i].found, radius[i], density, halos[open[i]]) || radius[i] == most) continue;
      still_open.push_back(open[i]);
      larger.push_back(std::min(std::cbrt(2.0) * radius[i], most));
    }
    open = std::move(still_open);
    radius = std::move(larger);
  }
}

}  // namespace grove
