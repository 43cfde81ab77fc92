#pragma once

namespace grove {

/// The parameters of the transfer function of matter. Neutrinos have no mass.
struct TransferParameters {
  double omega_matter = 0.3;
  double omega_baryon = 0.045;  ///< 0: no baryons
  double h = 0.7;               ///< H0 / (100 km/s/Mpc)
  double temperature = 2.7255;  ///< of the cosmic microwave background, K
  bool smooth = false;          ///< without the baryons' acoustic oscillations, but with their suppression
};

/// The fit of Eisenstein and Hu 1998 (ApJ 496, 605) to the transfer function of cold matter and baryons, some
/// per cent from solutions of Boltzmann's equation: eq. 2 to 24, or eq. 26 and 28 to 31 if it is smooth. In
/// the baryon drag its R is taken at 1000 / (1 + z), as the authors' own program has it.
class Transfer {
 public:
  /// InputError if a density is out of its range.
  explicit Transfer(const TransferParameters& parameters);

  /// 1 at k = 0. k: 1 / Mpc (no h). Cost: some ten powers and logarithms.
  double operator()(double k) const;

  /// Comoving distance that a sound wave goes until baryons are free of photons, Mpc (no h).
  double sound_horizon() const { return sound_horizon_; }

 private:
  void fit_oscillations(double theta);
  void fit_smooth();
  double oscillating(double k) const;

  TransferParameters parameters_;
  double matter_ = 0, baryon_share_ = 0;  ///< Omega_m h^2, Omega_b / Omega_m
  double equality_ = 0;                   ///< wavenumber of the horizon when matter and radiation are equal
  double sound_horizon_ = 0, silk_ = 0;
  double alpha_c_ = 1, beta_c_ = 1, alpha_b_ = 0, beta_b_ = 0, beta_node_ = 0;
  double alpha_gamma_ = 1;
};

}  // namespace grove
