#include "cosmology/linear_spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/interpolators/makima.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>
#include <sstream>
#include <utility>

#include "base/errors.hpp"
#include "cosmology/growth.hpp"

namespace grove {
namespace {

/// The transform of a sphere of radius 1 and volume 1.
double top_hat(double x) {
  if (x < 1e-2) return 1 - x * x / 10 * (1 - x * x / 28);
  return 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
}

/// The sphere of sigma8, Mpc/h.
constexpr double eight = 8;

}  // namespace

struct LinearSpectrum::Interpolation {
  double first, last;
  boost::math::interpolators::makima<std::vector<double>> log_power;

  static std::vector<double> logarithms(std::vector<double> values) {
    for (double& value : values) value = std::log(value);
    return values;
  }
  explicit Interpolation(const SpectrumTable& t)
      : first(t.wavenumber.front()),
        last(t.wavenumber.back()),
        log_power(logarithms(t.wavenumber), logarithms(t.power)) {}
};

SpectrumTable spectrum_table(const std::string& text, const std::string& name) {
  SpectrumTable table;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos || line[start] == '#') continue;
    std::istringstream words(line);
    double k = 0, power = 0;
    if (!(words >> k >> power))
      throw InputError(
          fmt::format("{}, line {}: has no two numbers, k in h/Mpc and P in (Mpc/h)^3", name, number));
    if (!(std::isfinite(k) && k > 0 && std::isfinite(power) && power > 0))
      throw InputError(
          fmt::format("{}, line {}: k = {} and P = {} must be positive", name, number, k, power));
    if (!table.wavenumber.empty() && k <= table.wavenumber.back())
      throw InputError(fmt::format("{}, line {}: k = {} is not above that of the line before, {}", name,
                                   number, k, table.wavenumber.back()));
    table.wavenumber.push_back(k);
    table.power.push_back(power);
  }
  if (table.wavenumber.size() < 4)
    throw InputError(
        fmt::format("{}: has {} points of a spectrum; at least 4 are needed", name, table.wavenumber.size()));
  return table;
}

LinearSpectrum::LinearSpectrum(double omega_matter, const SpectrumParameters& parameters)
    : parameters_(parameters) {
  const SpectrumParameters& p = parameters_;
  const bool is_table = p.kind == SpectrumKind::table;
  if (!(p.sigma8 > 0) && !(is_table && p.sigma8 == 0))
    throw InputError(fmt::format("the linear spectrum: sigma8 = {} must be positive", p.sigma8));
  if (is_table)
    table_ = std::make_unique<Interpolation>(p.table);
  else
    transfer_ = std::make_unique<Transfer>(
        TransferParameters{omega_matter, p.omega_baryon, p.h, p.temperature, p.kind == SpectrumKind::smooth});
  // A thousandth of sigma8 comes from beyond these in usual cosmologies.
  if (constexpr double least = 5e-3, most = 5;
      is_table && p.sigma8 > 0 && (table_->first > least || table_->last < most))
    throw InputError(
        fmt::format("the linear spectrum: a table from k = {} to {} h/Mpc is too short for sigma8; it "
                    "must reach from {} to {}",
                    table_->first, table_->last, least, most));
  if (p.sigma8 > 0) amplitude_ = std::pow(p.sigma8 / sigma(eight), 2);
}

LinearSpectrum::~LinearSpectrum() = default;
LinearSpectrum::LinearSpectrum(LinearSpectrum&&) noexcept = default;

double LinearSpectrum::shape(double k) const {
  if (!table_) return std::pow(k, parameters_.spectral_index) * std::pow((*transfer_)(k * parameters_.h), 2);
  // So far do logarithms of the ends round.
  constexpr double room = 1e-12;
  if (!(k >= table_->first * (1 - room) && k <= table_->last * (1 + room)))
    throw InputError(
        fmt::format("the table of the linear spectrum goes from k = {} to {} h/Mpc, but {} is needed",
                    table_->first, table_->last, k));
  return std::exp(table_->log_power(std::log(std::clamp(k, table_->first, table_->last))));
}

double LinearSpectrum::operator()(double k) const { return amplitude_ * shape(k); }

double LinearSpectrum::sigma(double radius) const {
  // In x = k R: by the logarithm up to 1, then on intervals that resolve the window and, where baryons make
  // them, oscillations of the spectrum. k^3 P goes with k^-0.04 at most far out and the window with x^-4, so
  // that less than 1e-9 of the integral lies beyond the last x, and with k^3.9 near 0: less than 1e-15 before
  // the first.
  const double first = table_ ? table_->first * radius : 1e-4, last = table_ ? table_->last * radius : 300;
  const auto integrand = [&](double x) { return x * x * shape(x / radius) * std::pow(top_hat(x), 2); };
  using Gauss = boost::math::quadrature::gauss<double, 15>;
  double sum = 0;
  for (double y = std::log(first); y < std::log(std::min(last, 1.0));) {
    const double end = std::min(y + 0.25, std::log(std::min(last, 1.0)));
    sum += Gauss::integrate([&](double z) { return std::exp(z) * integrand(std::exp(z)); }, y, end);
    y = end;
  }
  for (double x = std::max(first, 1.0); x < last;) {
    const double end = std::min(x + 0.25, last);
    sum += Gauss::integrate(integrand, x, end);
    x = end;
  }
  return std::sqrt(amplitude_ * sum / (2 * std::numbers::pi * std::numbers::pi * radius * radius * radius));
}

double power_growth(const Expansion& expansion, double redshift) {
  return std::pow(growth_at(expansion, scale_factor_of(redshift)).first / growth_at(expansion, 1).first, 2);
}

}  // namespace grove
