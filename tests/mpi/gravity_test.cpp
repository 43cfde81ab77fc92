#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "gravity/force_hash.hpp"
#include "gravity/suggested_softening.hpp"
#include "kernels/math/softening.hpp"
#include "support/host_forces.hpp"
#include "support/shared_domain.hpp"

namespace grove {
namespace {

/// A concentration in the middle of a wide, lopsided cloud: r = u^3 of three exponentials, unequal masses.
Particles make_cloud(std::size_t count, int types = 1) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Particles particles;
  particles.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d direction{normal(random), normal(random) + 0.3, 0.5 * normal(random)};
    particles.position[i] = 3 * std::pow(uniform(random), 3) * direction;
    particles.mass[i] = (0.5 + uniform(random)) / static_cast<double>(count);
    particles.id[i] = mixed(i);
    particles.type[i] = static_cast<std::uint8_t>(i % static_cast<std::size_t>(types));
  }
  return particles;
}

GravityParameters parameters_of(Criterion criterion, Order order) {
  GravityParameters parameters;
  parameters.gravitational_constant = 3;
  parameters.criterion = criterion;
  parameters.order = order;
  parameters.theta = 0.6;
  parameters.delta = criterion == Criterion::multipole ? 0.02 : 0.002;
  parameters.softening.fill(0.01);
  return parameters;
}

/// Evaluates twice, the second time with |a_old| of the first; where groups are split once more, with the
/// critical separation found then.
ForceReport evaluate_twice(const Communicator& comm, const GravityParameters& parameters,
                           SharedDomain& shared) {
  HostForces forces(comm, parameters, shared.particles);
  forces.evaluate(shared.domain);
  if (parameters.splits_groups()) forces.evaluate(shared.domain, {.tunes_groups = true});
  return forces.evaluate(shared.domain);
}

/// Direct sums: the acceleration, and the sum of the sizes of its terms.
struct Direct {
  Vec3d acceleration{};
  double sizes = 0, potential = 0;
};
Direct direct_force(const Particles& all, std::size_t i, const GravityParameters& parameters) {
  Direct result;
  for (std::size_t j = 0; j < all.size(); ++j) {
    if (j == i) continue;
    const Vec3d d = all.position[j] - all.position[i];
    const double r2 = norm2(d);
    const double eps = std::max(parameters.softening[all.type[i]], parameters.softening[all.type[j]]);
    const auto pair = parameters.kernel == SofteningKernel::plummer
                          ? plummer_pair(r2, eps)
                          : spline_pair(r2, 1 / std::sqrt(r2), 1 / (spline_radius_over_softening * eps));
    const double gm = parameters.gravitational_constant * all.mass[j];
    result.acceleration += gm * pair.force * d;
    result.potential -= gm * pair.potential;
    result.sizes += gm * pair.force * std::sqrt(r2);
  }
  return result;
}

/// NaN has the same bits on all ranks too.
bool all_finite(const Particles& particles) {
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (!std::isfinite(norm(particles.acceleration[i])) || !std::isfinite(particles.potential[i]))
      return false;
  return true;
}

struct Variant {
  Criterion criterion;
  Order order;
  SofteningKernel kernel;
  LocalTreeKind tree = LocalTreeKind::bisection;
  Curve curve = Curve::hilbert;
  CutRule rule = CutRule::middle;
  WalkKind walk = WalkKind::groups;
};
class GravityVariants : public testing::TestWithParam<Variant> {};

TEST_P(GravityVariants, have_the_same_bits_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  GravityParameters parameters = parameters_of(GetParam().criterion, GetParam().order);
  parameters.kernel = GetParam().kernel;
  parameters.tree = GetParam().tree;
  parameters.curve = GetParam().curve;
  parameters.walk = GetParam().walk;
  parameters.softening = {0.01, 0.1};
  if (parameters.curve == Curve::morton) parameters.critical_separation = 0.1;
  Particles all = make_cloud(3000, 2);
  for (std::size_t i = 0; i < all.size(); i += 5) all.mass[i] = 0;
  SharedDomain shared = share_out(comm, all, 96, {}, GetParam().rule),
               whole = share_out(alone, all, 96, {}, GetParam().rule);
  const ForceReport on_all = evaluate_twice(comm, parameters, shared);
  const ForceReport on_one = evaluate_twice(alone, parameters, whole);
  EXPECT_EQ(force_hash(comm, shared.particles), force_hash(alone, whole.particles));
  EXPECT_TRUE(all_finite(whole.particles));
  EXPECT_EQ(on_all.interactions.cell, on_one.interactions.cell);
  EXPECT_EQ(on_all.interactions.particle, on_one.interactions.particle);
  EXPECT_EQ(on_all.median_acceleration, on_one.median_acceleration);
  EXPECT_EQ(on_all.critical_separation, on_one.critical_separation);
  EXPECT_EQ(on_one.critical_separation > 0, parameters.splits_groups());
  EXPECT_EQ(on_one.let.nodes + on_one.let.particles, 0);
}

std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  for (const Criterion criterion :
       {Criterion::opening_edge, Criterion::opening_radius, Criterion::multipole, Criterion::acceleration})
    for (const Order order : {Order::monopole, Order::quadrupole})
      for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
        variants.push_back({criterion, order, kernel});
  for (const Criterion criterion : {Criterion::opening_edge, Criterion::acceleration})
    for (const Curve curve : {Curve::hilbert, Curve::morton})
      for (const CutRule rule : {CutRule::middle, CutRule::centre})
        variants.push_back(
            {criterion, Order::quadrupole, SofteningKernel::spline, LocalTreeKind::octree, curve, rule});
  for (const Criterion criterion : {Criterion::multipole, Criterion::acceleration})
    for (const LocalTreeKind tree : {LocalTreeKind::bisection, LocalTreeKind::octree, LocalTreeKind::kd})
      variants.push_back({criterion, Order::quadrupole, SofteningKernel::spline, tree, Curve::hilbert,
                          CutRule::middle, WalkKind::rope});
  for (const Criterion criterion : {Criterion::opening_edge, Criterion::acceleration})
    variants.push_back({criterion, Order::quadrupole, SofteningKernel::spline, LocalTreeKind::kd});
  for (const LocalTreeKind tree : {LocalTreeKind::bisection, LocalTreeKind::kd})
    for (const WalkKind walk : {WalkKind::groups, WalkKind::rope})
      variants.push_back({Criterion::relative_edge, Order::monopole, SofteningKernel::spline, tree,
                          Curve::hilbert, CutRule::middle, walk});
  for (const Criterion criterion : {Criterion::opening_radius, Criterion::acceleration})
    for (const LocalTreeKind tree : {LocalTreeKind::bisection, LocalTreeKind::octree, LocalTreeKind::kd})
      for (const WalkKind walk : {WalkKind::groups, WalkKind::rope})
        variants.push_back({criterion, Order::octupole, SofteningKernel::spline, tree, Curve::hilbert,
                            CutRule::middle, walk});
  for (const CutRule rule : {CutRule::middle, CutRule::centre})
    for (const WalkKind walk : {WalkKind::groups, WalkKind::rope})
      variants.push_back({Criterion::opening_cell, Order::monopole, SofteningKernel::spline,
                          LocalTreeKind::octree, Curve::hilbert, rule, walk});
  return variants;
}
INSTANTIATE_TEST_SUITE_P(All, GravityVariants, testing::ValuesIn(all_variants()));

/// In double precision, rounded once: 2^-24 of each component; and the sums differ by 2^-53 of the sizes of
/// their terms for each of the 400.
TEST(Gravity, sums_directly_if_there_are_fewer_particles_than_asked_for) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  GravityParameters parameters = parameters_of(Criterion::acceleration, Order::quadrupole);
  parameters.softening = {0.01, 0.1};
  const Particles all = make_cloud(400, 2);
  parameters.direct_below = 401;
  SharedDomain shared = share_out(comm, all, 96), whole = share_out(alone, all, 96);
  const ForceReport report = evaluate_twice(comm, parameters, shared);
  evaluate_twice(alone, parameters, whole);
  EXPECT_EQ(force_hash(comm, shared.particles), force_hash(alone, whole.particles));
  EXPECT_EQ(report.interactions.particle, 400 * 400);
  EXPECT_EQ(report.interactions.cell, 0);
  for (std::size_t i = 0; i < whole.particles.size(); ++i) {
    const Direct direct = direct_force(whole.particles, i, parameters);
    const double bound = 0x1p-23 * norm(direct.acceleration) + 400 * 0x1p-52 * direct.sizes;
    ASSERT_LE(norm(whole.particles.acceleration[i].as<double>() - direct.acceleration), bound);
    ASSERT_NEAR(whole.particles.potential[i], direct.potential, 0x1p-23 * std::abs(direct.potential));
    ASSERT_EQ(whole.particles.work[i], 400U);
  }
  parameters.direct_below = 400;
  EXPECT_GT(evaluate_twice(comm, parameters, shared).interactions.cell, 0);
}

TEST(Gravity, is_direct_summation_when_everything_is_opened) {
  const Communicator comm(MPI_COMM_WORLD);
  const Particles all = make_cloud(1000, 2);
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline}) {
    GravityParameters parameters = parameters_of(Criterion::opening_radius, Order::quadrupole);
    parameters.kernel = kernel;
    parameters.theta = 1e-4;
    parameters.softening = {0.01, 0.03};
    SharedDomain shared = share_out(comm, all, 64);
    const ForceReport report = HostForces(comm, parameters, shared.particles).evaluate(shared.domain);
    EXPECT_LT(report.interactions.cell,
              report.interactions.particle / 100);  // single particles have no extent
    EXPECT_EQ(report.particles, 1000);

    // Single precision, u = 2^-24: n terms added one after the other lose at most n u of the sum of their
    // sizes, and a term itself some tens of u, as places are rounded relative to their leaf, not to their
    // distance.
    const double tolerance = (1000 + 100) * std::ldexp(1.0, -24);
    for (std::size_t i = 0; i < all.size(); i += 7) {
      std::size_t at = 0;
      while (at < shared.particles.size() && shared.particles.id[at] != all.id[i]) ++at;
      if (at == shared.particles.size()) continue;  // on another rank
      const Direct direct = direct_force(all, i, parameters);
      const Vec3d found = shared.particles.acceleration[at].as<double>();
      EXPECT_LE(norm(found - direct.acceleration), tolerance * direct.sizes) << i;
      EXPECT_NEAR(shared.particles.potential[at], direct.potential, tolerance * -direct.potential) << i;
      EXPECT_FLOAT_EQ(shared.particles.old_acceleration[at], norm(shared.particles.acceleration[at]));
    }
  }
}

TEST(Gravity, does_not_depend_on_who_owns_the_leaves) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const GravityParameters parameters = parameters_of(Criterion::acceleration, Order::quadrupole);
  const Particles all = make_cloud(2000);
  SharedDomain whole = share_out(alone, all, 64);
  evaluate_twice(alone, parameters, whole);
  EXPECT_TRUE(all_finite(whole.particles));
  const std::uint64_t expected = force_hash(alone, whole.particles);
  const std::int32_t leaves = whole.domain.leaves();

  for (int owner = 0; owner < comm.size(); ++owner) {  // one rank has everything but the first leaf
    std::vector<std::int32_t> first(static_cast<std::size_t>(comm.size()) + 1, leaves);
    for (int r = 0; r <= owner; ++r) first[static_cast<std::size_t>(r)] = r == 0 ? 0 : 1;
    SharedDomain shared = share_out(comm, all, 64, first);
    evaluate_twice(comm, parameters, shared);
    EXPECT_EQ(force_hash(comm, shared.particles), expected) << "rank " << owner << " has nearly everything";
  }
}

/// Ranks own so many leaves that others know cells of them alone.
TEST(Gravity, along_ropes_is_the_same_where_cells_of_other_ranks_are_known_without_their_children) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  GravityParameters parameters = parameters_of(Criterion::acceleration, Order::quadrupole);
  const Particles all = make_cloud(4000);
  for (const WalkKind walk : {WalkKind::groups, WalkKind::rope}) {
    parameters.walk = walk;
    SharedDomain shared = share_out(comm, all, 8), whole = share_out(alone, all, 8);
    evaluate_twice(comm, parameters, shared);
    evaluate_twice(alone, parameters, whole);
    EXPECT_EQ(force_hash(comm, shared.particles), force_hash(alone, whole.particles));
  }
}

TEST(Gravity, works_with_fewer_leaves_than_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  GravityParameters parameters = parameters_of(Criterion::acceleration, Order::quadrupole);
  for (const LocalTreeKind tree : {LocalTreeKind::bisection, LocalTreeKind::octree, LocalTreeKind::kd})
    for (const std::size_t count : {1, 5, 130}) {
      parameters.tree = tree;
      const Particles all = make_cloud(count);
      SharedDomain shared = share_out(comm, all, 64), whole = share_out(alone, all, 64);
      evaluate_twice(comm, parameters, shared);
      evaluate_twice(alone, parameters, whole);
      EXPECT_EQ(force_hash(comm, shared.particles), force_hash(alone, whole.particles)) << count;
      EXPECT_TRUE(all_finite(whole.particles)) << count;
    }
}

TEST(Gravity, has_the_same_bits_when_particles_have_left_the_places_of_their_leaves) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const GravityParameters parameters = parameters_of(Criterion::acceleration, Order::quadrupole);
  const Particles all = make_cloud(2000);
  SharedDomain shared = share_out(comm, all, 64), whole = share_out(alone, all, 64);
  for (SharedDomain* some : {&shared, &whole}) {
    HostForces forces(some == &shared ? comm : alone, parameters, some->particles);
    forces.evaluate(some->domain);
    const Vec3d centre = some->domain.box.low + 0.5 * some->domain.box.edge * Vec3d{1, 1, 1};
    for (std::size_t i = 0; i < some->particles.size(); ++i) {  // towards the centre, each by its own amount
      const double share = static_cast<double>(mixed(some->particles.id[i]) % 1000) / 2000;
      some->particles.position[i] += share * (centre - some->particles.position[i]);
    }
    forces.evaluate(some->domain);
  }
  EXPECT_EQ(force_hash(comm, shared.particles), force_hash(alone, whole.particles));
  EXPECT_TRUE(all_finite(whole.particles));
}

TEST(Gravity, of_particles_at_one_place_is_no_force_and_the_potential_of_the_softening) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  for (const SofteningKernel kernel : {SofteningKernel::plummer, SofteningKernel::spline})
    for (const Vec3d& place : {Vec3d{0, 0, 0}, Vec3d{3, -4e5, 1e-7}})
      for (const std::size_t count : {1U, 2U, 200U, 201U}) {
        GravityParameters parameters = parameters_of(Criterion::acceleration, Order::quadrupole);
        parameters.kernel = kernel;
        if (count % 2 == 1) parameters.tree = LocalTreeKind::octree;
        Particles all = make_cloud(count);
        double mass = 0;
        for (std::size_t i = 0; i < count; ++i) all.position[i] = place, mass += all.mass[i];
        SharedDomain shared = share_out(comm, all, 64), whole = share_out(alone, all, 64);
        evaluate_twice(comm, parameters, shared);
        evaluate_twice(alone, parameters, whole);
        EXPECT_EQ(force_hash(comm, shared.particles), force_hash(alone, whole.particles));
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(whole.particles.acceleration[i], (Vec3f{0, 0, 0}));
          // -G m / eps of each other particle; 200 additions and a dozen roundings of 2^-24 each.
          const double potential = -3 * (mass - whole.particles.mass[i]) / 0.01;
          EXPECT_NEAR(whole.particles.potential[i], potential, 1.3e-5 * std::abs(potential));
        }
      }
}

TEST(Gravity, of_one_unsoftened_particle_is_no_force) {
  const Communicator alone(MPI_COMM_SELF);
  GravityParameters parameters = parameters_of(Criterion::acceleration, Order::quadrupole);
  parameters.softening.fill(0);
  for (const Vec3d& place : {Vec3d{0, 0, 0}, Vec3d{1e-30, 0, 0}, Vec3d{0, 1e17, 0}}) {
    Particles all = make_cloud(1);
    all.position[0] = place;
    SharedDomain whole = share_out(alone, all, 64);
    evaluate_twice(alone, parameters, whole);
    EXPECT_EQ(whole.particles.acceleration[0], (Vec3f{0, 0, 0}));
    EXPECT_EQ(whole.particles.potential[0], 0);
  }
}

/// The message of the InputError of an evaluation; empty if there is none.
std::string refusal(const Communicator& comm, const GravityParameters& parameters, const Particles& all) {
  SharedDomain shared = share_out(comm, all, 64);
  try {
    evaluate_twice(comm, parameters, shared);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Gravity, is_not_spoiled_by_a_distant_particle) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const double distance : {1e4, 1e8, 1e11}) {
    GravityParameters parameters = parameters_of(Criterion::opening_radius, Order::quadrupole);
    parameters.theta = 1e-4;
    parameters.softening.fill(1e-3);
    Particles all = make_cloud(1000);
    all.position[500] = {distance, 0, 0};
    SharedDomain shared = share_out(comm, all, 64);
    evaluate_twice(comm, parameters, shared);
    for (std::size_t i = 0; i < shared.particles.size(); ++i) {
      std::size_t of = 0;
      while (all.id[of] != shared.particles.id[i]) ++of;
      // As without it (is_direct_summation...), places being within some 10 of the origins of their leaves:
      // 4 roundings of that, over a softening of 1e-3, are 40 times more than there.
      const Direct direct = direct_force(all, of, parameters);
      EXPECT_LE(norm(shared.particles.acceleration[i].as<double>() - direct.acceleration),
                (1100 + 4 * 10 / 1e-3) * std::ldexp(1.0, -24) * direct.sizes);
    }
  }
}

TEST(Gravity, refuses_a_softening_that_is_lost_beside_the_box) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles all = make_cloud(1000);
  all.position[500] = {0, 1e14, 0};
  const std::string message = refusal(comm, parameters_of(Criterion::acceleration, Order::quadrupole), all);
  for (const std::string& part :
       {std::string("softening"), std::string("0.01"), std::to_string(all.id[500]), std::string("at least")})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Gravity, refuses_a_distant_cluster_whose_separations_are_lost) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles all = make_cloud(1000);
  for (std::size_t i = 0; i < 20; ++i) all.position[i] += Vec3d{1e10, 0, 0};
  const std::string message = refusal(comm, parameters_of(Criterion::opening_radius, Order::quadrupole), all);
  for (const char* part : {"apart", "softening", "resolves"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Gravity, refuses_scales_that_single_precision_does_not_hold) {
  const Communicator comm(MPI_COMM_WORLD);
  const GravityParameters parameters = parameters_of(Criterion::acceleration, Order::quadrupole);
  Particles small = make_cloud(100), light = small;
  GravityParameters unsoftened = parameters;
  unsoftened.softening.fill(0);
  for (Vec3d& p : small.position) p *= 1e-21;
  for (double& m : light.mass) m *= 1e-45;
  for (const std::string& message : {refusal(comm, unsoftened, small), refusal(comm, parameters, light)})
    EXPECT_NE(message.find("choose units of mass and length"), std::string::npos) << message;
  EXPECT_EQ(refusal(comm, parameters, make_cloud(100)), "");
}

TEST(SuggestedSoftening, is_a_quarter_of_the_distance_of_neighbours_and_does_not_depend_on_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  Particles all = make_cloud(4096);
  for (std::size_t i = 0; i < all.size(); ++i)  // a cubic grid of spacing 1
    all.position[i] = {static_cast<double>(i % 16), static_cast<double>(i / 16 % 16),
                       static_cast<double>(i / 256)};
  const double found = suggested_softening(alone, all);
  // The ball that holds half of 4096 points has a radius of (3 / 4 pi * 2048)^(1/3) = 7.88, but for the
  // corners of the cube and the grain of the grid, a tenth of it.
  EXPECT_NEAR(found, 0.5 * 7.88 / 16, 0.1 * 0.25);
  EXPECT_EQ(suggested_softening(comm, share_out(comm, all, 64).particles), found);
}

TEST(Gravity, imports_nothing_of_a_far_and_small_cluster) {
  const Communicator comm(MPI_COMM_WORLD);
  Particles all = make_cloud(2048);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % 2 == 0) all.position[i] = 1e-3 * all.position[i] + Vec3d{1e4, 0, 0};
  const GravityParameters parameters = parameters_of(Criterion::opening_radius, Order::quadrupole);
  SharedDomain shared = share_out(comm, all, 1024);  // two leaves: one cluster each
  ASSERT_EQ(shared.domain.leaves(), 2);
  EXPECT_EQ(evaluate_twice(comm, parameters, shared).let.nodes, 0);
}

TEST(Gravity, uses_the_opening_angle_until_there_is_an_acceleration) {
  const Communicator comm(MPI_COMM_WORLD);
  SharedDomain shared = share_out(comm, make_cloud(500), 64);
  HostForces forces(comm, parameters_of(Criterion::acceleration, Order::quadrupole), shared.particles);
  const ForceReport first = forces.evaluate(shared.domain);
  EXPECT_TRUE(first.stands_in);
  EXPECT_EQ(first.median_acceleration, 0);
  const ForceReport second = forces.evaluate(shared.domain);
  EXPECT_FALSE(second.stands_in);
  EXPECT_GT(second.median_acceleration, 0);
  EXPECT_GT(forces.timers.seconds("walk"), 0);
}

TEST(Gravity, sums_directly_until_there_is_an_acceleration_if_asked_for) {
  const Communicator comm(MPI_COMM_WORLD);
  const Particles all = make_cloud(500);
  SharedDomain shared = share_out(comm, all, 64), direct = share_out(comm, all, 64);
  GravityParameters parameters = parameters_of(Criterion::relative_edge, Order::quadrupole);
  parameters.first = FirstForces::direct;
  HostForces forces(comm, parameters, shared.particles);
  EXPECT_TRUE(forces.evaluate(shared.domain).stands_in);
  GravityParameters sums = parameters;
  sums.direct_below = 1000;
  HostForces(comm, sums, direct.particles).evaluate(direct.domain);
  EXPECT_EQ(force_hash(comm, shared.particles), force_hash(comm, direct.particles));
  const ForceReport second = forces.evaluate(shared.domain);
  EXPECT_FALSE(second.stands_in);
  EXPECT_GT(second.interactions.cell, 0);
}

}  // namespace
}  // namespace grove
