#include "particles/models/gas_models.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

/// The cubic lattice that fills a cube, from 0 on.
struct CubicLattice {
  double spacing;
  Count along;  ///< sites along each edge

  Count count() const { return along * along * along; }
  Vec3d site(Count number) const {
    const auto at = [&](Count i) { return spacing * (static_cast<double>(i % along) + 0.5); };
    return {at(number / along / along), at(number / along), at(number)};
  }
};

/// A lattice of rank 1 that fills a box (Korobov 1959, Dokl. Akad. Nauk SSSR 124, 1207): of n sites number i
/// is at i + 1/2, i g and i g^2 n-ths of the edges, whole edges left out. No two sites share a plane across
/// x: those of a cubic lattice move as one in a flow along x, and stay farther and farther apart where gas
/// thins.
class TiltedLattice {
 public:
  TiltedLattice(const Vec3d& corner, const Vec3d& edges, Count count)
      : corner_(corner), edges_(edges), count_(static_cast<std::uint64_t>(count)) {
    double best = 0;
    for (std::uint64_t k = 1; k <= tried; ++k) {
      const std::uint64_t generator = 1 + k * 2654435761u % std::min(count_, largest_generator);
      const double distance = nearest(generator, best);
      if (distance > best) best = distance, generator_ = generator;
    }
  }

  Vec3d site(Count number) const {
    const auto i = static_cast<std::uint64_t>(number);
    const std::uint64_t y = i * generator_ % count_, z = y * generator_ % count_;
    return corner_ + Vec3d{along(0, static_cast<double>(i) + 0.5), along(1, static_cast<double>(y)),
                           along(2, static_cast<double>(z))};
  }

 private:
  static constexpr std::uint64_t tried = 300;
  /// Products stay below 2^64 for up to 2^44 sites.
  static constexpr std::uint64_t largest_generator = std::uint64_t{1} << 20;

  double along(int axis, double nths) const { return edges_[axis] * nths / static_cast<double>(count_); }

  /// The square of the shortest way from a site to another one, or some number below `enough`. Cost: n^(2/3).
  double nearest(std::uint64_t generator, double enough) const {
    double least = norm2(edges_);
    for (std::uint64_t i = 1, y = 0; i < count_; ++i) {
      const double dx = along(0, static_cast<double>(i));
      if (dx * dx >= least || least < enough) break;
      y = (y + generator) % count_;
      const std::uint64_t z = y * generator % count_;
      const double dy = along(1, static_cast<double>(std::min(y, count_ - y))),
                   dz = along(2, static_cast<double>(std::min(z, count_ - z)));
      least = std::min(least, dx * dx + dy * dy + dz * dz);
    }
    return least;
  }

  Vec3d corner_, edges_;
  std::uint64_t count_, generator_ = 1;
};

/// Gas of one energy.
class TiltedSampler : public Sampler {
 public:
  TiltedSampler(const TiltedLattice& lattice, double reach, double energy)
      : lattice_(lattice), reach_(reach), energy_(energy) {}
  PhasePoint particle(Count number, RandomStream&) const override {
    return {lattice_.site(number), {0, 0, 0}, energy_};
  }
  double reach() const override { return reach_; }
  double fastest() const override { return 0; }

 private:
  TiltedLattice lattice_;
  double reach_, energy_;
};

/// Cold gas with the energy of an explosion around a place.
class ExplosionSampler : public Sampler {
 public:
  /// all: energy over the mass of a particle; cold: u elsewhere. Cost: a pass over the lattice.
  ExplosionSampler(const CubicLattice& lattice, double reach, const Vec3d& place, double all, double cold)
      : lattice_(lattice), reach_(reach), cold_(cold), place_(place) {
    double sum = 0;
    for (Count i = 0; i < lattice_.count(); ++i) sum += weight(lattice_.site(i));
    hot_ = all / sum;
  }

  PhasePoint particle(Count number, RandomStream&) const override {
    const Vec3d site = lattice_.site(number);
    return {site, {0, 0, 0}, std::max(cold_, hot_ * weight(site))};
  }
  double reach() const override { return reach_; }
  double fastest() const override { return 0; }

 private:
  double weight(const Vec3d& site) const {
    return kernel_at(SmoothingKernel::wendland_c2, norm(site - place_), 4 * lattice_.spacing).value;
  }

  CubicLattice lattice_;
  double reach_, cold_;
  Vec3d place_;
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
  const CubicLattice lattice{p.scale / static_cast<double>(along), along};
  const double mass = std::pow(p.scale, 3);
  const auto sampler =
      std::make_shared<ExplosionSampler>(lattice, 2 * p.scale, Vec3d{0.5, 0.5, 0.5} * p.scale,
                                         static_cast<double>(lattice.count()) / mass, 1e-6);
  return Model({gas(sampler, lattice.count(), mass, false)}, p.seed);
}

Model make_sod(const ModelParameters& p) {
  constexpr double gamma = 1.4, sparse = 0.125;
  // The dense half has 16 times the mass of each sparse quarter.
  const Count of_quarter = std::max<Count>(8, std::llround(static_cast<double>(p.particles) / 18));
  const double edge = p.scale, volume = edge * edge * edge;
  std::vector<Component> components;
  const auto add = [&](double from, double width, double density, double pressure, Count count) {
    const TiltedLattice lattice({from * edge, 0, 0}, {width * edge, edge, edge}, count);
    components.push_back(
        gas(std::make_shared<TiltedSampler>(lattice, 2 * edge, pressure / ((gamma - 1) * density)), count,
            density * width * volume, false));
  };
  add(0, 0.25, sparse, 0.1, of_quarter);
  add(0.25, 0.5, 1, 1, 16 * of_quarter);
  add(0.75, 0.25, sparse, 0.1, of_quarter);
  return Model(std::move(components), p.seed);
}

}  // namespace grove
