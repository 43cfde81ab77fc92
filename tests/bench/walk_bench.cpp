// Phases of one force evaluation on one rank, Hernquist sphere G = M = a = 1, r < 50 a, and how fast the walk
// sums compared with a loop over the same sums and nothing else.
//
//   bench_walk [particles] [delta] [softening] [leaf size] [bisection|octree]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "kernels/host/list_sums.hpp"
#include "kernels/kokkos/runtime.hpp"
#include "kernels/math/lanes.hpp"
#include "support/grown.hpp"

namespace grove {
namespace {

/// Processor time: the figures are of one core, whatever else the machine does.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// From the cumulative mass m(r) = r^2/(1 + r)^2.
Particles hernquist(std::size_t count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  Particles p;
  p.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double m = std::sqrt(uniform(random)) * 50 / 51, r = m / (1 - m);
    const double z = 2 * uniform(random) - 1, phi = 2 * M_PI * uniform(random), s = std::sqrt(1 - z * z);
    p.position[i] = {r * s * std::cos(phi), r * s * std::sin(phi), r * z};
    p.velocity[i] = {0, 0, 0};
    p.mass[i] = 1 / static_cast<double>(count);
    p.id[i] = i + 1;
    p.type[i] = 1;
    p.old_acceleration[i] = 0;
  }
  return p;
}

struct Seconds {
  double sort, build, moments, walk;
};

Seconds evaluate(testing::Grown& grown, Particles& particles, const GravityParameters& gravity, Count leaf,
                 double median, WalkCounts& counts) {
  const double t0 = now();
  grown.sort(particles, leaf);
  const double t1 = now();
  grown.build(particles, *tree_builder(gravity));
  const double t2 = now();
  grown.moments(particles, gravity, median);
  const double t3 = now();
  counts = grown.walk(particles, gravity);
  return {t1 - t0, t2 - t1, t3 - t2, now() - t3};
}

double set_old_accelerations(Particles& particles) {
  std::vector<float> sorted;
  for (std::size_t i = 0; i < particles.size(); ++i)
    sorted.push_back(particles.old_acceleration[i] = norm(particles.acceleration[i]));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                   sorted.end());
  return sorted[sorted.size() / 2];
}

/// Relative errors of every n-th particle against direct summation, sorted.
std::vector<double> errors(const Particles& particles, double softening, std::size_t sample) {
  std::vector<double> result;
  const std::size_t stride = std::max<std::size_t>(1, particles.size() / sample);
  for (std::size_t i = stride / 2; i < particles.size(); i += stride) {
    Vec3d a{0, 0, 0};
    for (std::size_t j = 0; j < particles.size(); ++j) {
      const Vec3d d = particles.position[j] - particles.position[i];
      const double r2 = norm2(d);
      if (r2 == 0) continue;
      const double h = 2.8 * softening, inverse = 1 / std::sqrt(r2);
      const double force = r2 < h * h ? spline_pair(r2, inverse, 1 / h).force : inverse * inverse * inverse;
      a += d * (particles.mass[j] * force);
    }
    result.push_back(norm(particles.acceleration[i].as<double>() - a) / norm(a));
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Seconds per interaction of a group's worth of targets with cells, or particles, in a list that stays in
/// the nearest cache.
template <bool cells>
double seconds_per_interaction() {
  constexpr int sources = 256, rounds = 20000, registers = group_size / lane_count;
  std::vector<CellSource> list(sources);
  for (int i = 0; i < sources; ++i)
    list[static_cast<std::size_t>(i)] = {
        {1.F + 0.01F * static_cast<float>(i), 0.5F, 0.3F}, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0};
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  float coordinates[3][group_size];
  for (auto& axis : coordinates)
    for (float& c : axis) c = uniform(random);
  Vec3<Lanes> position[registers];
  Accumulator<Lanes> sum[registers];
  for (int r = 0; r < registers; ++r) {
    const int i = r * lane_count;
    position[r] = {Lanes::load(coordinates[0] + i), Lanes::load(coordinates[1] + i),
                   Lanes::load(coordinates[2] + i)};
    sum[r] = {{Lanes(0.F), Lanes(0.F), Lanes(0.F)}, Lanes(0.F)};
  }
  const double start = now();
  for (int round = 0; round < rounds; ++round) {
    for (const CellSource& s : list)
      for (int r = 0; r < registers; ++r) {
        const Vec3<Lanes> d{Lanes(s.centre.x) - position[r].x, Lanes(s.centre.y) - position[r].y,
                            Lanes(s.centre.z) - position[r].z};
        if constexpr (cells)
          add_quadrupole(Newton{}, d, s, d.x, sum[r]);
        else
          add_particle(Newton{}, d, Lanes(s.mass), d.x, sum[r]);
      }
  }
  const double seconds = now() - start;
  float sink[lane_count];
  for (int r = 0; r < registers; ++r) {
    (sum[r].acceleration.x + sum[r].acceleration.y + sum[r].acceleration.z + sum[r].potential).store(sink);
    if (sink[0] == 12345) std::puts("");
  }
  return seconds / rounds / sources / group_size;
}

void report(const Seconds& s, const WalkCounts& c, std::size_t n, double per_cell, double per_particle) {
  const double count = static_cast<double>(n), grow = s.sort + s.build + s.moments, total = grow + s.walk;
  const double cells = static_cast<double>(c.cell), parts = static_cast<double>(c.particle);
  std::printf("sort %.4f  build %.4f  moments %.4f  (%.4f)  walk %.4f  total %.4f s: %.3f M/s\n", s.sort,
              s.build, s.moments, grow, s.walk, total, 1e-6 * count / total);
  std::printf(
      "per particle %.1f cells + %.1f particles; tests per group %.1f; %.3f G interactions/s, %.2f of the "
      "loop's\n",
      cells / count, parts / count, static_cast<double>(c.tests) * group_size / count,
      1e-9 * (cells + parts) / s.walk, (cells * per_cell + parts * per_particle) / s.walk);
}

int run(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000000;
  GravityParameters gravity;
  if (argc > 2) gravity.delta = std::atof(argv[2]);
  const double softening = argc > 3 ? std::atof(argv[3]) : 1e-4;
  const Count leaf = argc > 4 ? std::atol(argv[4]) : 4096;
  if (argc > 5 && std::string(argv[5]) == "octree") gravity.tree = LocalTreeKind::octree;
  const bool audit = argc <= 6;
  gravity.softening.fill(softening);

  const double per_cell = seconds_per_interaction<true>(), per_particle = seconds_per_interaction<false>();
  std::printf("loop: %.3f ns per cell, %.3f ns per particle\n", 1e9 * per_cell, 1e9 * per_particle);
  Particles particles = hernquist(n);
  testing::Grown grown;
  grown.prepare(particles);
  WalkCounts counts;
  std::printf("theta %g:\n", gravity.theta);
  const Seconds first = evaluate(grown, particles, gravity.first_evaluation(), leaf, 0, counts);
  report(first, counts, n, per_cell, per_particle);
  const auto print_errors = [&] {
    const auto e = errors(particles, softening, 1000);
    std::printf("error median %.3g  p99 %.3g  max %.3g\n", e[e.size() / 2], e[e.size() * 99 / 100], e.back());
  };
  if (audit) print_errors();
  std::printf("delta %g:\n", gravity.delta);
  const double median = set_old_accelerations(particles);
  const Seconds second = evaluate(grown, particles, gravity, leaf, median, counts);
  report(second, counts, n, per_cell, per_particle);
  if (audit) print_errors();
  return 0;
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  const grove::KokkosRuntime kokkos;
  return grove::run(argc, argv);
}
