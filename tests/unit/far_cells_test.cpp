#include "gravity/far_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <vector>

#include "gravity/far_field.hpp"
#include "gravity/periodic_delta.hpp"
#include "support/far_leaves.hpp"

namespace grove {
namespace {

BoxMoments<far_moments> direct_moments(const FarLeaves& box) {
  BoxMoments<far_moments> moments;
  const FarUnits units(box.gravity);
  for (std::size_t i = 0; i < box.particles.size(); ++i)
    moments.add(box.particles.mass[i], units.place(box.particles.position[i]));
  return moments;
}

void add_to(FarLeaves& box, int first_active = 0) {
  const FarField<far_order> far = far_field(box_moments(box.moments[0], box.balls[0], box.gravity.images));
  add_far_cells(box.tree(), far, FarUnits(box.gravity), box.leaves, box.begin, first_active, box.particles);
}

/// For each image and leaf the cell that acts for it from far, -1 for none, and how many do.
struct Covering {
  std::vector<std::int32_t> cell;
  std::vector<int> times;

  Covering(const FarLeaves& box, std::size_t target) {
    const std::size_t count = box.leaves.size();
    cell.assign(27 * count, -1);
    times.assign(27 * count, 0);
    std::vector<std::int32_t> stack;
    for (int image = 0; image < 27; ++image) {
      EXPECT_TRUE(visit_far_cells(box.tree(), box.leaves[target], image, stack, [&](std::int32_t c) {
        const TopLinks& links = box.links[static_cast<std::size_t>(c)];
        for (std::int32_t leaf = links.first_leaf; leaf < links.first_leaf + links.leaves; ++leaf) {
          const std::size_t i = static_cast<std::size_t>(image) * count + static_cast<std::size_t>(leaf);
          cell[i] = c;
          ++times[i];
        }
      }));
    }
  }
};

TEST(FarCells, act_once_for_each_leaf_that_they_or_a_cell_above_it_are_far_from) {
  const FarLeaves box = in_far_leaves(clustered_box(2000), 16);
  const std::size_t count = box.leaves.size();
  for (std::size_t target = 0; target < count; target += 7) {
    const Covering covering(box, target);
    EXPECT_EQ(covering.times[target], 0);
    for (int image = 0; image < 27; ++image)
      for (std::size_t leaf = 0; leaf < count; ++leaf) {
        int expected = 0;
        for (auto c = static_cast<std::int32_t>(box.leaf_cell[leaf]); c >= 0;
             c = box.parent[static_cast<std::size_t>(c)])
          if (acts_from_far(box.balls[static_cast<std::size_t>(c)].shifted(box.gravity.images.shift(image)),
                            box.leaves[target]))
            expected = 1;
        EXPECT_EQ(covering.times[static_cast<std::size_t>(image) * count + leaf], expected);
      }
  }
}

/// Sums over what acts from far, and over all other images |n|max <= 1.
struct Sums {
  DirectForce beyond, near;
  DirectForce bound;  ///< of the error of an expansion in its acceleration (x) and potential
};

/// All terms of 1 / |d + u| in powers of u = y - x up to p are there, those of j + l = n being the one of
/// |u|^n. The others are at most |u|^n / d^(n+1), and their gradients n |u|^(n-1) / d^(n+1) (Bernstein):
/// with q = |u| / d in all q^(p+1) / (d (1 - q)) and q^p (p + 1 - p q) / (d^2 (1 - q)^2).
Sums sums_at(const FarLeaves& box, std::size_t target) {
  const Images& images = box.gravity.images;
  const double g = box.gravity.gravitational_constant;
  const std::size_t here = box.leaf_of(target);
  const Covering covering(box, here);
  const Vec3d x = box.particles.position[target];
  constexpr int p = far_cells_order;
  Sums sums;
  for (int image = 0; image < images.count(); ++image)
    for (std::size_t j = 0; j < box.particles.size(); ++j) {
      const std::int32_t cell =
          covering.cell[static_cast<std::size_t>(image) * box.leaves.size() + box.leaf_of(j)];
      const Vec3d way = box.particles.position[j] + images.shift(image) - x;
      const double r = norm(way), mass = g * box.particles.mass[j];
      if (r == 0) continue;
      DirectForce& sum = cell >= 0 ? sums.beyond : sums.near;
      sum.acceleration += way * (mass / (r * r * r));
      sum.potential -= mass / r;
      if (cell < 0) continue;
      const Vec3d between = box.balls[static_cast<std::size_t>(cell)].shifted(images.shift(image)).middle -
                            box.leaves[here].middle;
      const double d = norm(between), q = norm(way - between) / d, rest = std::pow(q, p);
      EXPECT_LT(q, 1);
      sums.bound.acceleration.x += mass * rest * (p + 1 - p * q) / (d * d * (1 - q) * (1 - q));
      sums.bound.potential += mass * rest * q / (d * (1 - q));
    }
  return sums;
}

/// 2^-24 of a float, and some room for sums of doubles.
constexpr double rounding = 1e-7;

/// The expansion of far images about a place.
Harmonics<far_order> images_about(const FarField<far_order>& far, const Vec3d& middle) {
  Harmonics<far_order> regular, local;
  for (int m = 0; m <= far_order; ++m) find_regular(m, middle, regular);
  for (int l = 0; l <= far_order; ++l)
    for (int m = 0; m <= l; ++m) local(l, m) = moved_local(far.local, regular, l, m);
  return local;
}

/// A bound of the terms from an order on, at a distance from its middle: harmonics R_lm are at most r^l / l!,
/// and gradients are three of those of one order less, one of which is counted twice.
FarForce terms_from(int first, const Harmonics<far_order>& local, double r) {
  FarForce bound{{0, 0, 0}, 0};
  for (int l = first; l <= far_order; ++l)
    for (int m = 0; m <= l; ++m) {
      const double size = (m == 0 ? 1 : 2) * std::hypot(local(l, m).re, local(l, m).im);
      bound.acceleration.x += 4 * size * std::pow(r, l - 1) / std::tgamma(l);
      bound.potential += size * std::pow(r, l) / std::tgamma(l + 1);
    }
  return bound;
}

/// To all orders the expansion about another place is the same polynomial.
TEST(FarCells, have_the_far_images_about_their_leaf) {
  const FarLeaves box = in_far_leaves(clustered_box(300), 400);
  const FarField<far_order> far = far_field(direct_moments(box));
  for (const Vec3d& middle : {Vec3d{0, 0, 0}, Vec3d{0.2, -0.3, 0.1}, Vec3d{-0.45, 0.4, 0.45}}) {
    const Harmonics<far_order> moved = images_about(far, middle);
    for (const Vec3d& s : {Vec3d{0, 0, 0}, Vec3d{0.05, 0.02, -0.04}, Vec3d{-0.1, 0.3, 0.2}}) {
      const FarForce expected = local_force(far.local, middle + s), found = local_force(moved, s);
      // Each term of either is a sum of fewer than 1000 products.
      const double r = norm(middle) + norm(s);
      const FarForce terms = terms_from(1, far.local, r);
      EXPECT_LT(norm(found.acceleration - expected.acceleration), 1000 * 0x1p-53 * terms.acceleration.x);
      EXPECT_NEAR(found.potential, expected.potential,
                  1000 * 0x1p-53 * (terms.potential + std::abs(far.local(0, 0).re)));
    }
  }
}

/// Rounding of pieces to whole numbers is half of one each, that of sums of doubles 2^-53 of them or less for
/// each particle; R_lm is at most 1 / WholeMoments::weight().
template <int order>
void expect_whole_moments() {
  constexpr std::size_t pieces = 512;
  const Particles all = random_box(8 * pieces);
  const FarUnits units(periodic_parameters(1e-3));
  double mass = 0;
  for (const double m : all.mass) mass += m;
  const double per_mass = WholeMoments<order>::per_mass(1.5 * mass);
  WholeMoments<order> sums, reversed;
  BoxMoments<order> direct;
  const auto piece = [&](std::size_t number) {
    BoxMoments<order> moments;
    for (std::size_t i = 8 * number; i < 8 * (number + 1); ++i)
      moments.add(all.mass[i], units.place(all.position[i]));
    return moments;
  };
  for (std::size_t number = 0; number < pieces; ++number) {
    sums.add(piece(number), per_mass);
    reversed.add(piece(pieces - 1 - number), per_mass);
  }
  for (std::size_t i = 0; i < all.size(); ++i) direct.add(all.mass[i], units.place(all.position[i]));
  const BoxMoments<order> found = sums.moments(per_mass);
  const double error = pieces / 2. / per_mass + static_cast<double>(all.size()) * 0x1p-53 * mass;
  for (int l = 0; l <= order; ++l)
    for (int m = 0; m <= l; ++m) {
      const double least = error / WholeMoments<order>::weight(l, m);
      EXPECT_NEAR(found.multipoles(l, m).re, direct.multipoles(l, m).re, least) << l << " " << m;
      EXPECT_NEAR(found.multipoles(l, m).im, direct.multipoles(l, m).im, least) << l << " " << m;
    }
  EXPECT_NEAR(found.mass, direct.mass, error);
  EXPECT_NEAR(found.second, direct.second, error);
  EXPECT_LT(norm(found.first - direct.first), 2 * error);
  EXPECT_TRUE(std::equal(std::begin(sums.of), std::end(sums.of), std::begin(reversed.of)));
}

TEST(FarImages, have_moments_whose_order_of_sums_does_not_matter) {
  expect_whole_moments<far_moments>();
  expect_whole_moments<audit_far_moments>();
}

void expect_sums(const Particles& all, std::size_t most) {
  FarLeaves box = in_far_leaves(all, most);
  add_to(box);
  const FarField<far_order> far = far_field(direct_moments(box));
  const FarUnits units(box.gravity);
  double distant = 0;
  for (std::size_t i = 0; i < all.size(); i += all.size() / 100) {
    const Sums sums = sums_at(box, i);
    const Vec3d& p = box.particles.position[i];
    const Ball& leaf = box.leaves[box.leaf_of(i)];
    const DirectForce far_force = units.force(far, p);
    const DirectForce left_out =
        units.force(terms_from(far_cells_order + 1, images_about(far, units.place(leaf.middle)),
                               norm(p - leaf.middle) / box.gravity.images.edge));
    const Vec3d expected = sums.beyond.acceleration + far_force.acceleration;
    EXPECT_LT(norm(box.particles.acceleration[i].as<double>() - expected),
              sums.bound.acceleration.x + left_out.acceleration.x + rounding * norm(expected));
    const double potential = sums.beyond.potential + far_force.potential;
    EXPECT_NEAR(box.particles.potential[i], potential,
                sums.bound.potential + left_out.potential +
                    rounding * (std::abs(far_force.potential) + std::abs(potential)));
    distant += sums.beyond.potential;
  }
  EXPECT_LT(distant, 0);
}

TEST(FarCells, are_the_sum_over_what_walks_leave_out) {
  expect_sums(random_box(1000), 16);
  expect_sums(random_box(300), 1);
  expect_sums(clustered_box(1000), 16);
  expect_sums(clustered_box(1000), 400);
  expect_sums(displaced_lattice(10, 0.1), 30);
}

/// The bound above is of sources that all err in one direction; here they cancel as their forces do, and
/// these are small. Terms that are left out are some far_opening^11 = 4e-5 of those of the nearest cells, and
/// so are errors of the median acceleration.
TEST(FarCells, err_little_in_a_displaced_lattice) {
  FarLeaves box = in_far_leaves(displaced_lattice(20, 0.1), 64);
  add_to(box);
  const FarField<far_order> far = far_field(direct_moments(box));
  const FarUnits units(box.gravity);
  std::vector<double> errors, sizes;
  for (std::size_t i = 0; i < box.particles.size(); i += 53) {
    const Sums sums = sums_at(box, i);
    const Vec3d left_out =
        units.force(far, box.particles.position[i]).acceleration + sums.beyond.acceleration;
    sizes.push_back(norm(left_out + sums.near.acceleration));
    errors.push_back(norm(box.particles.acceleration[i].as<double>() - left_out));
  }
  std::sort(errors.begin(), errors.end());
  std::sort(sizes.begin(), sizes.end());
  EXPECT_LT(errors[errors.size() * 99 / 100], 1e-4 * sizes[sizes.size() / 2]);
}

TEST(FarCells, are_asked_for_by_active_particles_alone) {
  FarLeaves all = in_far_leaves(clustered_box(1000), 3), some = all;
  add_to(all);
  add_to(some, 1);
  for (std::size_t i = 0; i < all.particles.size(); ++i) {
    const bool is_active = some.particles.rung[i] >= 1;
    EXPECT_EQ(some.particles.acceleration[i], (is_active ? all.particles.acceleration[i] : Vec3f{}));
    EXPECT_EQ(some.particles.potential[i], is_active ? all.particles.potential[i] : 0);
  }
}

TEST(FarCells, are_not_opened_where_nothing_is_known_below) {
  FarLeaves box = in_far_leaves(random_box(500), 16);
  box.links[1] = TopLinks::unknown();
  EXPECT_THROW(add_to(box), OpensPruned);
}

TEST(FarCells, take_a_box_of_one_leaf_and_one_without_particles_in_a_leaf) {
  FarLeaves one = in_far_leaves(random_box(50), 1000000);
  EXPECT_EQ(one.leaves.size(), 1U);
  add_to(one);
  FarLeaves box = in_far_leaves(random_box(500), 16), with_empty = box;
  add_to(box);
  // A leaf becomes a cell of itself and an empty one.
  const auto cell = static_cast<std::size_t>(with_empty.leaf_cell.back());
  const auto child = static_cast<std::int32_t>(with_empty.links.size());
  const TopLinks leaf = with_empty.links[cell];
  with_empty.links[cell] = {child, leaf.first_leaf, 2};
  with_empty.links.push_back(leaf);
  with_empty.links.push_back({-1, leaf.first_leaf + 1, 1});
  with_empty.balls.push_back(with_empty.balls[cell]);
  with_empty.balls.emplace_back();
  with_empty.leaves.emplace_back();
  with_empty.begin.push_back(with_empty.begin.back());
  with_empty.find_moments();
  add_to(with_empty);
  for (std::size_t i = 0; i < box.particles.size(); ++i)
    EXPECT_EQ(box.particles.potential[i], with_empty.particles.potential[i]);
}

/// Sums of many terms in another order, some 1e-15 of the sum of their sizes, which is below 1 here.
TEST(FarMoments, of_the_box_come_from_the_root) {
  for (const Particles& all : {random_box(1000), clustered_box(1000)}) {
    const FarLeaves box = in_far_leaves(all, 16);
    const auto found = box_moments(box.moments[0], box.balls[0], box.gravity.images),
               expected = direct_moments(box);
    for (int i = 0; i < FarMultipoles::size; ++i) {
      EXPECT_NEAR(found.multipoles.of[i].re, expected.multipoles.of[i].re, 1e-14) << i;
      EXPECT_NEAR(found.multipoles.of[i].im, expected.multipoles.of[i].im, 1e-14) << i;
    }
    EXPECT_NEAR(found.mass, expected.mass, 1e-14);
    EXPECT_NEAR(found.second, expected.second, 1e-14);
    EXPECT_LT(norm(found.first - expected.first), 1e-14);
  }
}

/// 1.8 times it up to 48^3 particles, from there on more, but up to a half of the largest delta, and of more
/// particles a little above that: so the expansions' steps never have a smaller delta than others, nor one
/// that the parameters do not allow.
TEST(FarDelta, grows_with_the_number_of_particles_within_bounds) {
  constexpr double most = 2.5e-4, small = 1e-6;
  constexpr Count few = 48 * 48 * 48, many = Count{256} * 256 * 256, huge = Count{1} << 60;
  EXPECT_DOUBLE_EQ(far_delta(small, most, 1000), 1.8 * small);
  EXPECT_DOUBLE_EQ(far_delta(small, most, few), 1.8 * small);
  EXPECT_NEAR(far_delta(small, most, few + 1), 1.8 * small, 1e-5 * small);
  EXPECT_NEAR(far_delta(small, most, 8 * few), 1.8 * 1.366 * small, 1e-3 * small);  // 8^0.15
  EXPECT_DOUBLE_EQ(far_delta(0.4 * most, most, few), 0.5 * most);
  EXPECT_NEAR(far_delta(0.4 * most, most, many), 0.676 * most, 1e-3 * most);  // 151.7^0.06 / 2
  for (const Count particles : {Count{1}, few, many, huge})
    for (const double delta : {small, 0.5 * most, 0.9 * most, most}) {
      EXPECT_GE(far_delta(delta, most, particles), delta);
      EXPECT_LE(far_delta(delta, most, particles), most);
    }
}

/// A quarter of all where matter is as uneven as today, a hundredth where it is as even as at z = 49: h^0.7.
TEST(LeastFarPart, grows_as_matter_gets_uneven) {
  for (const double uneven : {2.6, 100.}) EXPECT_DOUBLE_EQ(least_far_part(uneven), 0.25);
  EXPECT_NEAR(least_far_part(2.6 / 32), 0.25 / std::pow(2, 3.5), 1e-12);
  for (const double even : {0.01, 0.}) EXPECT_DOUBLE_EQ(least_far_part(even), 1. / 128);
}

/// Fitted factors: 0.62 up to 48^3 particles, N^0.16 from there on, and at most 1.45.
TEST(MostDelta, with_octupoles_grows_with_the_number_of_particles) {
  GravityParameters gravity;
  gravity.delta = 1e-4;
  for (const Count particles : {Count{1000}, Count{1} << 40}) EXPECT_EQ(most_delta(gravity, particles), 1e-4);
  gravity.order = Order::octupole;
  EXPECT_DOUBLE_EQ(most_delta(gravity, 1000), 0.62e-4);
  EXPECT_DOUBLE_EQ(most_delta(gravity, 48 * 48 * 48), 0.62e-4);
  EXPECT_NEAR(most_delta(gravity, Count{256} * 256 * 256), 1.385e-4, 1e-7);  // 151.7^0.16
  for (const Count many : {Count{512} * 512 * 512, Count{1} << 50})
    EXPECT_DOUBLE_EQ(most_delta(gravity, many), 1.45e-4);
}

}  // namespace
}  // namespace grove
