// The walk along ropes on one GPU: time against the number of particles, the opening angle and the order in
// which threads take the particles.
//
//   bench_rope_gpu [ORDER [PARTICLES,... [REPEATS [TREE [MODEL [CRITERION [THETA,... [BUCKET]]]]]]]]
//
// ORDER: quadrupole, monopole. PARTICLES: 50000,100000,200000,400000,800000. TREE: bisection, in leaves of
// 4096; octree, one for all (Hilbert). MODEL (plummer): one of `grove ic`, with particles of equal mass, G =
// M = 1, softening 1e-3. CRITERION (opening_radius): an opening angle. THETA: 0.2,0.4,0.6,0.8,1. BUCKET (8):
// of octrees. Milliseconds, medians of REPEATS (5) after one more: unsorted, along a Morton curve, along a
// Hilbert curve, in the order of the tree. Errors of 1024 accelerations; the bits of all four orders must be
// the same.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

#include "bench/curve_order.hpp"
#include "bench/gpu_bench.hpp"
#include "io/words.hpp"
#include "kernels/cuda/walk/rope_walk.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "particles/models/model.hpp"
#include "support/device_grown.hpp"

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
  const auto ropes = cuda::top_ropes(sources.top.sources(), cells);
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
          {grown.trees, grown.old_acceleration.data(), wanted.data(), static_cast<std::uint32_t>(count)},
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

struct Setting {
  std::string order = "quadrupole", counts = "50000,100000,200000,400000,800000", repeats = "5",
              tree = "bisection", model = "plummer", criterion = "opening_radius",
              thetas = "0.2,0.4,0.6,0.8,1", bucket = "8";
};

template <class Enum>
Enum choice(const std::string& word) {
  const auto found = std::find(words<Enum>.begin(), words<Enum>.end(), word);
  if (found == words<Enum>.end()) throw std::invalid_argument(word + " is not known");
  return static_cast<Enum>(found - words<Enum>.begin());
}

void run(const Setting& setting) {
  std::puts("      N theta   unsorted    Morton   Hilbert      tree    cells particles tests, errors");
  GravityParameters gravity;
  gravity.criterion = choice<Criterion>(setting.criterion);
  gravity.order = choice<Order>(setting.order);
  gravity.softening.fill(1e-3);
  for (const std::string& number : bench::items_of(setting.counts)) {
    const std::size_t count = bench::number_of(number);
    ModelParameters model;
    model.model = setting.model;
    model.particles = static_cast<Count>(count);
    Particles particles = make_particles(model);
    testing::DeviceGrown grown;
    grown.host.prepare(particles, gravity.softening[0]);
    if (choice<LocalTreeKind>(setting.tree) == LocalTreeKind::octree)
      grown.build_octrees(particles, static_cast<Count>(count), Curve::hilbert, std::stoi(setting.bucket));
    else
      grown.build(particles, 4096);
    const std::vector<Targets> orders = orders_of(particles);
    for (const std::string& theta : bench::items_of(setting.thetas)) {
      gravity.theta = std::stod(theta);
      measure(grown, particles, orders, gravity, std::stoi(setting.repeats));
    }
  }
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  const grove::KokkosRuntime kokkos;
  try {
    grove::cuda::select_device(0, false);
    grove::Setting setting;
    int next = 1;
    for (std::string* word : {&setting.order, &setting.counts, &setting.repeats, &setting.tree,
                              &setting.model, &setting.criterion, &setting.thetas, &setting.bucket})
      if (next < argc) *word = argv[next++];
    grove::run(setting);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
