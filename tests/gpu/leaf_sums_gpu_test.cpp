// Sums over the particles of leaves on the GPU: those of the host, also of leaves of several pieces, and the
// same bits whatever other leaves there are.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/cuda/particles/particle_steps.hpp"
#include "kernels/cuda/walk/leaf_forces.hpp"
#include "kernels/direct/direct_sum.hpp"
#include "support/device_records.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

using namespace testing;

constexpr Count piece = cuda::LeafPieces::most;
/// Empty ones, one of a particle, of a piece, of one more, of several.
const std::vector<Count> leaf_begin{0, 0, 1, 100, 100 + piece, 101 + 2 * piece, 20000, 20000};
constexpr std::size_t count = 20000, target_count = 70;

template <class T>
std::vector<T> download(const cuda::DeviceArray<T>& array) {
  std::vector<T> host(array.size());
  array.download(host);
  return host;
}

class GpuLeafSums : public GpuTest {
 protected:
  GpuLeafSums() : particles_(make_shape(Shape::plummer, count)) {
    gravity_.softening.fill(0.01);
    for (std::size_t i = 0; i < count; ++i) {
      particles_.velocity[i] = particles_.position[i] * (0.5 / (1 + norm2(particles_.position[i])));
      particles_.potential[i] = -1 / static_cast<float>(1 + i % 7);
    }
    for (std::size_t t = 0; t < target_count; ++t) {
      const std::size_t i = t * count / target_count;
      targets_.push_back({particles_.position[i], 0.01, particles_.id[i]});
    }
  }

  /// A row of targets per leaf.
  std::vector<DirectForce> forces(const std::vector<Count>& begin) const {
    const cuda::DeviceArray<Vec3d> position{std::span<const Vec3d>(particles_.position)};
    const cuda::DeviceArray<double> mass{std::span<const double>(particles_.mass)};
    const cuda::DeviceArray<std::uint8_t> type{std::span<const std::uint8_t>(particles_.type)};
    const cuda::DeviceArray<ParticleId> id{std::span<const ParticleId>(particles_.id)};
    const cuda::DeviceArray<DirectTarget> on_gpu{std::span<const DirectTarget>(targets_)};
    const cuda::DeviceArray<DirectForce> sums((begin.size() - 1) * target_count);
    cuda::sum_leaf_forces(gravity_, {position.data(), mass.data(), type.data(), id.data()},
                          cuda::LeafPieces(begin), on_gpu.data(), target_count, sums.data());
    return download(sums);
  }

  std::vector<Totals> totals(const std::vector<Count>& begin) const {
    const cuda::DeviceArray<double> mass{std::span<const double>(particles_.mass)};
    const cuda::DeviceArray<Vec3d> position{std::span<const Vec3d>(particles_.position)};
    const cuda::DeviceArray<Vec3d> velocity{std::span<const Vec3d>(particles_.velocity)};
    const cuda::DeviceArray<float> potential{std::span<const float>(particles_.potential)};
    const cuda::DeviceArray<Totals> sums(begin.size() - 1);
    const cuda::DeviceArray<ExternalPotential> halo{std::span<const ExternalPotential>(&halo_, 1)};
    const cuda::DeviceArray<std::uint8_t> type{std::span<const std::uint8_t>(particles_.type)};
    cuda::sum_leaves({mass.data(), position.data(), velocity.data(), potential.data(), type.data(), nullptr},
                     {halo.data(), 1}, cuda::LeafPieces(begin), sums.data());
    return download(sums);
  }

  static constexpr ExternalPotential halo_{
      .kind = PotentialKind::hernquist, .centre = {0, 0, 1}, .strength = 2, .scale = 1};
  Particles particles_;
  GravityParameters gravity_;
  std::vector<DirectTarget> targets_;
};

/// Both sums err by as many roundings of 2^-53 of the sizes of their terms as there are particles, 2e-12 of
/// them. Accelerations are below m / 0.01^2 each, 1e4 in all, potentials below m / 0.01, 100 in all.
TEST_F(GpuLeafSums, of_forces_are_those_of_the_host) {
  const std::vector<double> softening(count, 0.01);
  const std::vector<DirectForce> found = forces(leaf_begin);
  for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf) {
    const auto begin = static_cast<std::size_t>(leaf_begin[leaf]),
               end = static_cast<std::size_t>(leaf_begin[leaf + 1]);
    std::vector<DirectForce> expected(target_count);
    direct_sum(gravity_.kernel,
               {particles_.position.data() + begin, particles_.mass.data() + begin, softening.data() + begin,
                particles_.id.data() + begin, end - begin},
               targets_, expected);
    for (std::size_t t = 0; t < target_count; ++t) {
      const DirectForce& force = found[leaf * target_count + t];
      ASSERT_LE(norm(force.acceleration - expected[t].acceleration), 2e-8) << leaf << " " << t;
      ASSERT_NEAR(force.potential, expected[t].potential, 2e-10) << leaf << " " << t;
    }
  }
}

/// Sums of 20000 terms at most, in another order: 2e-12 of the sum of their sizes.
TEST_F(GpuLeafSums, of_totals_are_those_of_the_host) {
  const std::vector<Totals> found = totals(leaf_begin);
  for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf) {
    Totals expected;
    for (auto i = static_cast<std::size_t>(leaf_begin[leaf]);
         i < static_cast<std::size_t>(leaf_begin[leaf + 1]); ++i)
      expected = expected + Totals::of_particle(particles_.mass[i], particles_.position[i],
                                                particles_.velocity[i], particles_.potential[i],
                                                field_at(halo_, particles_.position[i]).potential);
    const auto expect_near = [&](double a, double b, double size) {
      EXPECT_NEAR(a, b, 2e-12 * size) << leaf;
    };
    expect_near(found[leaf].mass, expected.mass, expected.mass);
    expect_near(found[leaf].kinetic_energy, expected.kinetic_energy, expected.kinetic_energy);
    expect_near(found[leaf].potential_energy, expected.potential_energy, -expected.potential_energy);
    expect_near(found[leaf].external_energy, expected.external_energy, -expected.external_energy);
    expect_near(found[leaf].absolute_momentum, expected.absolute_momentum, expected.absolute_momentum);
    for (int axis = 0; axis < 3; ++axis)
      expect_near(found[leaf].momentum[axis], expected.momentum[axis], expected.absolute_momentum);
  }
}

/// On another rank a leaf is among others, perhaps none of which has several pieces.
TEST_F(GpuLeafSums, have_the_same_bits_whatever_leaves_come_along) {
  const std::vector<DirectForce> all_forces = forces(leaf_begin);
  const std::vector<Totals> all_totals = totals(leaf_begin);
  for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf) {
    const std::vector<Count> alone{leaf_begin[leaf], leaf_begin[leaf + 1]};
    EXPECT_EQ(std::memcmp(forces(alone).data(), &all_forces[leaf * target_count],
                          target_count * sizeof(DirectForce)),
              0)
        << leaf;
    EXPECT_EQ(std::memcmp(totals(alone).data(), &all_totals[leaf], sizeof(Totals)), 0) << leaf;
  }
}

TEST_F(GpuLeafSums, of_no_leaves_are_none) {
  EXPECT_EQ(cuda::LeafPieces({}).count, 0U);
  EXPECT_TRUE(totals({0}).empty());
  EXPECT_TRUE(forces({0}).empty());
}

}  // namespace
}  // namespace grove
