#include "particles/models/gas_models.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "kernels/math/smoothing_kernel.hpp"

namespace grove {
namespace {

/// The n sites of a cubic lattice of spacing 1 that are nearest to the origin, row by row. The lattice is
/// displaced by numbers that leave no two sites, or hardly any, equally far away.
class NearestSites {
 public:
  explicit NearestSites(Count n) {
    const double size = std::cbrt(3 * static_cast<double>(n) / (4 * std::numbers::pi));
    double low = 0.5 * size, high = 2 * size + 2;
    for (int i = 0; i < 100 && low < high; ++i) {
      const double middle = 0.5 * (low + high);
      (within(middle) < n ? low : high) = middle;
    }
    list(high);
    begin_.back() = n;  // of sites at one distance some are left out
  }

  Vec3d site(Count number) const {
    const auto row =
        static_cast<std::size_t>(std::upper_bound(begin_.begin(), begin_.end(), number) - begin_.begin() - 1);
    const Row& of = rows_[row];
    return shift + Vec3d{static_cast<double>(of.x), static_cast<double>(of.y),
                         static_cast<double>(of.first + number - begin_[row])};
  }

 private:
  static constexpr Vec3d shift{0.5 * std::numbers::inv_pi, 0.5 * std::numbers::inv_sqrt3,
                               std::numbers::sqrt2 - 1};
  struct Row {
    Count x, y, first;  ///< z of its first site
  };

  /// Calls use(row, sites in it) for all rows that meet the ball.
  template <class Use>
  static void for_rows(double radius, const Use& use) {
    const auto reach = static_cast<Count>(radius) + 2;
    for (Count x = -reach; x <= reach; ++x)
      for (Count y = -reach; y <= reach; ++y) {
        const double a = static_cast<double>(x) + shift.x, b = static_cast<double>(y) + shift.y;
        const double rest = radius * radius - a * a - b * b;
        if (rest <= 0) continue;
        const double half = std::sqrt(rest);
        const auto first = static_cast<Count>(std::ceil(-half - shift.z)),
                   last = static_cast<Count>(std::floor(half - shift.z));
        if (first <= last) use(Row{x, y, first}, last - first + 1);
      }
  }
  static Count within(double radius) {
    Count sum = 0;
    for_rows(radius, [&](const Row&, Count sites) { sum += sites; });
    return sum;
  }
  void list(double radius) {
    begin_ = {0};
    for_rows(radius, [&](const Row& row, Count sites) {
      rows_.push_back(row);
      begin_.push_back(begin_.back() + sites);
    });
  }

  std::vector<Row> rows_;
  std::vector<Count> begin_;  ///< number of the first site of each row; that of all
};

/// Sites in equal shells become places of density proportional to 1/r: as many are within r as r^2 says.
class EvrardSampler : public Sampler {
 public:
  EvrardSampler(Count n, double radius, double energy)
      : sites_(n),
        edge_(std::cbrt(3 * static_cast<double>(n) / (4 * std::numbers::pi))),
        radius_(radius),
        energy_(energy) {}
  PhasePoint particle(Count number, RandomStream&) const override {
    const Vec3d site = sites_.site(number) * (1 / edge_);
    return {site * (radius_ * std::sqrt(norm(site))), {0, 0, 0}, energy_};
  }
  /// Sites beyond the ball of their volume, by about a spacing.
  double reach() const override { return radius_ * std::pow(1 + 2 / edge_, 1.5); }
  double fastest() const override { return 0; }

 private:
  NearestSites sites_;
  double edge_, radius_, energy_;  ///< edge: of the ball of so many sites
};

/// The cubic lattice that fills a box.
struct BoxLattice {
  Vec3d corner;
  double spacing;
  Count nx, ny, nz;

  Count count() const { return nx * ny * nz; }
  Vec3d site(Count number) const {
    const auto along = [&](Count i) { return spacing * (static_cast<double>(i) + 0.5); };
    return corner + Vec3d{along(number / (ny * nz)), along(number / nz % ny), along(number % nz)};
  }
};

/// Gas of one energy, or with that of an explosion around a place.
class LatticeSampler : public Sampler {
 public:
  LatticeSampler(const BoxLattice& lattice, double reach, double energy)
      : lattice_(lattice), reach_(reach), energy_(energy) {}

  /// all: energy over the mass of a particle. Cost: a pass over the lattice.
  void explode(const Vec3d& place, double all) {
    place_ = place;
    double sum = 0;
    for (Count i = 0; i < lattice_.count(); ++i) sum += weight(lattice_.site(i));
    hot_ = all / sum;
  }

  PhasePoint particle(Count number, RandomStream&) const override {
    const Vec3d site = lattice_.site(number);
    return {site, {0, 0, 0}, hot_ > 0 ? std::max(energy_, hot_ * weight(site)) : energy_};
  }
  double reach() const override { return reach_; }
  double fastest() const override { return 0; }

 private:
  double weight(const Vec3d& site) const {
    return kernel_at(SmoothingKernel::wendland_c2, norm(site - place_), 4 * lattice_.spacing).value;
  }

  BoxLattice lattice_;
  double reach_, energy_;
  Vec3d place_{};
  double hot_ = 0;
};

Component gas(std::shared_ptr<const Sampler> sampler, Count count, double mass, bool centred) {
  Component component{std::move(sampler), count, mass, gas_type, centred};
  component.is_gas = true;
  return component;
}

}  // namespace

Model make_evrard(const ModelParameters& p) {
  const double energy = 0.05 * p.gravitational_constant * p.mass / p.scale;
  return Model(
      {gas(std::make_shared<EvrardSampler>(p.particles, p.scale, energy), p.particles, p.mass, true)},
      p.seed);
}

Model make_sedov(const ModelParameters& p) {
  const Count along = std::max<Count>(8, std::llround(std::cbrt(static_cast<double>(p.particles))));
  const BoxLattice lattice{{0, 0, 0}, p.scale / static_cast<double>(along), along, along, along};
  const double mass = std::pow(p.scale, 3), reach = 2 * p.scale;
  const auto sampler = std::make_shared<LatticeSampler>(lattice, reach, 1e-6);
  sampler->explode(Vec3d{0.5, 0.5, 0.5} * p.scale, static_cast<double>(lattice.count()) / mass);
  return Model({gas(sampler, lattice.count(), mass, false)}, p.seed);
}

Model make_sod(const ModelParameters& p) {
  constexpr double gamma = 1.4, sparse = 0.125;
  // In all (1/2 + 1/16) along^3.
  const Count eighths =
      std::max<Count>(2, std::llround(std::cbrt(static_cast<double>(p.particles) * 16 / 9) / 8));
  const Count along = 8 * eighths;
  const double edge = p.scale, spacing = edge / static_cast<double>(along), reach = 2 * edge;
  const BoxLattice dense{{0.25 * edge, 0, 0}, spacing, along / 2, along, along},
      left{{0, 0, 0}, 2 * spacing, along / 8, along / 2, along / 2},
      right{{0.75 * edge, 0, 0}, 2 * spacing, along / 8, along / 2, along / 2};
  const double volume = edge * edge * edge;
  std::vector<Component> components;
  const auto add = [&](const BoxLattice& lattice, double density, double pressure, double share) {
    components.push_back(
        gas(std::make_shared<LatticeSampler>(lattice, reach, pressure / ((gamma - 1) * density)),
            lattice.count(), density * share * volume, false));
  };
  add(left, sparse, 0.1, 0.25);
  add(dense, 1, 1, 0.5);
  add(right, sparse, 0.1, 0.25);
  return Model(std::move(components), p.seed);
}

}  // namespace grove
