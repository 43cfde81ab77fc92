#pragma once

#include <memory>

namespace grove {

/// The density of a spherical component with a central cusp of slope -1, and its logarithmic slopes.
class DensityProfile {
 public:
  virtual ~DensityProfile() = default;
  virtual double density(double r) const = 0;    ///< rho, mass per volume
  virtual double slope(double r) const = 0;      ///< g = d ln rho / d ln r
  virtual double curvature(double r) const = 0;  ///< d g / d ln r
  virtual double scale() const = 0;              ///< radius where the slope changes
};

/// rho = factor / (x (1 + x)^n), x = r / scale.
class CuspProfile : public DensityProfile {
 public:
  double density(double r) const override;
  double slope(double r) const override;
  double curvature(double r) const override;
  double scale() const override { return scale_; }

 protected:
  CuspProfile(int n, double scale, double factor) : n_(n), scale_(scale), factor_(factor) {}

 private:
  int n_;
  double scale_, factor_;
};

/// Navarro, Frenk and White 1997: n = 2, x = r / r_s.
class NfwProfile : public CuspProfile {
 public:
  NfwProfile(double mass_within, double radius, double scale);
};

/// Hernquist 1990: n = 3, factor M / (2 pi a^3), x = r / a; endless.
class HernquistProfile : public CuspProfile {
 public:
  HernquistProfile(double mass, double scale);
};

/// A profile that falls off exponentially beyond rmax: rho(rmax) (r / rmax)^k exp(-(r - rmax) / taper), with
/// k such that the slope is continuous. Source: Springel and White 1999, MNRAS 307, 162, section 2.2.
class TaperedProfile : public DensityProfile {
 public:
  TaperedProfile(std::shared_ptr<const DensityProfile> inner, double rmax, double taper);
  double density(double r) const override;
  double slope(double r) const override { return r <= rmax_ ? inner_->slope(r) : power_ - r / taper_; }
  double curvature(double r) const override { return r <= rmax_ ? inner_->curvature(r) : -r / taper_; }
  double scale() const override { return inner_->scale(); }

  double rmax() const { return rmax_; }
  double taper() const { return taper_; }
  /// The radius where the density has fallen by e^-32 against that at rmax: nothing lies beyond.
  double outer_radius() const { return outer_; }

 private:
  std::shared_ptr<const DensityProfile> inner_;
  double rmax_, taper_, power_, edge_density_, outer_;
};

}  // namespace grove
