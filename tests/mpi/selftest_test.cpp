// `grove selftest` finds what is wrong, and says the same on all ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "selftest/evaluated.hpp"
#include "selftest/selftest.hpp"

namespace grove {
namespace {

class SelfTest : public ::testing::Test {
 protected:
  /// A host whose gravity is changed.
  static BackendMaker with(const std::function<void(GravityParameters&)>& change) {
    return [change](const Communicator& comm, Particles particles, GravityParameters gravity) {
      change(gravity);
      BackendChoice host;
      host.name = "kokkos";
      return make_backend(comm, host, std::move(particles), gravity);
    };
  }
  static BackendMaker right() {
    return with([](GravityParameters&) {});
  }
  SelfCheckReport keep() {
    return [this](const SelfCheck& check) { passed[check.name] = check.passed(); };
  }
  bool has_failed(const std::string& check) const { return !passed.at(check); }

  const Communicator comm{MPI_COMM_WORLD};
  std::map<std::string, bool> passed;  ///< by check
};

// By 2 %: the bodies of the ellipse then go around faster, and are elsewhere after what was a period.
TEST_F(SelfTest, finds_forces_that_are_too_large) {
  const auto stronger = with([](GravityParameters& gravity) { gravity.gravitational_constant *= 1.02; });
  check_softening({comm, stronger}, keep());
  check_motion({comm, stronger}, keep());
  EXPECT_TRUE(has_failed("spline softening, at half its radius: force"));
  EXPECT_TRUE(has_failed("Plummer softening, at two lengths: potential"));
  EXPECT_TRUE(has_failed("ellipse, distance from the start after a period, as steps become shorter"));
}

TEST_F(SelfTest, finds_forces_that_are_not_accurate) {
  check_spheres({comm, with([](GravityParameters& gravity) { gravity.delta *= 20; })}, keep());
  EXPECT_TRUE(has_failed("Plummer sphere: 99th percentile of the force error, by direct summation"));
  EXPECT_FALSE(has_failed("Plummer sphere: half-mass radius")) << "that of the model";
}

TEST_F(SelfTest, passes_where_all_is_right) {
  check_softening({comm, right()}, keep());
  check_motion({comm, right()}, keep());
  for (const auto& [name, has_passed] : passed) EXPECT_TRUE(has_passed) << name;
}

// Each rank compares with a number of its own; the last one is off, by less than the first one may be.
TEST_F(SelfTest, says_on_all_ranks_what_the_worst_one_found) {
  const BackendMaker make = right();
  const double rank = comm.rank();
  const bool is_off = comm.rank() == comm.size() - 1;
  SelfCheck told;
  const SelfTestMachine machine{comm, make};
  const SelfCheckReport report = [&](const SelfCheck& check) { told = check; };
  const EachRank each(machine, report);
  each.report({"a number", rank + (is_off ? 0.5 : 0.8), rank, is_off ? 0.1 : 1});
  EXPECT_FALSE(told.passed());
  EXPECT_EQ(told.expected, comm.size() - 1);
  EXPECT_EQ(told.found, comm.size() - 0.5);
  EXPECT_EQ(told.tolerance, 0.1);
  each.report({"a number", is_off ? std::nan("") : rank + 1e9, rank, 0.1});
  EXPECT_TRUE(std::isnan(told.found)) << "worse than any number";
  each.report({"a number", rank, rank, 0});
  EXPECT_TRUE(told.passed()) << "exactly what was expected";
}

}  // namespace
}  // namespace grove
