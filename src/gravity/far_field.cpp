#include "gravity/far_field.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace grove {
namespace {

constexpr int all_columns = LatticeSums::largest / 4 + 1, all_rows = LatticeSums::largest / 2 + 1;
using Sums = std::array<std::array<double, all_columns>, all_rows>;

/// Adds the irregular harmonics of even l and m = 0, 4, 8, ... at a place: their real parts, which are what a
/// sum over the corners of a cube leaves.
void add_irregular(const Vec3d& n, double weight, Sums& sums) {
  const double inverse2 = 1 / norm2(n);
  DeviceComplex sectoral{std::sqrt(inverse2), 0};  // S_mm
  for (int m = 0; m <= LatticeSums::largest; ++m) {
    if (m > 0) sectoral = ((2 * m - 1) * inverse2) * (sectoral * DeviceComplex{n.x, n.y});
    if (m % 4 != 0) continue;
    double below = 0, here = sectoral.re;
    for (int l = m; l <= LatticeSums::largest; ++l) {
      if (l > m) {
        const double above = ((2 * l - 1) * n.z * here - ((l - 1) * (l - 1) - m * m) * below) * inverse2;
        below = here;
        here = above;
      }
      if (l % 2 == 0) sums[static_cast<std::size_t>(l / 2)][static_cast<std::size_t>(m / 4)] += weight * here;
    }
  }
}

/// Of the shell |n|max = k. A turn by a right angle about z and a reflection at z = 0 change no term.
void add_shell(int k, Sums& sums) {
  for (int x = 1; x <= k; ++x)
    for (int y = 0; y <= k; ++y)
      for (int z = x == k || y == k ? 0 : k; z <= k; ++z)
        add_irregular(Vec3<int>{x, y, z}.as<double>(), z == 0 ? 4 : 8, sums);
  add_irregular({0, 0, static_cast<double>(k)}, 2, sums);
}

/// What a sum over |n|max <= k goes to: it differs from the whole one by an integral, which is as (k +
/// 1/2)^(2-l), and by the integral's error, four powers smaller.
double limit(const std::array<double, 3>& sums, const std::array<double, 3>& half_edges, int l) {
  std::array<double, 3> t = sums, h2{}, h6{};
  for (std::size_t i = 0; i < 3; ++i) {
    h2[i] = std::pow(half_edges[i], 2 - l);
    h6[i] = std::pow(half_edges[i], -2 - l);
  }
  // Three equations t_i = t + a h2_i + b h6_i.
  const double p = h2[0] - h2[1], q = h6[0] - h6[1], r = h2[1] - h2[2], s = h6[1] - h6[2];
  const double u = t[0] - t[1], v = t[1] - t[2];
  const double determinant = p * s - q * r;
  if (determinant == 0) return t[2];
  const double a = (u * s - q * v) / determinant, b = (p * v - u * r) / determinant;
  return t[2] - a * h2[2] - b * h6[2];
}

/// The moments of a homogeneous cube of mass 1, by Gauss and Legendre's quadrature, exact to order 15.
const Harmonics<audit_far_moments>& cube_moments() {
  static const Harmonics<audit_far_moments> moments = [] {
    constexpr std::array<double, 4> place = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                             0.9602898564975363},
                                    weight = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                              0.1012285362903763};
    std::array<double, 8> x{}, w{};
    for (std::size_t i = 0; i < 4; ++i) {
      x[2 * i] = place[i] / 2;
      x[2 * i + 1] = -place[i] / 2;
      w[2 * i] = w[2 * i + 1] = weight[i] / 2;
    }
    BoxMoments<audit_far_moments> cube;
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < 8; ++j)
        for (std::size_t k = 0; k < 8; ++k) cube.add(w[i] * w[j] * w[k], {x[i], x[j], x[k]});
    return cube.multipoles;
  }();
  return moments;
}

template <int order, int moments>
FarField<order> expanded(const BoxMoments<moments>& box) {
  constexpr int last = audit_far_moments;
  const LatticeSums& lattice = LatticeSums::get();
  const Harmonics<last>& cube = cube_moments();
  Harmonics<last> all;
  for (int l = 0; l <= last; ++l)
    for (int m = 0; m <= l; ++m) all(l, m) = box.mass * cube(l, m);
  for (int l = 0; l <= moments; ++l)
    for (int m = 0; m <= l; ++m) all(l, m) = box.multipoles(l, m);
  FarField<order> field;
  for (int j = 0; j <= order; ++j)
    for (int k = 0; k <= j; ++k)
      for (int l = 0; l <= last; ++l)
        for (int m = -l; m <= l; ++m)
          if (const double t = lattice(j + l, k + m); t != 0)
            field.local(j, k) += t * all.at(l, m).conjugate();
  field.first = box.first;
  field.mass = box.mass;
  field.second = box.second;
  return field;
}

}  // namespace

LatticeSums::LatticeSums() {
  constexpr std::array<int, 3> shells = {8, 16, 32};
  std::array<Sums, 3> until{};
  Sums sums{};
  std::size_t next = 0;
  for (int k = 2; k <= shells.back(); ++k) {
    add_shell(k, sums);
    if (k == shells[next]) until[next++] = sums;
  }
  for (int l = 4; l <= largest; l += 2)
    for (int m = 0; m <= l; m += 4) {
      const auto row = static_cast<std::size_t>(l / 2), column = static_cast<std::size_t>(m / 4);
      constexpr int converged = 12;  // (32.5)^(2 - l) of the first terms is below 1e-15
      const std::array<double, 3> t = {until[0][row][column], until[1][row][column], until[2][row][column]};
      sums_[l / 2][m / 4] = l >= converged ? t[2] : limit(t, {8.5, 16.5, 32.5}, l);
    }
}

const LatticeSums& LatticeSums::get() {
  static const LatticeSums sums;
  return sums;
}

FarField<far_order> far_field(const BoxMoments<far_moments>& box) { return expanded<far_order>(box); }

FarField<audit_far_order> far_field(const BoxMoments<audit_far_moments>& box) {
  return expanded<audit_far_order>(box);
}

}  // namespace grove
