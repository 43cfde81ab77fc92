#include "particles/models/disk.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/lambert_w.hpp>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <numbers>

namespace grove {

double surface_density(const DiskShape& disk, double radius) {
  return disk.gm / (2 * std::numbers::pi * disk.scale * disk.scale) * std::exp(-radius / disk.scale);
}

namespace {

/// In scale lengths and scale heights: where the disk ends, and no draw of 52 bits is higher.
constexpr double disk_edge = 10, top = 20;

/// The mean of f(z) over the stars at one radius.
template <class F>
double mean_over_height(const DiskShape& disk, const F& f) {
  const auto weighted = [&](double s) {  // z = s z0
    const double cosh = std::cosh(s);
    return f(s * disk.height) / (cosh * cosh);
  };
  return boost::math::quadrature::gauss<double, 30>::integrate(weighted, 0.0, top);
}

/// R d phi / d R of a part of the galaxy, the mean over the disk's height, and its derivative with respect to
/// ln R.
struct RadialPull {
  double speed2, change;
};

RadialPull disk_pull(const DiskShape& disk, double radius) {
  using boost::math::cyl_bessel_i;
  using boost::math::cyl_bessel_k;
  const double h = disk.scale, y = radius / (2 * h);
  const double i0 = cyl_bessel_i(0, y), i1 = cyl_bessel_i(1, y);
  const double k0 = cyl_bessel_k(0, y), k1 = cyl_bessel_k(1, y);
  // Freeman's formula, and its derivative with respect to ln R by the recurrences of the Bessel functions.
  const double factor = 2 * disk.gm / h * y * y;
  const double thin = factor * (i0 * k0 - i1 * k1);
  const double thin_change = 2 * factor * (i0 * k0 + y * (i1 * k0 - i0 * k1));
  // Two stars of the same sech^2 are z0 apart in height on average.
  const double lost = 2 * std::numbers::pi * surface_density(disk, radius) * radius * disk.height / h;
  const double lost_change = lost * (1 - radius / h);
  const double sum = thin + lost, speed2 = thin * thin / sum;
  return {speed2, speed2 * (2 * thin_change / thin - (thin_change + lost_change) / sum)};
}

RadialPull sphere_pull(const DiskShape& disk, const SphericalPotential& sphere, double radius) {
  const auto speed2 = [&](double z) {
    const double r = std::hypot(radius, z);
    return sphere.gm(r) * radius * radius / (r * r * r);
  };
  const auto change = [&](double z) {
    const double r = std::hypot(radius, z), cosine2 = radius * radius / (r * r);
    return cosine2 / r * ((2 - 3 * cosine2) * sphere.gm(r) + cosine2 * sphere.source(r) * r * r * r);
  };
  return {mean_over_height(disk, speed2), mean_over_height(disk, change)};
}

double epicyclic_frequency(const CircularMotion& motion, double radius) {
  return 2 * std::sqrt(motion.epicyclic_ratio() * motion.speed2) / radius;
}

}  // namespace

CircularMotion circular_motion(const DiskShape& disk, const SphericalPotential& sphere, double radius) {
  const RadialPull own = disk_pull(disk, radius), others = sphere_pull(disk, sphere, radius);
  const double speed2 = own.speed2 + others.speed2;
  return {speed2, (own.change + others.change) / speed2};
}

ExponentialDisk::ExponentialDisk(const DiskShape& shape, std::shared_ptr<const SphericalPotential> sphere)
    : shape_(shape),
      sphere_(std::move(sphere)),
      // The disk's own potential at its centre, if it were razor-thin, is G M / h.
      fastest_(std::sqrt(2 * (sphere_->depth() + shape.gm / shape.scale))) {
  const auto needed = [&](double log_radius) {
    const double radius = std::exp(log_radius);
    const CircularMotion motion = circular_motion(shape_, *sphere_, radius);
    return -3.36 * shape_.toomre_q * surface_density(shape_, radius) / epicyclic_frequency(motion, radius) *
           std::exp(0.5 * radius / shape_.scale);
  };
  central_dispersion_ = -boost::math::tools::brent_find_minima(needed, std::log(0.01 * shape_.scale),
                                                               std::log(disk_edge * shape_.scale), 24)
                             .second;
}

double ExponentialDisk::made_fraction() { return 1 - (1 + disk_edge) * std::exp(-disk_edge); }

double ExponentialDisk::reach() const { return std::hypot(disk_edge * shape_.scale, top * shape_.height); }

double ExponentialDisk::circular_speed(double radius) const {
  return std::sqrt(circular_motion(shape_, *sphere_, radius).speed2);
}

double ExponentialDisk::toomre_q(double radius) const {
  const double frequency = epicyclic_frequency(circular_motion(shape_, *sphere_, radius), radius);
  return moments(radius).radial * frequency / (3.36 * surface_density(shape_, radius));
}

double ExponentialDisk::climb(double radius, double z, double higher) const {
  const double sheet = 2 * std::numbers::pi * surface_density(shape_, radius);
  const double stretch = disk_pull(shape_, radius).change / (radius * radius);
  const double own =
      sheet * shape_.height * std::log(std::cosh(higher / shape_.height) / std::cosh(z / shape_.height)) -
      0.5 * stretch * (higher * higher - z * z);
  const double others =
      sphere_->potential(std::hypot(radius, higher)) - sphere_->potential(std::hypot(radius, z));
  return std::max(own + others, 0.0);
}

double ExponentialDisk::vertical_speed(double radius, double z, RandomStream& random) const {
  const double thinner = std::cosh(z / shape_.height) / std::sqrt(random.uniform());
  const double turn = shape_.height * std::acosh(thinner);
  return std::sqrt(2 * climb(radius, z, turn)) * std::cos(2 * std::numbers::pi * random.uniform());
}

ExponentialDisk::Moments ExponentialDisk::moments(double radius) const {
  const CircularMotion motion = circular_motion(shape_, *sphere_, radius);
  const double ratio = motion.epicyclic_ratio();
  const double radial = central_dispersion_ * std::exp(-0.5 * radius / shape_.scale);
  // Asymmetric drift; d ln(Sigma sigma_R^2) / d ln R = -2 R / h.
  const double rotation2 = motion.speed2 + radial * radial * (1 - ratio - 2 * radius / shape_.scale);
  return {std::sqrt(std::max(rotation2, 0.0)), radial, radial * std::sqrt(ratio)};
}

PhasePoint ExponentialDisk::sample(RandomStream& random) const {
  // The mass within x = R / h is 1 - (1 + x) exp(-x); its inverse is the lower branch of Lambert's W.
  const double outside = 1 - random.uniform() * made_fraction();
  const double radius = -shape_.scale * (1 + boost::math::lambert_wm1(-outside / std::numbers::e));
  const double angle = 2 * std::numbers::pi * random.uniform();
  const double z = shape_.height * std::atanh(2 * random.uniform() - 1);
  const double c = std::cos(angle), s = std::sin(angle), r = std::hypot(radius, z);

  // A lower bound of the escape speed: the disk's mass attracts no less than at a distance r + h.
  const double escape2 = 2 * (sphere_->depth() - sphere_->potential(r) + shape_.gm / (r + shape_.scale));
  const Moments m = moments(radius);
  Vec3d v;  // radial, azimuthal, vertical
  do {
    v = {m.radial * random.normal(), m.rotation + m.azimuthal * random.normal(),
         vertical_speed(radius, z, random)};
  } while (norm2(v) >= escape2);
  return {{radius * c, radius * s, z}, {v.x * c - v.y * s, v.x * s + v.y * c, v.z}};
}

}  // namespace grove
