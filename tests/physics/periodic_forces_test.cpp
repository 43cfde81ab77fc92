// Forces in periodic boxes against Ewald's sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

/// Errors of forces on every eighth particle or so, against Ewald's sums.
PeriodicErrors errors_of(const Particles& all, const GravityParameters& parameters) {
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
  for (std::size_t i = 0; i < p.size(); i += p.size() / 250) {
    const Ewald::Force exact = ewald.at(p.position[i]);
    errors.push_back(norm(p.acceleration[i].as<double>() - g * exact.acceleration) /
                     (g * norm(exact.acceleration)));
    potential = std::max(potential, std::abs(p.potential[i] - g * exact.potential) * box_edge / g);
  }
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors[errors.size() * 99 / 100], potential};
}

/// p99 of 8.4e-4, 5.5e-4 and 8.0e-4 by the default, of 1.2e-4, 1.1e-4 and 1.5e-4 by `high`
/// (docs/cosmology.md). The potential's errors are those of sums of some 20 G M / L; the clumps' own
/// potentials are 100 times as deep.
struct ErrorCase {
  const char* name;
  Particles (*make)(std::size_t count);
  double potential;
};
class PeriodicErrorsOf : public testing::TestWithParam<ErrorCase> {};

TEST_P(PeriodicErrorsOf, forces_are_those_of_the_accuracy) {
  const Particles all = GetParam().make(8000);
  const auto errors = [&](Accuracy accuracy) {
    return errors_of(all, periodic_parameters(accuracy_of(accuracy, true).periodic_delta));
  };
  const PeriodicErrors standard = errors(Accuracy::standard);
  EXPECT_LT(standard.p99, 1e-3);
  EXPECT_LT(standard.potential, GetParam().potential);
  EXPECT_LT(errors(Accuracy::high).p99, 2e-4);
}

INSTANTIATE_TEST_SUITE_P(
    Boxes, PeriodicErrorsOf,
    testing::Values(ErrorCase{"random", random_box, 1e-4}, ErrorCase{"clustered", clustered_box, 1e-2},
                    ErrorCase{"lattice", [](std::size_t) { return displaced_lattice(20, 0.1); }, 1e-4}),
    [](const auto& tried) { return std::string(tried.param.name); });

}  // namespace
}  // namespace grove
