// Tree forces on one GPU: time by phase, interactions, and the error against direct summation, as a step of a
// run makes them.
//
//   bench_walk_gpu LOG2_PARTICLES MODEL DELTA [ORDER] [LEAF] [REPEATS]
//
// MODEL: plummer (99.9 % of the mass), hernquist (r < 100 a), nfw (c = 15); equal masses, G = M = a = 1,
// softening 1e-3. DELTA: of the criterion `acceleration`. ORDER: quadrupole, monopole. LEAF: 4096. Prints the
// medians of REPEATS (5) passes after a first one, which walks with an opening angle, and another one;
// milliseconds.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {
namespace {

/// The radius that holds this fraction of a model's mass.
double radius_of(const std::string& model, double fraction) {
  if (model == "plummer") return 1 / std::sqrt(std::pow(0.999 * fraction, -2. / 3) - 1);
  if (model == "hernquist") {
    const double root = std::sqrt(fraction) * 100 / 101;
    return root / (1 - root);
  }
  if (model != "nfw") throw std::runtime_error("no model " + model);
  const auto mass = [](double r) { return std::log1p(r) - r / (1 + r); };
  const double wanted = fraction * mass(15);
  double low = 0, high = 15;
  for (int i = 0; i < 50; ++i) (mass((low + high) / 2) < wanted ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

Particles sample(const std::string& model, std::size_t count) {
  std::mt19937_64 random(1);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  Particles particles;
  particles.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double r = radius_of(model, uniform()), c = 2 * uniform() - 1, s = std::sqrt(1 - c * c),
                 angle = 6.283185307179586 * uniform();
    particles.position[i] = {r * s * std::cos(angle), r * s * std::sin(angle), r * c};
    particles.velocity[i] = {};
    particles.mass[i] = 1 / static_cast<double>(count);
    particles.id[i] = i + 1;
    particles.type[i] = 1;
    particles.acceleration[i] = {};
    particles.potential[i] = particles.old_acceleration[i] = 0;
    particles.work[i] = 0;
  }
  return particles;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Milliseconds by phase, of each pass.
using Times = std::map<std::string, std::vector<double>>;

/// One decomposition and evaluation.
ForceReport pass(Backend& backend, const DecompositionParameters& parameters, Domain& domain, Times& times) {
  DecompositionReport decomposition;
  PhaseTimers timers;
  const std::optional<Box> box = domain.cells.empty() ? std::nullopt : std::optional<Box>(domain.box);
  cuda::device_synchronise();
  ForceReport report;
  {
    const auto timer = timers.time("total");
    domain = backend.decompose(parameters, box, decomposition);
    report = backend.evaluate(domain, timers);
  }
  timers.add("records", decomposition.timers.seconds("records"));
  timers.add("top cuts", decomposition.timers.seconds("local"));
  for (const auto& [phase, cost] : timers.all()) times[phase].push_back(1e3 * cost.seconds);
  return report;
}

void run(int log2, const std::string& model, double delta, Order order, Count leaf, int repeats) {
  GravityParameters gravity;
  gravity.delta = delta;
  gravity.order = order;
  gravity.softening.fill(1e-3);
  const std::size_t count = std::size_t{1} << log2;
  const Communicator comm(MPI_COMM_WORLD);
  const auto backend = make_backend(comm, {"cuda", true, {}}, sample(model, count), gravity);
  DecompositionParameters parameters;
  parameters.leaf_size = leaf;
  Domain domain;
  Times unwanted, times;
  for (int i = 0; i < 2; ++i) pass(*backend, parameters, domain, unwanted);
  ForceReport report;
  for (int i = 0; i < repeats; ++i) report = pass(*backend, parameters, domain, times);

  const auto n = static_cast<double>(count);
  std::printf("%s 2^%d, delta %g, %s, leaves of %lld: %.2f ms, %.1f bytes a particle\n", model.c_str(), log2,
              delta, order == Order::quadrupole ? "quadrupole" : "monopole", static_cast<long long>(leaf),
              median(times["total"]), static_cast<double>(backend->peak_device_memory()) / n);
  for (const char* phase : {"records", "top cuts", "build", "sort", "moments", "let", "walk", "wait"})
    std::printf("  %-10s %8.3f ms\n", phase, median(times[phase]));
  std::printf("per particle: %.1f cells, %.1f particles; per group: %.1f tests\n",
              static_cast<double>(report.interactions.cell) / n,
              static_cast<double>(report.interactions.particle) / n,
              static_cast<double>(report.interactions.tests) / n * group_size);
  const AuditResult audit = backend->audit(domain, 4096);
  std::printf("error: median %.4f %%, 99th percentile %.4f %%, largest %.4f %%\n", 100 * audit.median,
              100 * audit.p99, 100 * audit.max);
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  if (argc < 4) {
    std::puts("usage: bench_walk_gpu LOG2_PARTICLES MODEL DELTA [ORDER] [LEAF] [REPEATS]");
    return 2;
  }
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    grove::run(
        std::atoi(argv[1]), argv[2], std::atof(argv[3]),
        argc > 4 && std::string(argv[4]) == "monopole" ? grove::Order::monopole : grove::Order::quadrupole,
        argc > 5 ? std::atoi(argv[5]) : 4096, argc > 6 ? std::atoi(argv[6]) : 5);
  } catch (const std::exception& error) {
    std::puts(error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
