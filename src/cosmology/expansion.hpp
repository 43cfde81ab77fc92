#pragma once

#include <vector>

namespace grove {

/// The constituents of a homogeneous universe today, and how fast it expands. Curvature is the difference
/// to 1.
struct Cosmology {
  double omega_matter = 1;
  double omega_lambda = 0;     ///< dark energy
  double omega_radiation = 0;  ///< photons and massless neutrinos
  /// The equation of state of dark energy is w0 + wa (1 - a) (Chevallier and Polarski 2001; Linder 2003).
  double w0 = -1, wa = 0;
  double hubble = 1;  ///< H0, 1 / time

  double omega_curvature() const { return 1 - omega_matter - omega_lambda - omega_radiation; }
  friend bool operator==(const Cosmology&, const Cosmology&) = default;
};

/// The mean density of matter today; in comoving lengths at any time.
double matter_density(const Cosmology& cosmology, double gravitational_constant);

/// Runs and tables end here at the latest.
inline constexpr double largest_scale_factor = 100;

/// Scale factors that differ from 1 by their rounding are those of today.
inline double redshift_of(double scale_factor) {
  const double redshift = 1 / scale_factor - 1;
  return redshift * redshift < 1e-24 ? 0 : redshift;
}
inline double scale_factor_of(double redshift) { return 1 / (1 + redshift); }

/// The expansion of a universe. Its scale factor a is 1 today; times are those since a = 0.
///
/// Particles have comoving places x and canonical momenta p = a^2 dx/dt for each unit of mass. In comoving
/// gravity g they go by dx = p dt / a^2 and dp = g dt / a, so that leapfrogs stay symplectic with the
/// integrals of dt / a^2 and dt / a as factors (Quinn et al. 1997, astro-ph/9710043, eq. 12).
class Expansion {
 public:
  /// InputError if there is no matter, H0 is not positive, or the universe does not expand all the way from
  /// a = 0 to `largest`.
  explicit Expansion(const Cosmology& cosmology, double largest = 1);

  const Cosmology& cosmology() const { return cosmology_; }

  /// H(a), 1 / time.
  double hubble(double a) const;
  /// d ln H / d ln a.
  double hubble_slope(double a) const;
  /// Share of matter in what makes the universe flat, at a.
  double omega_matter(double a) const;

  /// Relative error below 1e-13; of both. Cost: some 100 evaluations of H.
  double time(double a) const;
  double scale_factor(double time) const;

  /// The growth of ln a from a on in this time, which may be negative. To a relative error of 1e-14, however
  /// short that is.
  double growth(double a, double time) const;

  /// Integrals over time from a on, while ln a grows by `growth`. To the same relative error.
  struct Factors {
    double time;   ///< of dt: time
    double kick;   ///< of dt / a: time
    double drift;  ///< of dt / a^2: time
  };
  Factors factors(double a, double growth) const;

 private:
  double e2(double a) const;
  double e2_slope(double a) const;
  double dark_energy(double a) const;
  double time_in(double a, double growth) const;
  double growth_near(double guess, double a, double time) const;

  Cosmology cosmology_;
  std::vector<double> anchors_;  ///< times at scale factors that are equidistant in the logarithm
  double first_anchor_ = 0;      ///< ln a
};

}  // namespace grove
