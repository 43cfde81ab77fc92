// The walk of few active groups on one GPU: time against the number of active particles and the number of
// warps that share a group.
//
//   bench_active_gpu [LOG2_PARTICLES] [MODEL] [DELTA] [REPEATS]
//
// 2^LOG2_PARTICLES (23) particles, MODEL: sphere (uniform), plummer; equal masses, G = M = radius = 1,
// softening 1e-3, leaves of 4096, criterion `acceleration` with DELTA (0.007). Active are groups of 32 at
// even distances along the tree. Milliseconds, medians of REPEATS (5) after one more; the last columns
// compare what walk_parts() takes with the best.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>

#include "bench/gpu_bench.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "support/device_grown.hpp"
#include "support/distributions.hpp"
#include "support/force_errors.hpp"

namespace grove {
namespace {

Particles make_model(const std::string& name, std::size_t count) {
  if (name == "plummer") return testing::make_shape(testing::Shape::plummer, count);
  if (name != "sphere") throw std::runtime_error("no model " + name);
  Particles particles = testing::make_shape(testing::Shape::uniform, count);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Vec3d& p : particles.position) do
      p = {uniform(random), uniform(random), uniform(random)};
    while (norm2(p) > 1);
  return particles;
}

/// Numbers of `active` groups out of `groups`, at even distances.
std::vector<std::uint32_t> spread(std::uint64_t groups, std::uint64_t active) {
  std::vector<std::uint32_t> numbers;
  for (std::uint64_t k = 0; k < active; ++k)
    numbers.push_back(static_cast<std::uint32_t>(k * groups / active));
  return numbers;
}

/// Trees and all that walks of them read and write.
struct Walkable {
  Walkable(const testing::DeviceGrown& from, const GravityParameters& parameters, double median,
           std::size_t count)
      : grown(from),
        gravity(parameters),
        sources(from, parameters, median),
        leaf_of_group(testing::upload(from.leaf_of_group)),
        acceleration(count),
        potential(count),
        work(count) {}

  void walk(const std::vector<std::uint32_t>& active, const cuda::DeviceArray<std::uint32_t>& numbers,
            int parts) const {
    const cuda::WalkTargets to{grown.trees, leaf_of_group.data(), static_cast<std::uint32_t>(active.size()),
                               numbers.data(), parts};
    const ForceOutput out{acceleration.data(), potential.data(), work.data()};
    cuda::walk_own(gravity, grown.host.units, sources.view(grown), to, out);
    cuda::walk_others(gravity, grown.host.units, sources.view(grown), to, out);
  }

  const testing::DeviceGrown& grown;
  const GravityParameters& gravity;
  testing::DeviceSources sources;
  cuda::DeviceArray<std::uint32_t> leaf_of_group;
  cuda::DeviceArray<Vec3f> acceleration;
  cuda::DeviceArray<float> potential;
  cuda::DeviceArray<std::uint32_t> work;
};

/// One line of the table.
void measure(const Walkable& walkable, std::uint64_t active, int repeats) {
  const auto groups = spread(walkable.grown.leaf_of_group.size(), active);
  const auto numbers = testing::upload(groups);
  std::printf("%9llu", static_cast<unsigned long long>(active) * group_size);
  const int chosen = cuda::walk_parts(static_cast<std::int64_t>(active));
  double best = 0, of_chosen = 0;
  int best_parts = 0;
  for (int parts = 1; parts <= cuda::most_walk_parts; parts *= 2) {
    const double time = bench::milliseconds(repeats, [&] { walkable.walk(groups, numbers, parts); });
    std::printf(" %9.4f", time);
    if (best_parts == 0 || time < best) best = time, best_parts = parts;
    if (parts == chosen) of_chosen = time;
  }
  std::printf("   %2d  %2d  %.2f\n", chosen, best_parts, of_chosen / best);
}

void run(int log2, const std::string& model, double delta, int repeats) {
  GravityParameters gravity;
  gravity.delta = delta;
  gravity.softening.fill(1e-3);
  Particles particles = make_model(model, std::size_t{1} << log2);
  testing::DeviceGrown grown;
  grown.host.prepare(particles, gravity.softening[0]);
  grown.build(particles, 4096);
  grown.update(particles, gravity.first_evaluation(), 0);
  grown.walk(particles, gravity.first_evaluation(), 0);
  const double median = testing::remember_accelerations(particles);
  grown.update(particles, gravity, median);
  const Walkable walkable(grown, gravity, median, particles.size());
  std::printf(
      "%s of 2^%d, delta %g, ms\n   active       S=1         2         4         8        16        32"
      "  rule best  rule/best\n",
      model.c_str(), log2, delta);
  const std::uint64_t all = grown.leaf_of_group.size();
  for (std::uint64_t active = 4; active < all; active *= 2) measure(walkable, active, repeats);
  measure(walkable, all, repeats);
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  const grove::KokkosRuntime kokkos;
  try {
    grove::cuda::select_device(0, false);
    grove::run(argc > 1 ? std::atoi(argv[1]) : 23, argc > 2 ? argv[2] : "sphere",
               argc > 3 ? std::atof(argv[3]) : 0.007, argc > 4 ? std::atoi(argv[4]) : 5);
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}
