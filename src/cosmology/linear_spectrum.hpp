#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cosmology/expansion.hpp"
#include "cosmology/transfer.hpp"

namespace grove {

/// The shape of the linear power spectrum.
enum class SpectrumKind : unsigned char {
  eisenstein_hu,  ///< the fit of Eisenstein and Hu 1998 with acoustic oscillations
  smooth,         ///< the same without them
  table,          ///< what a Boltzmann code has computed
};

/// Points of a spectrum, by growing wavenumber.
struct SpectrumTable {
  std::vector<double> wavenumber;  ///< h / Mpc
  std::vector<double> power;       ///< (Mpc / h)^3
};

/// Reads the first two columns of a text, k in h/Mpc and P in (Mpc/h)^3, as CLASS and CAMB write them; lines
/// that begin with # are comments. name: of the file, for messages. InputError: less than 4 points, numbers
/// that are not positive, wavenumbers that do not grow.
SpectrumTable spectrum_table(const std::string& text, const std::string& name);

/// The linear power spectrum of matter, today's.
struct SpectrumParameters {
  SpectrumKind kind = SpectrumKind::eisenstein_hu;
  double omega_baryon = 0.045;
  double h = 0.7;                ///< H0 / (100 km/s/Mpc)
  double spectral_index = 0.96;  ///< of the primordial spectrum; a table has its own
  double sigma8 = 0.8;           ///< rms of the density in spheres of 8 Mpc/h; 0: as a table has it
  double temperature = 2.7255;   ///< of the cosmic microwave background, K
  SpectrumTable table{};
};

class LinearSpectrum {
 public:
  /// InputError: a parameter out of its range, or a table that does not reach far enough for sigma8.
  LinearSpectrum(double omega_matter, const SpectrumParameters& parameters);
  ~LinearSpectrum();
  LinearSpectrum(LinearSpectrum&&) noexcept;

  /// P(k) today, (Mpc/h)^3. k: h/Mpc. Between points of a table ln P is a piecewise cubic of ln k (modified
  /// Akima), beyond its ends InputError.
  double operator()(double k) const;

  /// The rms of the density in spheres, today. radius: Mpc/h. Quadrature, relative error below 1e-6 (a fit),
  /// the part beyond the ends of a table left out. Cost: some 30,000 spectra.
  double sigma(double radius) const;

  double spectral_index() const { return parameters_.spectral_index; }

 private:
  double shape(double k) const;

  struct Interpolation;
  SpectrumParameters parameters_;
  std::unique_ptr<Transfer> transfer_;
  std::unique_ptr<Interpolation> table_;
  double amplitude_ = 1;
};

/// The power at a redshift over today's, by linear growth.
double power_growth(const Expansion& expansion, double redshift);

}  // namespace grove
