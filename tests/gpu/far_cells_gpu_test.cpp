// The gravity of cells of a periodic box on leaves far off, on a GPU: that of the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gravity/far_field.hpp"
#include "kernels/cuda/particles/periodic.hpp"
#include "kernels/cuda/trees/far_cells.hpp"
#include "particles/gpu/device_particles.hpp"
#include "support/far_leaves.hpp"
#include "support/gpu_ranks.hpp"

namespace grove {
namespace {

/// A FarLeaves on the device.
struct DeviceLeaves {
  explicit DeviceLeaves(const FarLeaves& box)
      : images(box.gravity.images),
        particles(box.particles),
        pieces(box.begin),
        links(std::span<const TopLinks>(box.links)),
        parent(std::span<const std::int32_t>(box.parent)),
        leaf_cell(std::span<const std::uint32_t>(box.leaf_cell)),
        leaves(std::span<const Ball>(box.leaves)),
        balls(std::span<const Ball>(box.balls)),
        of_leaves(box.leaves.size()),
        moments(box.links.size()) {
    cuda::sum_leaf_moments(images, pieces, leaves.data(), particles.values(fields::position),
                           particles.values(fields::mass), of_leaves.data());
  }
  cuda::FarClimb climb() const {
    return {links.data(), parent.data(), balls.data(), moments.data(), moments.size(), images};
  }
  void find_moments() {
    cuda::climb_from_leaves(climb(), of_leaves.data(), leaf_cell.data(), pieces.leaves, nullptr);
  }
  /// Each of these cells as the cover of all that is below it.
  void find_moments(const std::vector<std::int32_t>& covers) {
    std::vector<std::uint8_t> is_cover(links.size(), 0);
    for (const std::int32_t c : covers) is_cover[static_cast<std::size_t>(c)] = 1;
    const cuda::DeviceArray<std::uint8_t> on_device{std::span<const std::uint8_t>(is_cover)};
    const cuda::DeviceArray<std::int32_t> cells{std::span<const std::int32_t>(covers)};
    cuda::climb_from_leaves(climb(), of_leaves.data(), leaf_cell.data(), pieces.leaves, on_device.data());
    const std::vector<FarMoments> all = found();
    std::vector<FarMoments> told;
    for (const std::int32_t c : covers) told.push_back(all[static_cast<std::size_t>(c)]);
    const cuda::DeviceArray<FarMoments> of_covers{std::span<const FarMoments>(told)};
    cuda::climb_from_covers(climb(), of_covers.data(), cells.data(),
                            static_cast<std::uint32_t>(covers.size()));
  }
  std::vector<FarMoments> found() const {
    std::vector<FarMoments> all(moments.size());
    moments.download(all);
    return all;
  }
  void add(const FarLeaves& box, int first_active = 0) {
    const FarField<far_order> far = far_field(box_moments(box.moments[0], box.balls[0], box.gravity.images));
    cuda::add_far_cells(
        {links.data(), balls.data(), moments.data(), static_cast<std::int32_t>(links.size()), images}, far,
        FarUnits(box.gravity), pieces,
        {leaves.data(), particles.values(fields::rung), particles.values(fields::position),
         particles.values(fields::acceleration), particles.values(fields::potential)},
        first_active);
  }

  Images images;
  DeviceParticles particles;
  cuda::LeafPieces pieces;
  cuda::DeviceArray<TopLinks> links;
  cuda::DeviceArray<std::int32_t> parent;
  cuda::DeviceArray<std::uint32_t> leaf_cell;
  cuda::DeviceArray<Ball> leaves, balls;
  cuda::DeviceArray<FarMoments> of_leaves, moments;
};

class FarCellsOnGpu : public testing::GpuRanks {};

template <int order>
WholeMoments<order> moments_on_gpu(const Particles& particles, const FarUnits& units, double per_mass,
                                   const std::vector<Count>& leaf_begin) {
  const DeviceParticles device(particles);
  return cuda::sum_box_moments<order>(units, device.values(fields::position), device.values(fields::mass),
                                      cuda::LeafPieces(leaf_begin), per_mass);
}

/// Terms are at most m / WholeMoments::weight(). Places, powers and recurrences round some 3 l times in each,
/// sums of a lane's 128 particles at most as if half of them were rounded as the whole sum is, those of lanes
/// five times, and fractions of the mass twice. The host's sum rounds once a particle. Units of mass that
/// single precision does not know are as good as others.
template <int order>
void expect_moments_of_host(double rounding, double unit_of_mass) {
  Particles all = clustered_box(20000);
  for (double& mass : all.mass) mass *= unit_of_mass;
  const FarUnits units(periodic_parameters(1e-3));
  BoxMoments<order> direct;
  for (std::size_t i = 0; i < all.size(); ++i) direct.add(all.mass[i], units.place(all.position[i]));
  const double exact = 0x1p-53 * static_cast<double>(all.size()) * direct.mass;
  const double per_mass = WholeMoments<order>::per_mass(1.5 * direct.mass);
  const std::vector<Count> leaves{0, 0, 1, 100, 9000, 20000};
  const BoxMoments<order> found = moments_on_gpu<order>(all, units, per_mass, leaves).moments(per_mass);
  for (int l = 0; l <= order; ++l)
    for (int m = 0; m <= l; ++m) {
      const double bound =
          (rounding * direct.mass * (3 * order + 72) + exact) / WholeMoments<order>::weight(l, m);
      EXPECT_NEAR(found.multipoles(l, m).re, direct.multipoles(l, m).re, bound) << l << " " << m;
      EXPECT_NEAR(found.multipoles(l, m).im, direct.multipoles(l, m).im, bound) << l << " " << m;
    }
  EXPECT_NEAR(found.mass, direct.mass, exact);
  EXPECT_NEAR(found.second, direct.second, exact);
  for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(found.first[axis], direct.first[axis], exact);
}

TEST_F(FarCellsOnGpu, have_a_box_with_the_moments_of_the_host) {
  for (const double unit_of_mass : {1.0, 1e40, 1e-40}) {
    expect_moments_of_host<far_moments>(0x1p-24, unit_of_mass);
    expect_moments_of_host<audit_far_moments>(0x1p-53, unit_of_mass);
  }
}

TEST_F(FarCellsOnGpu, have_a_box_whose_moments_are_the_same_bits_in_any_parts) {
  const Particles all = clustered_box(20000);
  const FarUnits units(periodic_parameters(1e-3));
  const double per_mass = WholeMoments<far_moments>::per_mass(2);
  const WholeMoments<far_moments> whole =
      moments_on_gpu<far_moments>(all, units, per_mass, {0, 100, 9000, 9000, 20000});
  WholeMoments<far_moments> parts = moments_on_gpu<far_moments>(all, units, per_mass, {0, 100});
  for (const std::vector<Count>& leaves : {std::vector<Count>{9000, 20000}, {100, 9000}}) {
    const WholeMoments<far_moments> part = moments_on_gpu<far_moments>(all, units, per_mass, leaves);
    for (int i = 0; i < WholeMoments<far_moments>::size; ++i) parts.of[i] += part.of[i];
  }
  for (int i = 0; i < WholeMoments<far_moments>::size; ++i) EXPECT_EQ(parts.of[i], whole.of[i]) << i;
}

/// Both are sums in another order, of terms that are at most m (2 r)^l / l!, r the radius of the ball.
TEST_F(FarCellsOnGpu, have_the_moments_of_the_host) {
  for (const std::size_t most : {std::size_t{16}, std::size_t{20000}}) {
    const FarLeaves box = in_far_leaves(clustered_box(20000), most);
    DeviceLeaves device(box);
    device.find_moments();
    const std::vector<FarMoments> found = device.found();
    for (std::size_t c = 0; c < found.size(); ++c) {
      const double reach = 2 * box.balls[c].radius / box_edge;
      double bound = 1e-13 * box.moments[c].multipoles(0, 0).re;
      ASSERT_NEAR(found[c].second, box.moments[c].second, bound * reach * reach);
      for (int l = 0; l <= far_moments; ++l) {
        if (l > 0) bound *= reach / l;
        for (int m = 0; m <= l; ++m) {
          ASSERT_NEAR(found[c].multipoles(l, m).re, box.moments[c].multipoles(l, m).re, bound) << l << m;
          ASSERT_NEAR(found[c].multipoles(l, m).im, box.moments[c].multipoles(l, m).im, bound) << l << m;
        }
      }
    }
  }
}

TEST_F(FarCellsOnGpu, have_the_same_bits_by_way_of_covers) {
  const FarLeaves box = in_far_leaves(clustered_box(5000), 16);
  DeviceLeaves whole(box), by_covers(box);
  whole.find_moments();
  std::vector<std::int32_t> covers, asked{0};
  while (!asked.empty()) {
    const std::int32_t c = asked.back();
    const TopLinks& links = box.links[static_cast<std::size_t>(c)];
    asked.pop_back();
    if (links.leaves <= 20) {
      covers.push_back(c);
      continue;
    }
    asked.push_back(links.child);
    asked.push_back(links.child + 1);
  }
  by_covers.find_moments(covers);
  const std::vector<FarMoments> found = by_covers.found(), expected = whole.found();
  for (std::size_t c = 0; c < found.size(); ++c) {
    EXPECT_EQ(found[c].second, expected[c].second);
    for (int i = 0; i < FarMultipoles::size; ++i) {
      EXPECT_EQ(found[c].multipoles.of[i].re, expected[c].multipoles.of[i].re);
      EXPECT_EQ(found[c].multipoles.of[i].im, expected[c].multipoles.of[i].im);
    }
  }
}

/// Sums of the sizes of all terms of a leaf's expansion.
struct TermSizes {
  double acceleration = 0, potential = 0;
};

/// Terms j of a cell's expansion are at most m r^j / d^(j+1), and their gradients j m r^(j-1) / d^(j+1), r /
/// d being at most far_opening. Those of far images, of order l about the middle of the leaf, are |L_lm| r^l
/// / l! and |L_lm| r^(l-1) / (l-1)!, on each of three axes, m and -m.
TermSizes term_sizes(const FarLeaves& box, const FarField<far_order>& far, std::size_t leaf) {
  const Images& images = box.gravity.images;
  const double g = box.gravity.gravitational_constant;
  TermSizes sizes;
  std::vector<std::int32_t> stack;
  for (int image = 0; image < images.count(); ++image)
    visit_far_cells(box.tree(), box.leaves[leaf], image, stack, [&](std::int32_t cell) {
      const auto c = static_cast<std::size_t>(cell);
      const double d = norm(box.balls[c].shifted(images.shift(image)).middle - box.leaves[leaf].middle);
      const double mass = g * box.moments[c].multipoles(0, 0).re;
      sizes.acceleration += mass / (d * d) / ((1 - far_opening) * (1 - far_opening));
      sizes.potential += mass / d / (1 - far_opening);
    });
  const FarUnits units(box.gravity);
  Harmonics<far_order> regular;
  for (int m = 0; m <= far_order; ++m) find_regular(m, units.place(box.leaves[leaf].middle), regular);
  const double radius = box.leaves[leaf].radius / images.edge;
  double power = 1;  // r^(l-1) / (l-1)!
  for (int l = 1; l <= far_cells_order; power *= radius / l, ++l)
    for (int m = 0; m <= l; ++m) {
      const DeviceComplex term = moved_local(far.local, regular, l, m);
      const DirectForce size = units.force(FarForce{{std::hypot(term.re, term.im) * power, 0, 0}, 0});
      sizes.acceleration += 6 * size.acceleration.x;
      sizes.potential += 6 * size.acceleration.x * box.leaves[leaf].radius;
    }
  return sizes;
}

/// Both round once to floats, and to neighbours of each other at most. On the GPU the expansion is in floats:
/// harmonics take four operations an order, and the sums are of 66 terms of two products each.
TEST_F(FarCellsOnGpu, act_as_those_of_the_host) {
  constexpr double rounding = 1.3e-7, of_floats = (4 * far_cells_order + 2 * 66) * 0x1p-24;
  for (const std::size_t most : {std::size_t{1}, std::size_t{100}, std::size_t{20000}})
    for (const int first_active : {0, 1}) {
      FarLeaves box = in_far_leaves(clustered_box(most == 1 ? 2000 : 20000), most);
      DeviceLeaves device(box);
      device.find_moments();
      device.add(box, first_active);
      const Particles found = device.particles.download();
      const FarField<far_order> far =
          far_field(box_moments(box.moments[0], box.balls[0], box.gravity.images));
      add_far_cells(box.tree(), far, FarUnits(box.gravity), box.leaves, box.begin, first_active,
                    box.particles);
      std::vector<TermSizes> sizes;
      for (std::size_t leaf = 0; leaf < box.leaves.size(); ++leaf)
        sizes.push_back(term_sizes(box, far, leaf));
      const Particles& expected = box.particles;
      double largest = 0;
      for (const Vec3f& a : expected.acceleration) largest = std::max(largest, norm(a.as<double>()));
      EXPECT_GT(largest, 0);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const TermSizes& terms = sizes[box.leaf_of(i)];
        ASSERT_LE(norm((found.acceleration[i] - expected.acceleration[i]).as<double>()),
                  rounding * norm(expected.acceleration[i].as<double>()) + of_floats * terms.acceleration)
            << most << " " << i;
        ASSERT_NEAR(found.potential[i], expected.potential[i],
                    rounding * std::abs(expected.potential[i]) + of_floats * terms.potential)
            << most << " " << i;
      }
    }
}

}  // namespace
}  // namespace grove
