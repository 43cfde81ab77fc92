#include "gravity/far_cells.hpp"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include "gravity/leaf_multipoles.hpp"
#include "kernels/kokkos/host_loop.hpp"
#include "kernels/math/lanes.hpp"

namespace grove {
namespace {

struct LaneComplex {
  DoubleVector re, im;

  void add_product(const LaneComplex& a, const LaneComplex& b) {
    re += a.re * b.re;
    im += a.re * b.im;
    re -= a.im * b.im;
    im += a.im * b.re;
  }
};

DoubleVector load_lanes(const double* from) {
  DoubleVector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

/// The expansion about the middle of a leaf. It takes sources until there is one for each lane of a register.
class LocalSums {
 public:
  /// d: the way to its middle.
  void add(const FarMoments& source, const Vec3d& d) {
    sources_[count_] = source.multipoles.of;
    x_[count_] = d.x, y_[count_] = d.y, z_[count_] = d.z;
    if (++count_ == double_lanes) add_batch();
  }
  /// The sum of all lanes, in order.
  FarHarmonics sum() {
    if (count_ > 0) {
      static constexpr FarHarmonics nothing{};
      for (int lane = count_; lane < double_lanes; ++lane) {
        sources_[lane] = nothing.of;
        x_[lane] = y_[lane] = z_[lane] = 1;
      }
      add_batch();
    }
    FarHarmonics local;
    for (int i = 0; i < FarHarmonics::size; ++i) {
      double lanes[2][double_lanes];
      std::memcpy(lanes[0], &sums_[i].re, sizeof(lanes[0]));
      std::memcpy(lanes[1], &sums_[i].im, sizeof(lanes[1]));
      for (int lane = 0; lane < double_lanes; ++lane) local.of[i] += {lanes[0][lane], lanes[1][lane]};
    }
    return local;
  }

 private:
  static constexpr int order = far_cells_order;
  static constexpr int full = (order + 1) * (order + 1);
  /// The place of a harmonic among those of m < 0, too.
  static constexpr int place(int l, int m) { return l * l + l + m; }

  /// Enters one, and that of -m: the one of -m is (-1)^m f*.
  static void put(LaneComplex* table, int l, int m, const LaneComplex& f) {
    table[place(l, m)] = f;
    if (m == 0) return;
    if (m % 2 == 0)
      table[place(l, -m)] = {f.re, -f.im};
    else
      table[place(l, -m)] = {-f.re, f.im};
  }

  void add_batch() {
    count_ = 0;
    take_moments();
    find_irregular();
    add_rows<0, 1>();
    add_rows<2>();
    add_rows<3>();
    add_rows<4>();
    add_rows<5>();
    add_rows<6>();
    add_rows<7>();
    add_rows<8>();
    add_rows<9>();
    add_rows<10>();
    static_assert(order == 10);
  }

  void take_moments() {
    for (int l = 0; l <= order; ++l)
      for (int m = 0; m <= l; ++m) {
        double lanes[2][double_lanes];
        for (int lane = 0; lane < double_lanes; ++lane) {
          const DeviceComplex value = sources_[lane][FarHarmonics::index(l, m)];
          lanes[0][lane] = value.re;
          lanes[1][lane] = -value.im;
        }
        put(mirrored_, l, m, {load_lanes(lanes[0]), load_lanes(lanes[1])});
      }
  }

  void find_irregular() {
    double inverse2[double_lanes], inverse[double_lanes];
    for (int lane = 0; lane < double_lanes; ++lane) {
      inverse2[lane] = 1 / (x_[lane] * x_[lane] + y_[lane] * y_[lane] + z_[lane] * z_[lane]);
      inverse[lane] = std::sqrt(inverse2[lane]);
    }
    const DoubleVector x = load_lanes(x_), y = load_lanes(y_), z = load_lanes(z_), i2 = load_lanes(inverse2);
    LaneComplex sectoral{load_lanes(inverse), {}};
    for (int m = 0; m <= order; ++m) {
      if (m > 0) sectoral = next_irregular_sectoral(m, sectoral, x, y, i2);
      visit_irregular_harmonics<order>(m, sectoral, z, i2,
                                       [&](int l, const LaneComplex& f) { put(irregular_, l, m, f); });
    }
  }

  /// Row j, and another one behind it: a row of few sums alone would wait for each of its own additions.
  template <int j, int other = -1>
  void add_rows() {
    LaneComplex sum[j + 1], more[other + 2];
    GROVE_UNROLL
    for (int k = 0; k <= j; ++k) sum[k] = sums_[FarHarmonics::index(j, k)];
    GROVE_UNROLL
    for (int k = 0; k <= other; ++k) more[k] = sums_[FarHarmonics::index(other, k)];
    for (int l = 0; l <= order - j; ++l) {
      const bool has_other = other >= 0 && l <= order - other;
      for (int m = -l; m <= l; ++m) {
        const LaneComplex moment = mirrored_[place(l, m)];
        const LaneComplex* const table = irregular_ + place(j + l, m);
        GROVE_UNROLL
        for (int k = 0; k <= j; ++k) sum[k].add_product(moment, table[k]);
        if (!has_other) continue;
        const LaneComplex* const of_other = irregular_ + place(other + l, m);
        GROVE_UNROLL
        for (int k = 0; k <= other; ++k) more[k].add_product(moment, of_other[k]);
      }
    }
    GROVE_UNROLL
    for (int k = 0; k <= j; ++k) sums_[FarHarmonics::index(j, k)] = sum[k];
    GROVE_UNROLL
    for (int k = 0; k <= other; ++k) sums_[FarHarmonics::index(other, k)] = more[k];
  }

  int count_ = 0;
  const DeviceComplex* sources_[double_lanes];
  double x_[double_lanes], y_[double_lanes], z_[double_lanes];
  LaneComplex mirrored_[full], irregular_[full];  // M* and S
  LaneComplex sums_[FarHarmonics::size] = {};
};

/// Adds the expansion of far images to one about this place of the box.
FarHarmonics with_images(FarHarmonics local, const FarField<far_order>& far, const Vec3d& middle) {
  Harmonics<far_order> regular;
  for (int m = 0; m <= far_order; ++m) find_regular(m, middle, regular);
  for (int l = 0; l <= far_cells_order; ++l)
    for (int m = 0; m <= l; ++m) local(l, m) += moved_local(far.local, regular, l, m);
  return local;
}

}  // namespace

std::vector<FarMoments> leaf_moments(const Particles& particles, std::span<const Count> leaf_begin,
                                     std::span<const Ball> leaves, const Images& images) {
  std::vector<FarMoments> result(leaves.size());
  host_loop("Grove::gravity::moments of leaves", leaves.size(), [&](std::size_t leaf) {
    const BallPlaces places(leaves[leaf], images);
    const auto moments = moments_of<far_moments>(particles, static_cast<std::size_t>(leaf_begin[leaf]),
                                                 static_cast<std::size_t>(leaf_begin[leaf + 1]),
                                                 [&](const Vec3d& p) { return places.place(p); });
    result[leaf] = {moments.multipoles, moments.second};
  });
  return result;
}

void add_far_cells(const FarTree& tree, const FarField<far_order>& far, const FarUnits& units,
                   std::span<const Ball> leaves, std::span<const Count> leaf_begin, int first_active,
                   Particles& particles) {
  std::atomic<std::size_t> lacking{leaves.size()};
  host_loop("Grove::gravity::far cells", leaves.size(), [&](std::size_t leaf) {
    const auto end = static_cast<std::size_t>(leaf_begin[leaf + 1]);
    auto i = static_cast<std::size_t>(leaf_begin[leaf]);
    while (i < end && particles.rung[i] < first_active) ++i;
    if (i == end) return;
    const Ball& target = leaves[leaf];
    const BallPlaces places(target, tree.images);
    LocalSums sums;
    std::vector<std::int32_t> stack;
    bool all_known = true;
    for (int image = 0; image < tree.images.count(); ++image) {
      const Vec3d way = tree.images.shift(image);
      all_known &= visit_far_cells(tree, target, image, stack, [&](std::int32_t cell) {
        sums.add(tree.moments[cell], places.place(tree.balls[cell].shifted(way).middle));
      });
    }
    if (!all_known) lacking.store(leaf, std::memory_order_relaxed);
    const FarHarmonics local = with_images(sums.sum(), far, units.place(target.middle));
    for (; i < end; ++i) {
      if (particles.rung[i] < first_active) continue;
      const Vec3d& p = particles.position[i];
      const FarForce expanded = local_force(local, places.place(p)),
                     rest = far.but_for_expansion(units.place(p));
      const DirectForce force = units.force(
          FarForce{expanded.acceleration + rest.acceleration, expanded.potential + rest.potential});
      particles.acceleration[i] = (particles.acceleration[i].as<double>() + force.acceleration).as<float>();
      particles.potential[i] = static_cast<float>(particles.potential[i] + force.potential);
    }
  });
  if (lacking != leaves.size())
    throw OpensPruned("far cells: a cell of another rank would have to be opened for leaf " +
                      std::to_string(lacking));
}

}  // namespace grove
