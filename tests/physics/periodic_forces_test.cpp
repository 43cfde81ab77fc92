// Forces in periodic boxes against Ewald's sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "io/parameters.hpp"
#include "support/ewald.hpp"
#include "support/host_forces.hpp"
#include "support/periodic_boxes.hpp"
#include "support/shared_domain.hpp"

namespace grove {
namespace {

struct PeriodicErrors {
  double median, p99;  ///< of accelerations, relative
  double potential;    ///< largest, over G M / L
};

/// Errors of forces on so many particles or a few more, against Ewald's sums.
PeriodicErrors errors_of(const Particles& all, const GravityParameters& parameters, std::size_t sample) {
  const Communicator alone(MPI_COMM_SELF);
  SharedDomain whole = share_out(alone, all, 256);
  HostForces forces(alone, parameters, whole.particles);
  forces.evaluate(whole.domain);
  forces.evaluate(whole.domain);
  const Particles& p = whole.particles;
  const Ewald ewald(p.position, p.mass, box_edge);
  const double g = parameters.gravitational_constant;
  std::vector<double> errors;
  double potential = 0;
  for (std::size_t i = 0; i < p.size(); i += p.size() / sample) {
    const Ewald::Force exact = ewald.at(p.position[i]);
    errors.push_back(norm(p.acceleration[i].as<double>() - g * exact.acceleration) /
                     (g * norm(exact.acceleration)));
    potential = std::max(potential, std::abs(p.potential[i] - g * exact.potential) * box_edge / g);
  }
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors[errors.size() * 99 / 100], potential};
}

/// The bounds are what the accuracies promise (docs/cosmology.md has what was measured). The potential's
/// errors are those of sums of some 20 G M / L; the clumps' own potentials are 100 times as deep.
struct ErrorCase {
  const char* name;
  Particles (*make)(std::size_t count);
  double potential;
  std::size_t count = 8000, sample = 250;
};
class PeriodicErrorsOf : public testing::TestWithParam<ErrorCase> {};

TEST_P(PeriodicErrorsOf, forces_are_those_of_the_accuracy) {
  const Particles all = GetParam().make(GetParam().count);
  for (const Order order : {Order::octupole, Order::quadrupole}) {
    const auto errors = [&](Accuracy accuracy) {
      GravityParameters gravity = periodic_parameters(accuracy_of(accuracy, true).periodic_delta);
      gravity.order = order;
      return errors_of(all, gravity, GetParam().sample);
    };
    const PeriodicErrors standard = errors(Accuracy::standard), high = errors(Accuracy::high);
    std::printf("%s, %zu particles, %s: standard %.2g, %.3g, high %.2g, %.3g (median, 99th percentile)\n",
                GetParam().name, all.size(), order == Order::octupole ? "octupoles" : "quadrupoles",
                standard.median, standard.p99, high.median, high.p99);
    EXPECT_LT(standard.p99, 1e-3);
    EXPECT_LT(standard.potential, GetParam().potential);
    EXPECT_LT(high.p99, 2e-4);
  }
}

/// Displaced by a tenth of a spacing, as at z = 49 where the spacing is 2.5 Mpc.
Particles lattice(std::size_t count) {
  return displaced_lattice(static_cast<std::size_t>(std::lround(std::cbrt(count))), 0.1);
}

INSTANTIATE_TEST_SUITE_P(Boxes, PeriodicErrorsOf,
                         testing::Values(ErrorCase{"random", random_box, 1e-4},
                                         ErrorCase{"clustered", clustered_box, 1e-2},
                                         ErrorCase{"lattice", lattice, 1e-4}),
                         [](const auto& tried) { return std::string(tried.param.name); });
// Minutes: --gtest_also_run_disabled_tests --gtest_filter='*Many*'. The potential of clumps is deeper.
INSTANTIATE_TEST_SUITE_P(DISABLED_Many, PeriodicErrorsOf,
                         testing::Values(ErrorCase{"random", random_box, 1e-4, 65536, 1000},
                                         ErrorCase{"clustered", clustered_box, 1e-1, 65536, 1000},
                                         ErrorCase{"lattice", lattice, 1e-4, 64000, 1000}),
                         [](const auto& tried) { return std::string(tried.param.name); });

}  // namespace
}  // namespace grove
