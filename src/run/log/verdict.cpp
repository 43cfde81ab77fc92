#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/how_many.hpp"

namespace grove {
namespace {

constexpr double too_much = 0.01;

std::string text_of_percent(double fraction) {
  return fraction < 1 ? fmt::format("{:.2g} %", 100 * fraction) : fmt::format("{:.0f} %", 100 * fraction);
}

/// True if errors of forces explain a change.
bool blames_forces(const Conservation& kept, const Parameters& parameters, Count particles, bool of_energy) {
  if (parameters.gravity.is_direct(particles) || kept.audits == 0) return false;
  if (!of_energy && kept.p99 > 5e-4) return true;
  const double expected =
      parameters.gravity.needs_old_acceleration() ? std::max(3 * parameters.gravity.delta, 1e-3) : 5e-3;
  return kept.p99 > std::min(5e-3, expected);
}

/// ", or accuracy: high", where that would change a value that `accuracy` gives: this one is not given
/// itself, and not of the highest.
std::string or_higher(double value, double of_accuracy, const Parameters& parameters) {
  const bool follows = value == of_accuracy;
  return follows && parameters.accuracy != Accuracy::high ? ", or accuracy: high" : "";
}

std::string advice(const Conservation& kept, const Parameters& parameters, Count particles, bool of_energy) {
  const GravityParameters& gravity = parameters.gravity;
  const AccuracyOf own = accuracy_of(parameters.accuracy, parameters.universe.has_value());
  const std::string to_blame =
      fmt::format("the forces are to blame, their errors reach {} in the 99th percentile: give a smaller ",
                  text_of_percent(kept.p99));
  if (blames_forces(kept, parameters, particles, of_energy))
    return to_blame +
           (gravity.needs_old_acceleration()
                ? fmt::format("gravity.delta (now {}){}", gravity.delta,
                              or_higher(gravity.delta, own.delta_in(parameters.box.periodic), parameters))
                : fmt::format("gravity.theta (now {})", gravity.theta));
  const TimeParameters& time = parameters.time;
  const std::string step = time.step_ln_a ? fmt::format("shorter time.step_ln_a (now {})", *time.step_ln_a)
                                          : fmt::format("shorter time.step (now {})",
                                                        parameters.shown.text(time.step, dimension::time));
  const char* const forces =
      gravity.is_direct(particles) ? "forces are direct sums" : "the audited forces are good";
  return fmt::format("the steps are to blame, as {}: give a {}", forces,
                     time.steps == StepKind::shared
                         ? step
                         : fmt::format("smaller time.eta (now {}) or a {}{}", time.eta, step,
                                       or_higher(time.eta, own.eta, parameters)));
}

std::string warning(const char* what, double change, const std::string& knob) {
  return fmt::format("{} changed by {}, more than {}: {}", what, text_of_percent(change),
                     text_of_percent(too_much), knob);
}

}  // namespace

Verdict verdict_on(const Conservation& kept, const Turning& turning, Count particles,
                   const Parameters& parameters, bool has_gas) {
  Verdict verdict;
  verdict.kept = kept;
  const double first = norm(kept.first_spin);
  verdict.has_spin = turning.coherent > 0 && first > 0.5 * turning.coherent;
  verdict.spin_scale = verdict.has_spin ? first : turning.bound;
  const bool has_energy = turning.bound > 0 || kept.largest_energy > 0;
  verdict.lines.push_back(!has_energy ? "energy: none, as no particle has mass"
                                      : fmt::format("energy: largest |dE/E| {:.2e}, at the end {:.2e}",
                                                    kept.largest_energy, kept.energy));
  const bool is_isothermal = has_gas && parameters.gas.equation_of_state == EquationOfState::isothermal;
  if (is_isothermal)
    verdict.lines.back() += "; isothermal gas keeps its temperature, not the energy";
  else if (kept.largest_energy > too_much)
    verdict.warnings.push_back(
        warning("the energy", kept.largest_energy, advice(kept, parameters, particles, true)));
  if (parameters.potentials.empty() && !parameters.box.periodic && verdict.spin_scale > 0) {
    const double largest = kept.largest_spin / verdict.spin_scale;
    verdict.lines.push_back(
        fmt::format("angular momentum: changed by {:.2e} at the end, {:.2e} at most, of {}",
                    kept.spin / verdict.spin_scale, largest,
                    verdict.has_spin ? "its size" : "the sum of m |r| |v|, as it is about zero"));
    if (largest > too_much)
      verdict.warnings.push_back(
          warning("the angular momentum", largest, advice(kept, parameters, particles, false)));
  }
  // A sphere in expanding space is pulled where its centre of mass is not that of the universe around it.
  if (parameters.potentials.empty() && (!parameters.universe || parameters.box.periodic))
    verdict.lines.push_back(
        fmt::format("momentum: changed by {:.2e} of the sum of m |v| at the end", kept.momentum));
  verdict.lines.push_back(
      parameters.gravity.is_direct(particles) ? "forces: direct sums"
      : !parameters.gravity.self_gravity      ? "forces: no gravity"
      : kept.audits == 0
          ? "forces: not audited"
          : fmt::format("forces: errors of {:.2e} in the median, {:.2e} in the 99th percentile, at worst of "
                        "{}",
                        kept.median, kept.p99, how_many(kept.audits, "audit")));
  return verdict;
}

}  // namespace grove
