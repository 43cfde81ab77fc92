// Direct summation on the GPU, in single and in double precision, against the host's.
#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/cuda/direct/direct_force.hpp"
#include "support/device_grown.hpp"
#include "support/distributions.hpp"
#include "support/force_bounds.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

using namespace testing;

constexpr SofteningKernel both_kernels[] = {SofteningKernel::plummer, SofteningKernel::spline};
constexpr std::size_t all_counts[] = {1, 2, 31, 33, 65, 1000, 4097};

GravityParameters gravity_of(SofteningKernel kernel, double softening) {
  GravityParameters gravity;
  gravity.kernel = kernel;
  gravity.softening.fill(softening);
  return gravity;
}

/// Types in turn, with a length each, and every fifth particle without mass.
void mix(Particles& particles, GravityParameters& gravity) {
  gravity.softening = {0.01, 0, 0.05, 0.002, 0.2, 0.02};
  for (std::size_t i = 0; i < particles.size(); ++i) {
    particles.type[i] = static_cast<std::uint8_t>(i % particle_types);
    if (i % 5 == 2) particles.mass[i] = 0;
  }
}

struct OnDevice {
  cuda::DeviceArray<Vec3d> position;
  cuda::DeviceArray<double> mass;
  cuda::DeviceArray<std::uint8_t> type;

  explicit OnDevice(const Particles& p)
      : position(std::span<const Vec3d>(p.position)),
        mass(std::span<const double>(p.mass)),
        type(std::span<const std::uint8_t>(p.type)) {}
  cuda::DirectParticles view() const { return {position.data(), mass.data(), type.data(), position.size()}; }
};

struct Forces {
  std::vector<Vec3f> acceleration;
  std::vector<float> potential;
};

/// In single precision, of particles first .. first + count - 1.
Forces single_forces(const Particles& particles, const GravityParameters& gravity, std::size_t first,
                     std::size_t count) {
  Grown grown;
  grown.prepare(particles, *std::max_element(gravity.softening.begin(), gravity.softening.end()));
  const OnDevice on_device(particles);
  const cuda::DeviceArray<Vec3f> acceleration(count);
  const cuda::DeviceArray<float> potential(count);
  cuda::direct_force(gravity, grown.units, on_device.view(), {first, count}, acceleration.data(),
                     potential.data());
  return {download(acceleration), download(potential)};
}

std::vector<DirectForce> double_forces(const Particles& particles, const GravityParameters& gravity,
                                       const std::vector<std::uint32_t>& targets) {
  const OnDevice on_device(particles);
  const auto wanted = upload(targets);
  const cuda::DeviceArray<DirectForce> forces(targets.size());
  cuda::direct_sum(gravity, on_device.view(), wanted.data(), targets.size(), forces.data());
  return download(forces);
}

/// Sums of at most 512 are added in single precision, and each sum, or a part of them, is rounded once or
/// twice; the bound is 5/4 of what it grants the host, as in GpuWalk, for the sake of the approximate root.
double single_bound(const Particles& particles, const GravityParameters& gravity, std::size_t i,
                    double extent) {
  const std::size_t additions = std::min<std::size_t>(particles.size(), 512) + 2;
  return 1.25 * rounding_bound(particles, gravity, i, extent, additions);
}

void expect_single_precision(const Particles& particles, const GravityParameters& gravity, double extent) {
  const Forces found = single_forces(particles, gravity, 0, particles.size());
  const auto exact = direct_forces(particles, gravity);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const double bound = single_bound(particles, gravity, i, extent);
    ASSERT_LE(norm(found.acceleration[i].as<double>() - exact[i].acceleration), bound) << i;
    ASSERT_NEAR(found.potential[i], exact[i].potential, bound * 2 * extent) << i;
  }
}

using GpuDirectForce = GpuTest;

TEST_F(GpuDirectForce, is_that_of_the_host_to_single_precision) {
  for (const Shape shape : {Shape::uniform, Shape::hernquist, Shape::clumps, Shape::plane, Shape::pairs})
    for (const SofteningKernel kernel : both_kernels)
      for (const std::size_t count : all_counts) {
        SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
        expect_single_precision(make_shape(shape, count), gravity_of(kernel, 0.02),
                                shape == Shape::hernquist ? 100 : 5);
      }
}

TEST_F(GpuDirectForce, knows_softening_by_type_and_particles_without_mass) {
  for (const Shape shape : {Shape::uniform, Shape::clumps})
    for (const SofteningKernel kernel : both_kernels)
      for (const std::size_t count : all_counts) {
        SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
        Particles particles = make_shape(shape, count);
        GravityParameters gravity;
        gravity.kernel = kernel;
        mix(particles, gravity);
        expect_single_precision(particles, gravity, 5);
      }
}

/// All at one point: no acceleration, and psi(0) = 1/eps of every other one, to a dozen roundings each and
/// those of the sum.
TEST_F(GpuDirectForce, of_coincident_particles_is_none) {
  constexpr std::size_t count = 700;
  constexpr double softening = 0.5;
  for (const SofteningKernel kernel : both_kernels) {
    const Forces found =
        single_forces(make_shape(Shape::point, count), gravity_of(kernel, softening), 0, count);
    constexpr double others = (count - 1.) / count, tolerance = (512 + 2 + 12) * unit_roundoff;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(norm(found.acceleration[i]), 0) << i;
      ASSERT_NEAR(found.potential[i], -others / softening, others / softening * tolerance) << i;
    }
  }
}

/// Coincident without softening: finite, since no length counts for less than least_softening.
TEST_F(GpuDirectForce, is_finite_without_softening) {
  for (const SofteningKernel kernel : both_kernels) {
    const Forces found = single_forces(make_shape(Shape::pairs, 1000), gravity_of(kernel, 0), 0, 1000);
    for (std::size_t i = 0; i < found.acceleration.size(); ++i) {
      ASSERT_TRUE(std::isfinite(norm(found.acceleration[i]))) << i;
      ASSERT_TRUE(std::isfinite(found.potential[i])) << i;
    }
  }
}

/// Two clumps at 1e7 from each other and from the origin, in tiles of their own: each has the forces of its
/// particles alone, but for what the other one does, below its mass over 1e14. Coordinates of 1e7 in single
/// precision would be off by 1.
TEST_F(GpuDirectForce, is_precise_far_from_the_origin) {
  constexpr std::size_t half = 1024;
  Particles all = make_shape(Shape::uniform, 2 * half), clump = make_shape(Shape::uniform, half);
  for (std::size_t i = 0; i < 2 * half; ++i) {
    // The same places in both clumps, as they are after rounding.
    all.position[i] = clump.position[i % half] + Vec3d{i < half ? 1e7 : 2e7, -1e7, 1e7};
    all.mass[i] = clump.mass[i % half];
  }
  const GravityParameters gravity = gravity_of(SofteningKernel::spline, 0.02);
  const Forces found = single_forces(all, gravity, 0, 2 * half);
  for (const std::size_t first : {std::size_t{0}, half}) {
    std::copy_n(all.position.begin() + static_cast<std::ptrdiff_t>(first), half, clump.position.begin());
    const auto exact = direct_forces(clump, gravity);
    for (std::size_t i = 0; i < half; ++i)
      ASSERT_LE(norm(found.acceleration[first + i].as<double>() - exact[i].acceleration),
                single_bound(clump, gravity, i, 2) + 1e-14)
          << i;
  }
}

TEST_F(GpuDirectForce, of_a_run_has_the_bits_of_that_of_all) {
  constexpr std::size_t count = 3001;
  for (const SofteningKernel kernel : both_kernels) {
    Particles particles = make_shape(Shape::clumps, count);
    GravityParameters gravity;
    gravity.kernel = kernel;
    mix(particles, gravity);
    const Forces all = single_forces(particles, gravity, 0, count);
    for (const auto& [first, number] : {std::pair<std::size_t, std::size_t>{0, 1},
                                        {511, 2},
                                        {640, 128},
                                        {1000, 1},
                                        {700, 1700},
                                        {2999, 2}}) {
      const Forces some = single_forces(particles, gravity, first, number);
      for (std::size_t i = 0; i < number; ++i) {
        ASSERT_EQ(some.acceleration[i], all.acceleration[first + i]) << first << " " << i;
        ASSERT_EQ(some.potential[i], all.potential[first + i]) << first << " " << i;
      }
    }
  }
}

using GpuDirectSum = GpuTest;

/// Both sum in double precision, in another order: n additions and a dozen operations a pair, of 2^-53 each.
/// Coincident particles have softening here.
TEST_F(GpuDirectSum, is_that_of_the_host) {
  for (const Shape shape : {Shape::clumps, Shape::pairs})
    for (const SofteningKernel kernel : both_kernels)
      for (const std::size_t count : all_counts) {
        SCOPED_TRACE(name_of(shape) + " " + std::to_string(count));
        Particles particles = make_shape(shape, count);
        GravityParameters gravity = gravity_of(kernel, 0.02);
        if (shape == Shape::clumps) mix(particles, gravity);
        std::vector<std::uint32_t> targets;
        for (std::uint32_t i = 0; i < count; ++i) targets.push_back(i);
        const auto found = double_forces(particles, gravity, targets);
        const auto exact = direct_forces(particles, gravity);
        for (std::size_t i = 0; i < count; ++i) {
          const double bound = rounding_bound(particles, gravity, i, 0) * 0x1p-29;
          ASSERT_LE(norm(found[i].acceleration - exact[i].acceleration), bound) << i;
          ASSERT_NEAR(found[i].potential, exact[i].potential, bound * 10) << i;  // distances are below 10
        }
      }
}

TEST_F(GpuDirectSum, does_not_depend_on_the_other_targets) {
  const Particles particles = make_shape(Shape::hernquist, 5000);
  const GravityParameters gravity = gravity_of(SofteningKernel::spline, 0.02);
  std::vector<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < particles.size(); i += 11) targets.push_back(i);
  const auto together = double_forces(particles, gravity, targets);
  for (const std::size_t k : {std::size_t{0}, std::size_t{130}, targets.size() - 1}) {
    const auto alone = double_forces(particles, gravity, {targets[k]});
    EXPECT_EQ(alone[0].acceleration, together[k].acceleration);
    EXPECT_EQ(alone[0].potential, together[k].potential);
  }
}

}  // namespace
}  // namespace grove
