#include <fmt/format.h>

#include <array>
#include <cmath>

#include "selftest/evaluated.hpp"

namespace grove {
namespace {

struct Pair {
  const char* name;
  SofteningKernel kernel;
  double distance;  ///< in units of the softening
  double force, potential;
};

/// Two bodies of mass 1 at a distance on the x axis; eps = 1.
Particles two_bodies(const Communicator& comm, double distance) {
  Particles particles = model_particles(comm, "kepler", 2);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    particles.mass[i] = 1;
    particles.position[i] = {particles.id[i] == 1 ? 0 : distance, 0, 0};
  }
  return particles;
}

}  // namespace

void check_softening(const SelfTestMachine& machine, const SelfCheckReport& report) {
  const EachRank each(machine, report);
  // GADGET's spline reaches to h = 2.8 eps. At h / 2 there are 19/30 of the mass inside: 32 (u^3/3 - 6 u^5/5
  // + u^6) at u = 1/2; the potential there is -(1/h) (14/5 - 16/3 u^2 + 48/5 u^4 - 32/5 u^5) = -(28/15) / h.
  const double h = 2.8, plummer = 1 / std::sqrt(1 + 4.0);
  const std::array pairs{
      Pair{"spline softening, at the same place", SofteningKernel::spline, 0, 0, 1},
      Pair{"spline softening, at half its radius", SofteningKernel::spline, h / 2, 19.0 / 30 / (h * h / 4),
           28.0 / 15 / h},
      Pair{"spline softening, beyond its radius", SofteningKernel::spline, 3, 1.0 / 9, 1.0 / 3},
      Pair{"Plummer softening, at the same place", SofteningKernel::plummer, 0, 0, 1},
      Pair{"Plummer softening, at two lengths", SofteningKernel::plummer, 2, 2 * plummer * plummer * plummer,
           plummer},
  };
  // Single precision: the distance is rounded, and the formulas round some twelve times, each by 2^-24; the
  // spline's polynomials cancel up to four times their value.
  const double rounding = 64 * std::ldexp(1.0, -24);
  for (const Pair& pair : pairs) {
    GravityParameters gravity;
    gravity.kernel = pair.kernel;
    gravity.softening.fill(1);
    const Particles all =
        Evaluated(each.machine, two_bodies(each.alone, pair.distance), gravity).all(each.alone);
    each.report({fmt::format("{}: force", pair.name), all.acceleration[0].x, pair.force, rounding});
    each.report({fmt::format("{}: potential", pair.name), all.potential[0], -pair.potential, rounding});
  }
}

}  // namespace grove
