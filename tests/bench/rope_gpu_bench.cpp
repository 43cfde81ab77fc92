// The walk along ropes on one GPU: time against the number of particles, the opening angle and the order in
// which threads take the particles.
//
//   bench_rope_gpu [ORDER] [MOST] [REPEATS] [TREE]
//
// ORDER: quadrupole, monopole. TREE: bisection, in leaves of 4096; octree, one for all (Hilbert). A Plummer
// model of 50 000, 100 000, ... MOST (800 000) particles, equal masses, G = M = a = 1, softening 1e-3;
// criterion opening_radius. Milliseconds, medians of REPEATS (5) after one more: unsorted, along a Morton
// curve, along a Hilbert curve, in the order of the tree. Errors of 1024 accelerations; the bits of all four
// orders must be the same.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <random>
#include <string>

#include "bench/curve_order.hpp"
#include "bench/gpu_bench.hpp"
#include "kernels/cuda/walk/rope_walk.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "support/device_grown.hpp"
#include "support/distributions.hpp"

namespace grove {
namespace {

using Targets = std::vector<std::uint32_t>;

std::vector<Targets> orders_of(const Particles& particles) {
  const std::span<const Vec3d> position(particles.position);
  Targets tree(particles.size());
  std::iota(tree.begin(), tree.end(), 0U);
  Targets unsorted = tree;
  std::shuffle(unsorted.begin(), unsorted.end(), std::mt19937_64(1));
  return {unsorted, bench::order_along(position, bench::morton_key),
          bench::order_along(position, bench::hilbert_key), tree};
}

/// One line of the table.
void measure(testing::DeviceGrown& grown, const Particles& particles, const std::vector<Targets>& orders,
             const GravityParameters& gravity, int repeats) {
  const std::size_t count = particles.size();
  grown.update(particles, gravity, 0);
  const testing::DeviceSources sources(grown, gravity, 0);
  const cuda::TopCells cells = sources.top.cells();
  const auto ropes = cuda::top_ropes(sources.top.sources(), cells, grown.places.size());
  const cuda::DeviceArray<Vec3f> acceleration(count);
  const cuda::DeviceArray<float> potential(count);
  const cuda::DeviceArray<std::uint32_t> work(count);
  std::printf("%7zu %5.2f ", count, gravity.theta);
  WalkCounts counts;
  std::vector<std::uint64_t> bits;
  for (const Targets& order : orders) {
    const auto wanted = testing::upload(order);
    const double time = bench::milliseconds(repeats, [&] {
      counts = cuda::rope_walk(
          gravity, grown.host.units, 0, sources.view(grown), {cells, ropes.data()},
          {grown.trees, 0, grown.old_acceleration.data(), wanted.data(), static_cast<std::uint32_t>(count)},
          {acceleration.data(), potential.data(), work.data()});
    });
    bits.push_back(bench::checksum(std::span<const Vec3f>(testing::download(acceleration))));
    std::printf("%10.3f", time);
  }
  const bench::Errors errors =
      bench::errors_of(gravity, {grown.position.data(), grown.mass.data(), grown.type.data(), count}, 0,
                       testing::download(acceleration));
  const double n = static_cast<double>(count);
  std::printf("  %7.1f %7.1f %7.1f  %.1e %.1e %.1e  %s\n", static_cast<double>(counts.cell) / n,
              static_cast<double>(counts.particle) / n, static_cast<double>(counts.tests) / n, errors.median,
              errors.p99, errors.largest,
              std::equal(bits.begin() + 1, bits.end(), bits.begin()) ? "the same bits" : "BITS DIFFER");
}

void run(Order order, std::size_t most, int repeats, bool octrees) {
  std::puts("      N theta   unsorted    Morton   Hilbert      tree    cells particles tests, errors");
  for (std::size_t count = 50000; count <= most; count *= 2) {
    GravityParameters gravity;
    gravity.criterion = Criterion::opening_radius;
    gravity.order = order;
    gravity.softening.fill(1e-3);
    Particles particles = testing::make_shape(testing::Shape::plummer, count);
    testing::DeviceGrown grown;
    grown.host.prepare(particles, gravity.softening[0]);
    if (octrees)
      grown.build_octrees(particles, static_cast<Count>(count), Curve::hilbert);
    else
      grown.build(particles, 4096);
    const std::vector<Targets> orders = orders_of(particles);
    for (const double theta : {0.2, 0.4, 0.6, 0.8, 1.0}) {
      gravity.theta = theta;
      measure(grown, particles, orders, gravity, repeats);
    }
  }
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  const grove::KokkosRuntime kokkos;
  try {
    grove::cuda::select_device(0, false);
    grove::run(
        argc > 1 && std::string(argv[1]) == "monopole" ? grove::Order::monopole : grove::Order::quadrupole,
        argc > 2 ? static_cast<std::size_t>(std::atoll(argv[2])) : 800000, argc > 3 ? std::atoi(argv[3]) : 5,
        argc > 4 && std::string(argv[4]) == "octree");
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
