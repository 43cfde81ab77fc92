// Tree forces on one GPU: time by phase, interactions, and the error against direct summation, as a step of a
// run makes them.
//
//   bench_walk_gpu LOG2_PARTICLES MODEL DELTA[,DELTA...] [ORDER] [LEAF] [REPEATS] [TREE] [TARGETS_PER_WARP]
//
// MODEL: plummer (99.9 % of the mass), hernquist (r < 100 a), nfw (c = 15); equal masses, G = M = a = 1,
// softening 1e-3. DELTA: of the criterion `acceleration`. ORDER: quadrupole, monopole. LEAF: 4096; octrees
// take any, such as all particles. TREE: bisection, octree (Hilbert), morton; centre: octree in leaves by
// rule `centre`. TARGETS_PER_WARP: particles that a warp walks together, 32 or 64; else what is fastest for
// so many. Particles move between passes, at about the speed of a circular orbit in any direction, for a time
// of 0.01: a step of sqrt(2 * 0.025 * softening / |a|) in the middle of the Plummer sphere. Prints the
// medians of REPEATS (5) passes after a first one, which walks with an opening angle, and another one;
// milliseconds on the slowest rank. The forces have the same bits on any number of ranks. The host's threads
// make the model: with `mpirun --bind-to none` that is quicker.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "base/hash.hpp"
#include "base/pages.hpp"
#include "gravity/force_hash.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/walk/walk.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove {
namespace {

constexpr double time_step = 0.01;

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

/// Fills in particles first, first + 1, ... of a rank's share of a model of `count`, which begins with
/// particle `begin` of all; a particle depends on its number alone.
void sample(const std::string& model, std::uint64_t count, std::uint64_t begin, std::size_t first,
            std::size_t last, Particles& particles) {
  for (std::size_t i = first; i < last; ++i) {
    const std::uint64_t number = begin + i;
    const auto uniform = [number](std::uint64_t which) {
      return (static_cast<double>(mixed(8 * number + which) >> 11) + 0.5) * 0x1p-53;
    };
    const auto direction = [&](std::uint64_t which) {
      const double c = 2 * uniform(which) - 1, s = std::sqrt(1 - c * c),
                   angle = 6.283185307179586 * uniform(which + 1);
      return Vec3d{s * std::cos(angle), s * std::sin(angle), c};
    };
    const double r = radius_of(model, uniform(0));
    particles.position[i] = direction(1) * r;
    particles.velocity[i] = direction(3) * std::sqrt(uniform(0) / r);
    particles.mass[i] = 1 / static_cast<double>(count);
    particles.id[i] = number + 1;
    particles.type[i] = 1;
    particles.acceleration[i] = {};
    particles.potential[i] = particles.old_acceleration[i] = 0;
    particles.work[i] = 0;
    particles.rung[i] = 0;
  }
}

/// This rank's share of a model.
Particles share_of(const Communicator& comm, const std::string& model, std::uint64_t count) {
  const auto rank = static_cast<std::uint64_t>(comm.rank()), ranks = static_cast<std::uint64_t>(comm.size());
  const std::uint64_t begin = count * rank / ranks, end = count * (rank + 1) / ranks;
  Particles particles;
  particles.resize(end - begin);
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  radius_of(model, 0.5);  // a wrong name throws here, not in a thread
  std::vector<std::jthread> workers;
  for (std::size_t t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      sample(model, count, begin, particles.size() * t / threads, particles.size() * (t + 1) / threads,
             particles);
    });
  workers.clear();
  return particles;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// "top cuts": those that a rank makes alone; "others": all else of the decomposition but the records; "own
/// walk": the pass through the own leaves, beside "let" and, if it is the longer, "walk", which is what the
/// rest takes then.
constexpr const char* phases[] = {"records", "top cuts", "others",   "build", "sort", "moments",
                                  "let",     "walk",     "own walk", "wait",  "total"};

/// Before the name of a part of "others", on the first rank.
const std::string of_others = "others, ";

/// Milliseconds by phase, of each pass.
using Times = std::map<std::string, std::vector<double>>;

/// One decomposition and evaluation. tunes_groups: then the critical separation of octrees is looked for.
ForceReport pass(const Communicator& comm, Backend& backend, const DecompositionParameters& parameters,
                 Domain& domain, Times& times, bool tunes_groups = false) {
  DecompositionReport decomposition;
  PhaseTimers timers;
  cuda::device_synchronise();
  comm.barrier();
  ForceReport report;
  {
    const auto timer = timers.time("total");
    domain = backend.decompose(parameters, domain, decomposition);
    report = backend.gravity().evaluate(domain, {.tunes_groups = tunes_groups}, timers);
  }
  timers.add("records", decomposition.timers.cost("records"));
  timers.add("top cuts", decomposition.timers.cost("local"));
  timers.add("others", decomposition.timers.cost("total") - decomposition.sort());
  for (const char* phase : phases) times[phase].push_back(1e3 * comm.max(timers.seconds(phase)));
  if (comm.size() > 1)
    for (const auto& [part, cost] : decomposition.timers.all())
      if (part != "total" && part != "records" && part != "local")
        times[of_others + part].push_back(1e3 * cost.seconds);
  return report;
}

/// The walk that is measured.
struct Setting {
  int log2;
  std::string model;
  Order order;
  Count leaf;
  int repeats;
  std::string tree;
  std::optional<int> targets_per_warp;
};

void measure(const Communicator& comm, const Setting& setting, double delta, const Particles& own) {
  GravityParameters gravity;
  gravity.delta = delta;
  gravity.order = setting.order;
  if (setting.tree != "bisection") gravity.tree = LocalTreeKind::octree;
  if (setting.tree == "morton") gravity.curve = Curve::morton;
  gravity.softening.fill(1e-3);
  const auto backend = make_backend(comm, {"cuda", true, {}, setting.targets_per_warp}, own, gravity);
  const int targets_per_warp = gravity.tree == LocalTreeKind::octree
                                   ? group_size
                                   : setting.targets_per_warp.value_or(cuda::default_targets_per_warp(
                                         static_cast<std::int64_t>(std::uint64_t{1} << setting.log2)));
  DecompositionParameters parameters;
  parameters.leaf_size = setting.leaf;
  if (setting.tree == "centre") parameters.rule = CutRule::centre;
  Domain domain;
  Times unwanted, times;
  pass(comm, *backend, parameters, domain, unwanted);
  backend->drift({.factor = time_step}, nullptr);
  pass(comm, *backend, parameters, domain, unwanted, true);
  ForceReport report;
  for (int i = 0; i < setting.repeats; ++i) {
    backend->drift({.factor = time_step}, nullptr);
    report = pass(comm, *backend, parameters, domain, times);
  }

  const AuditResult audit = backend->audit(domain, 4096);
  std::uint64_t hash = 0;
  backend->show(nullptr, [&](const Particles& particles) { hash = force_hash(comm, particles); });
  const auto peak = static_cast<double>(comm.max(peak_device_memory()));
  if (!comm.is_master()) return;
  const double n = std::ldexp(1.0, setting.log2);
  std::printf(
      "%s 2^%d on %d, delta %g, %s, %s in leaves of %lld: %.2f ms, %.1f bytes a particle, groups of %d\n",
      setting.model.c_str(), setting.log2, comm.size(), delta,
      setting.order == Order::quadrupole ? "quadrupole" : "monopole", setting.tree.c_str(),
      static_cast<long long>(setting.leaf), median(times["total"]), peak * comm.size() / n, targets_per_warp);
  for (const char* phase : phases) std::printf("  %-10s %8.3f ms\n", phase, median(times[phase]));
  for (auto part = times.lower_bound(of_others); part != times.end(); ++part)
    if (part->first.starts_with(of_others))
      std::printf("  %-24s %8.3f ms\n", part->first.c_str(), median(part->second));
  std::printf("per particle: %.1f cells, %.1f particles; per group: %.1f tests; received %.2f MB in all\n",
              static_cast<double>(report.interactions.cell) / n,
              static_cast<double>(report.interactions.particle) / n,
              static_cast<double>(report.interactions.tests) / n * targets_per_warp,
              1e-6 * static_cast<double>(report.let_bytes));
  std::printf("error: median %.4f %%, 99th percentile %.4f %%, largest %.4f %%; forces %016llx\n",
              100 * audit.median, 100 * audit.p99, 100 * audit.max, static_cast<unsigned long long>(hash));
  std::fflush(stdout);
}

void run(const Setting& setting, const std::string& deltas) {
  const Communicator comm(MPI_COMM_WORLD);
  const Particles own = share_of(comm, setting.model, std::uint64_t{1} << setting.log2);
  std::istringstream list(deltas);
  for (std::string delta; std::getline(list, delta, ',');) measure(comm, setting, std::stod(delta), own);
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  if (argc < 4) {
    std::puts(
        "usage: bench_walk_gpu LOG2_PARTICLES MODEL DELTA[,DELTA...] [ORDER] [LEAF] [REPEATS] [TREE] "
        "[TARGETS_PER_WARP]");
    return 2;
  }
  grove::keep_freed_memory();  // as the program does
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const bool monopoles = argc > 4 && std::string(argv[4]) == "monopole";
    grove::run(
        {std::atoi(argv[1]), argv[2], monopoles ? grove::Order::monopole : grove::Order::quadrupole,
         argc > 5 ? std::atoll(argv[5]) : 4096, argc > 6 ? std::atoi(argv[6]) : 5,
         argc > 7 ? argv[7] : "bisection", argc > 8 ? std::optional<int>(std::atoi(argv[8])) : std::nullopt},
        argv[3]);
  } catch (const std::exception& error) {
    std::puts(error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
