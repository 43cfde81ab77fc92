#include "cosmology/growth.hpp"

#include <array>
#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>
#include <cmath>

namespace grove {
namespace {

/// In ln a. Solutions are powers of a of at most 2, so that the error of a step of order 8 is about
/// (2 / 32)^9 / 9! = 4e-17 of them.
constexpr double longest_step = 1. / 32;

/// D1, d D1 / d ln a, D2, d D2 / d ln a.
using State = std::array<double, 4>;

/// Long before today, of a universe of matter and radiation. The decaying mode has not been there since.
State beginning(const Cosmology& c, double a) {
  if (c.omega_radiation == 0) return {a, a, -3. / 7 * a * a, -6. / 7 * a * a};
  const double growing = 1.5 * a * c.omega_matter / c.omega_radiation;
  return {1 + growing, growing, 0, 0};
}

}  // namespace

Growth growth_at(const Expansion& expansion, double scale_factor) {
  const Cosmology& c = expansion.cosmology();
  // Curvature, which counts with a against matter, is below 1e-10 of the density here, and dark energy less.
  const double first = 1e-11;
  State state = beginning(c, first);
  const auto equations = [&](const State& now, State& change, double y) {
    const double a = std::exp(y), friction = 2 + expansion.hubble_slope(a),
                 pull = 1.5 * expansion.omega_matter(a);
    change = {now[1], pull * now[0] - friction * now[1], now[3],
              pull * (now[2] - now[0] * now[0]) - friction * now[3]};
  };
  const double from = std::log(first), to = std::log(scale_factor);
  const auto steps = static_cast<int>(std::ceil((to - from) / longest_step));
  const double step = (to - from) / steps;
  // Not integrate_n_steps(), whose copies of the stepper make GCC warn of members that are not set yet.
  boost::numeric::odeint::runge_kutta_fehlberg78<State> stepper;
  for (int i = 0; i < steps; ++i) stepper.do_step(equations, state, from + i * step, step);
  // So that D1 is a where matter dominates.
  const double unit = c.omega_radiation == 0 ? 1 : c.omega_radiation / (1.5 * c.omega_matter);
  return {state[0] * unit, state[1] / state[0], state[2] * unit * unit, state[3] / state[2]};
}

}  // namespace grove
