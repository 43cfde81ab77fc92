#pragma once

#include "base/box.hpp"
#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/ball.hpp"
#include "kernels/math/far_images.hpp"
#include "kernels/math/solid_harmonics.hpp"

/// The gravity of cells of a periodic box on leaves far off (acts_from_far()): multipoles about the middle of
/// the one make an expansion about that of the other. Units: the edge of the box, and G = 1.
namespace grove {

/// Order of expansions, and of multipoles and expansions together: terms l of multipoles and j of an
/// expansion with j + l above it are left out, as if each source acted by the terms of 1 / |d + y - x| in
/// powers of y - x up to it.
inline constexpr int far_cells_order = 10;
static_assert(far_cells_order <= far_moments);
using FarHarmonics = Harmonics<far_cells_order>;
/// Those of far_cells_order come first; the others are summed for those of the box.
using FarMultipoles = Harmonics<far_moments>;

/// Sums over the particles of a cell or a leaf, at places y from the middle of its ball.
struct FarMoments {
  FarMultipoles multipoles{};  ///< of m R_lm(-y)
  double second = 0;           ///< of m |y|^2

  GROVE_HOST_DEVICE friend FarMoments operator+(FarMoments a, const FarMoments& b) {
    for (int i = 0; i < FarMultipoles::size; ++i) a.multipoles.of[i] += b.multipoles.of[i];
    a.second += b.second;
    return a;
  }
};

/// Places of the run from the middle of a ball.
struct BallPlaces {
  Vec3d middle;
  double per_length;

  GROVE_HOST_DEVICE BallPlaces(const Ball& ball, const Images& images)
      : middle(ball.middle), per_length(1 / images.edge) {}
  GROVE_HOST_DEVICE Vec3d place(const Vec3d& p) const { return (p - middle) * per_length; }
};

/// Moments of low order, of which multipoles are all but one.
GROVE_HOST_DEVICE inline LowMoments low_moments(const FarMultipoles& multipoles, double second) {
  LowMoments low;
  low.mass = multipoles(0, 0).re;
  low.first = {-2 * multipoles(1, 1).re, -2 * multipoles(1, 1).im, -multipoles(1, 0).re};
  low.second = second;
  return low;
}

/// About another middle, `back` from the old one.
GROVE_HOST_DEVICE inline LowMoments moved_low(const LowMoments& low, const Vec3d& back) {
  LowMoments moved;
  moved.mass = low.mass;
  moved.first = low.first - low.mass * back;
  moved.second = low.second - 2 * dot(back, low.first) + norm2(back) * low.mass;
  return moved;
}

/// The regular harmonics of one m, l = m to the order, at a place.
template <int order>
GROVE_HOST_DEVICE void find_regular(int m, const Vec3d& r, Harmonics<order>& regular) {
  DeviceComplex sectoral{1, 0};
  for (int power = 1; power <= m; ++power) sectoral = next_sectoral(power, sectoral, r);
  visit_regular_harmonics<order>(m, sectoral, r,
                                 [&](int l, const DeviceComplex& value) { regular(l, m) = value; });
}

/// The term l, m of the expansion of far images (FarField::local) about the middle of a leaf, in place of
/// that of the box. l, m: of either order. regular: the harmonics at that middle. So particles meet one
/// expansion, and not two. Terms above far_cells_order are left out: these images are an edge away or more,
/// and beside their sum such terms fall with that power of the leaf's radius, by a hundred from a leaf that
/// is the whole box to one of eight.
GROVE_HOST_DEVICE inline DeviceComplex moved_local(const Harmonics<far_order>& local,
                                                   const Harmonics<far_order>& regular, int l, int m) {
  DeviceComplex sum{0, 0};
  for (int j = l; j <= far_order; ++j) {
    const int rest = j - l;
    for (int k = m - rest; k <= m + rest; ++k)
      sum.add_product(regular.at(rest, k - m).conjugate(), local.at(j, k));
  }
  return sum;
}

/// One multipole about another middle. regular: the harmonics at the way to it.
GROVE_HOST_DEVICE inline DeviceComplex moved_multipole(const FarMultipoles& multipoles,
                                                       const FarMultipoles& regular, int l, int m) {
  DeviceComplex sum{0, 0};
  for (int j = 0; j <= l; ++j) {
    const int first = m - (l - j) > -j ? m - (l - j) : -j, last = m + (l - j) < j ? m + (l - j) : j;
    for (int k = first; k <= last; ++k) sum += multipoles.at(j, k) * regular.at(l - j, m - k);
  }
  return sum;
}

/// About another middle, `back` from the old one: exact but for rounding. Cost: 3000 complex products.
inline FarMoments moved(const FarMoments& moments, const Vec3d& back) {
  FarMultipoles regular;
  for (int m = 0; m <= far_moments; ++m) find_regular(m, back, regular);
  FarMoments result;
  for (int l = 0; l <= far_moments; ++l)
    for (int m = 0; m <= l; ++m) result.multipoles(l, m) = moved_multipole(moments.multipoles, regular, l, m);
  result.second = moved_low(low_moments(moments.multipoles, moments.second), back).second;
  return result;
}

/// Those of a cell from its children's.
inline FarMoments united_moments(const FarMoments& left, const Ball& left_ball, const FarMoments& right,
                                 const Ball& right_ball, const Ball& cell, const Images& images) {
  return moved(left, BallPlaces(left_ball, images).place(cell.middle)) +
         moved(right, BallPlaces(right_ball, images).place(cell.middle));
}

/// Those of the box, about its middle, from the root's.
inline BoxMoments<far_moments> box_moments(const FarMoments& root, const Ball& ball, const Images& images) {
  const double half = 0.5 * images.edge;
  const FarMoments whole = moved(root, BallPlaces(ball, images).place({half, half, half}));
  BoxMoments<far_moments> box{low_moments(whole.multipoles, whole.second)};
  box.multipoles = whole.multipoles;
  return box;
}

/// Irregular solid harmonics S_lm = (l - m)! P_lm e^(i m phi) / r^(l+1): S_mm from S_(m-1)(m-1), m > 0. S_00
/// is 1 / r. Numbers T, or vectors of them, and complex ones.
template <typename T, typename Complex>
GROVE_HOST_DEVICE Complex next_irregular_sectoral(int m, const Complex& sectoral, const T& x, const T& y,
                                                  const T& inverse2) {
  const T scale = static_cast<double>(2 * m - 1) * inverse2;
  return {scale * (sectoral.re * x - sectoral.im * y), scale * (sectoral.re * y + sectoral.im * x)};
}

/// visit(l, S_lm) for l = m to order, one after the other, from S_mm. inverse2: 1 / r^2.
template <int order, typename T, typename Complex, typename Visit>
GROVE_HOST_DEVICE void visit_irregular_harmonics(int m, const Complex& sectoral, const T& z,
                                                 const T& inverse2, const Visit& visit) {
  Complex below{}, here = sectoral;
  const T along = z * inverse2;
  GROVE_UNROLL
  for (int l = m; l <= order; ++l) {
    visit(l, here);
    const T a = static_cast<double>(2 * l + 1) * along, b = static_cast<double>(l * l - m * m) * inverse2;
    const Complex above{a * here.re - b * below.re, a * here.im - b * below.im};
    below = here;
    here = above;
  }
}

/// Adds what a source does to row j of an expansion: sum[k] += sum_lm M*_lm S_(j+l)(k+m), k = 0 to j, j + l
/// <= far_cells_order, with M_lm = moment(l, m) and S_lm = table(l, m), m >= 0, at the way from the middle of
/// the expansion to that of the source. All that m and -m need of S goes through two windows of registers.
template <int j, typename Moment, typename Table>
GROVE_HOST_DEVICE void add_local_row(const Moment& moment, const Table& table, DeviceComplex* sum) {
  for (int l = 0; l <= far_cells_order - j; ++l) {
    DeviceComplex above[j + 1], below[j + 1];  // S of k + m and of k - m
    const double central = moment(l, 0).re;
    GROVE_UNROLL
    for (int k = 0; k <= j; ++k) {
      above[k] = below[k] = table(j + l, k);
      sum[k] += central * above[k];
    }
    for (int m = 1; m <= l; ++m) {
      const bool is_odd = m % 2 != 0;
      const auto turned = [&](const DeviceComplex& a) {
        return DeviceComplex{is_odd ? -a.re : a.re, is_odd ? -a.im : a.im};
      };
      GROVE_UNROLL
      for (int k = 0; k < j; ++k) {
        above[k] = above[k + 1];
        below[j - k] = below[j - k - 1];
      }
      above[j] = table(j + l, j + m);
      below[0] = turned(table(j + l, m).conjugate());
      const DeviceComplex source = moment(l, m);
      const DeviceComplex mirrored = source.conjugate(), other = turned(source);  // those of m and of -m
      GROVE_UNROLL
      for (int k = 0; k <= j; ++k) {
        sum[k].add_product(mirrored, above[k]);
        sum[k].add_product(other, below[k]);
      }
    }
  }
}

}  // namespace grove
