#include "run/guard/guards.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "backend/host_backend.hpp"
#include "base/errors.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/parameters.hpp"
#include "run/simulation.hpp"
#include "support/particle_sets.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

constexpr Count count = 4000;  // ids of particle_sets.hpp: 7919 i modulo 1000003
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string error_of(const std::function<void()>& check) {
  try {
    check();
  } catch (const Agreed<std::runtime_error>& error) {
    return error.what();
  }
  return {};
}

class Guards : public ::testing::Test {
 protected:
  /// change: what is done to the particles with these numbers.
  std::unique_ptr<HostBackend> backend(
      const std::function<void(Particles&, std::size_t, ParticleId)>& change = {}) {
    Particles own = test::make_particles(comm_, test::Shape::uniform, count, false);
    if (change)
      for (std::size_t i = 0; i < own.size(); ++i) change(own, i, own.id[i]);
    return std::make_unique<HostBackend>(comm_, std::move(own), GravityParameters{});
  }

  Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(Guards, let_an_exchange_pass_that_brings_all_as_it_was) {
  const auto particles = backend();
  ExchangeGuard guard(comm_, *particles);
  DecompositionReport report;
  DecompositionParameters parameters;
  parameters.leaf_size = 100;
  particles->decompose(parameters, {}, report);
  EXPECT_EQ(error_of([&] { guard.check("a decomposition"); }), "");
}

/// Ranks that say something else of their particles than is true.
class Faulty : public HostBackend {
 public:
  using HostBackend::HostBackend;
  std::function<Census()> census() const override {
    return [all = HostBackend::census()() + added] { return all; };
  }
  Census added;
};

TEST_F(Guards, say_what_an_exchange_has_changed) {
  if (comm_.size() == 1) GTEST_SKIP() << "a rank alone exchanges nothing";
  Faulty particles(comm_, test::make_particles(comm_, test::Shape::uniform, count, false), {});
  ExchangeGuard guard(comm_, particles);
  const auto error = [&](const Census& added) {
    particles.added = comm_.rank() == comm_.size() - 1 ? added : Census{};
    return error_of([&] { guard.check("a test"); });
  };
  const std::uint64_t lost = ~std::uint64_t{0};  // -1
  EXPECT_NE(error({lost, 0, 0, 0}).find("a test went wrong: there are 3999 particles in place of 4000"),
            std::string::npos);
  EXPECT_NE(error({0, 1, 1, 0}).find("ids have changed"), std::string::npos);
  EXPECT_NE(error({0, 0, 6, 0}).find("ids have changed"), std::string::npos) << "but not their sum";
  EXPECT_NE(error({0, 0, 0, 1}).find("masses, positions or velocities"), std::string::npos);
  EXPECT_EQ(error({}), "");
}

TEST_F(Guards, see_every_bit_of_what_a_particle_carries) {
  const Census before = Census::of_particle(7, 1, {1, 2, 3}, {4, 5, 6});
  EXPECT_EQ(before, Census::of_particle(7, 1, {1, 2, 3}, {4, 5, 6}));
  const double other = std::nextafter(3.0, 4.0);
  EXPECT_NE(before, Census::of_particle(7, std::nextafter(1.0, 2.0), {1, 2, 3}, {4, 5, 6}));
  EXPECT_NE(before, Census::of_particle(7, 1, {1, 2, other}, {4, 5, 6}));
  EXPECT_NE(before, Census::of_particle(7, 1, {2, 1, 3}, {4, 5, 6}));
  EXPECT_NE(before, Census::of_particle(7, 1, {1, 2, 3}, {5, 4, 6}));
  // Two particles that change places.
  EXPECT_NE(
      before + Census::of_particle(8, 2, {1, 1, 1}, {0, 0, 0}),
      Census::of_particle(7, 2, {1, 1, 1}, {0, 0, 0}) + Census::of_particle(8, 1, {1, 2, 3}, {4, 5, 6}));
}

TEST_F(Guards, name_the_particle_that_has_lost_its_velocity_before_those_it_has_spoilt) {
  const ParticleId culprit = 2000 * 7919 % 1000003, spoilt = 3 * 7919;
  const auto particles = backend([&](Particles& p, std::size_t i, ParticleId id) {
    if (id == spoilt) p.acceleration[i].x = std::numeric_limits<float>::infinity();
    if (id == culprit) p.velocity[i].y = not_a_number;
  });
  const std::string error = error_of([&] { require_finite(comm_, *particles, 2, {12, 0.5}); });
  EXPECT_EQ(error.rfind("after 12 steps, at time 0.5, ", 0), 0U) << error;
  EXPECT_NE(error.find("particle id " + std::to_string(culprit) + " at ("), std::string::npos) << error;
  EXPECT_EQ(error_of([&] { require_finite(comm_, *particles, 0, {}); }), "");
}

TEST_F(Guards, name_the_lowest_id_whose_acceleration_is_lost) {
  const auto particles = backend([&](Particles& p, std::size_t i, ParticleId id) {
    if (id == 3 * 7919 || id == 5 * 7919) p.acceleration[i].z = std::numeric_limits<float>::quiet_NaN();
  });
  EXPECT_NE(error_of([&] { require_finite(comm_, *particles, 2, {}); }).find("particle id 23757 at ("),
            std::string::npos);
}

TEST_F(Guards, name_a_particle_that_has_run_away_but_let_a_system_expand) {
  const Box before{{0, 0, 0}, 1};
  const auto runaway = [&](int out_of) {
    const auto particles = backend([&](Particles& p, std::size_t i, ParticleId id) {
      if (id != 0 && id % static_cast<ParticleId>(out_of) == 0) p.position[i] = {0.5, 0.5, 40};
    });
    EXPECT_EQ(error_of([&] { require_no_runaway(comm_, *particles, before, 32, {}); }), "");
    return error_of([&] { require_no_runaway(comm_, *particles, before, 128, {7, 2}); });
  };
  const int culprit = 2000 * 7919 % 1000003;
  const std::string error = runaway(culprit);
  EXPECT_NE(error.find("1 of 4000 particles has run away"), std::string::npos) << error;
  EXPECT_NE(error.find("particle id " + std::to_string(culprit) + " at (0.5, 0.5, 40)"), std::string::npos)
      << error;
  EXPECT_EQ(runaway(2), "");
}

/// From the forces of a run to the error, on every kind of sum, or from the positions, where a decomposition
/// comes first.
TEST_F(Guards, end_a_run_whose_forces_are_lost) {
  const struct {
    std::string below, interval, text;
  } cases[] = {{"0", "1000", "accelerations"}, {"1000000", "1000", "accelerations"}, {"0", "1", "positions"}};
  for (const auto& [below, interval, text] : cases) {
    Particles own = test::make_particles(comm_, test::Shape::uniform, 300, false);
    for (std::size_t i = 0; i < own.size(); ++i) {
      own.type[i] = 1;
      own.velocity[i] = own.id[i] == 10 * 7919 ? Vec3d{not_a_number, 0, 0} : Vec3d{};
    }
    const Parameters parameters = parse_parameters(
        "units: {system: none}\n"
        "initial_conditions: {model: plummer}\n"
        "gravity: {softening: 0.1, direct_below: " +
            below +
            "}\n"
            "tuning: {rebuild_interval: " +
            interval +
            "}\n"
            "time: {end: 1, step: 0.125, steps: shared}\n",
        "test", {});
    Simulation simulation(comm_, parameters, std::move(own), 0);
    std::string error;
    try {
      simulation.step();
    } catch (const Agreed<std::runtime_error>& caught) {
      error = caught.what();
    }
    EXPECT_NE(error.find("particle id 79190 at ("), std::string::npos) << error;
    EXPECT_NE(error.find(", at time 0.125, "), std::string::npos) << error;
    EXPECT_NE(error.find(text), std::string::npos) << error;
  }
}

/// Though it is brought back into the box.
TEST_F(Guards, end_a_run_whose_particle_leaves_a_periodic_box_far_behind) {
  Particles own = test::make_particles(comm_, test::Shape::uniform, 2000, false);
  for (std::size_t i = 0; i < own.size(); ++i) {
    own.type[i] = 1;
    own.mass[i] = 1e-3;
    own.velocity[i] = own.id[i] == 10 * 7919 ? Vec3d{0, 1e6, 0} : Vec3d{};
  }
  const Parameters parameters = parse_parameters(
      "units: {system: none}\n"
      "initial_conditions: {model: plummer}\n"
      "box: {periodic: true, size: 100}\n"
      "gravity: {softening: 0.1}\n"
      "tuning: {rebuild_interval: 1000}\n"
      "time: {end: 1, step: 0.125, steps: shared}\n",
      "test", {});
  Simulation simulation(comm_, parameters, std::move(own), 0);
  const std::string error = error_of([&] { simulation.step(); });
  EXPECT_NE(error.find("1 of 2000 particles has run away"), std::string::npos) << error;
  EXPECT_NE(error.find("is particle id 79190 "), std::string::npos) << error;
}

/// Fails after some steps, on all ranks together.
class Unlucky : public HostBackend {
 public:
  Unlucky(const Communicator& comm, Particles own, int steps)
      : HostBackend(comm, std::move(own), {}), left_(steps) {}
  double drift(const Drift& drift, const Box* periodic) override {
    if (--left_ < 0) throw Agreed<std::runtime_error>("no luck");
    return HostBackend::drift(drift, periodic);
  }

 private:
  int left_;
};

TEST_F(Guards, say_where_the_last_checkpoint_is) {
  const testing::TestFolder folder(comm_, "guards");
  const auto error_with = [&](const std::string& every) {
    const Parameters parameters = parse_parameters(
        "units: {system: none}\ninitial_conditions: {model: plummer}\ngravity: {softening: 0.1}\n"
        "time: {end: 1, step: 0.01, steps: shared}\noutput: {render: false}\n",
        "test", {"output.folder=" + folder.path(), "checkpoint.every=" + every});
    Particles own = test::make_particles(comm_, test::Shape::uniform, 300, false);
    std::fill(own.type.begin(), own.type.end(), std::uint8_t{1});
    Simulation run(comm_, parameters, std::make_unique<Unlucky>(comm_, std::move(own), 10), 0);
    return error_of([&] { run.run(); });
  };
  EXPECT_NE(error_with("1 h").find("; there is no checkpoint of this run"), std::string::npos);
  const std::string error = error_with("1e-9 s");
  const std::string last = CheckpointFolder(folder.path()).latest_first().at(0);
  EXPECT_NE(error.find(", " + last), std::string::npos) << error;
}

}  // namespace
}  // namespace grove
