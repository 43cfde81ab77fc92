// Gas on one GPU: a step of all particles with gravity, and the search of neighbours alone.
//
//   bench_gas_gpu [PARTICLES [MODEL [REPEATS]]]
//
// PARTICLES: 2^22. MODEL: evrard; any model of gas of `grove ic`, with softening 1e-3 of its size. REPEATS
// (10): medians of so many steps after three. Milliseconds: of a step in the trees that there are (kick,
// drift, gravity, gas), in all, of gravity and of gas; of one with new cuts and trees; of the search within
// the H that gas has found, which is that of about 100 neighbours: of the tree's boxes, and of the walk that
// counts the neighbours.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "bench/count_neighbours.hpp"
#include "bench/gpu_bench.hpp"
#include "decomposition/gpu/devices.hpp"
#include "kernels/cuda/particles/fields.hpp"
#include "neighbours/gpu/device_neighbours.hpp"
#include "particles/models/model.hpp"

namespace grove {
namespace {

/// A run of steps of one length.
struct Steps {
  const Communicator& comm;
  std::unique_ptr<Backend> backend;
  Domain domain;
  PhaseTimers timers;
  double length = 1e-4;
  std::vector<double> gravity, gas, all;

  void cut() {
    DecompositionReport report;
    domain = backend->decompose({}, domain, report);
  }
  void evaluate(bool grows) {
    const auto now = [] {
      cuda::device_synchronise();
      return std::chrono::steady_clock::now();
    };
    const auto milliseconds = [](auto from, auto to) {
      return std::chrono::duration<double, std::milli>(to - from).count();
    };
    const auto start = now();
    Kick kick;
    for (double& factor : kick.factor.of) factor = length;
    backend->kick(kick);
    backend->drift({.factor = length}, nullptr);
    if (grows) cut();
    const auto moved = now();
    backend->gravity().evaluate(domain, {.grows = grows}, timers);
    const auto attracted = now();
    backend->gas()->evaluate(domain, 0, {});
    const auto end = now();
    gravity.push_back(milliseconds(moved, attracted));
    gas.push_back(milliseconds(attracted, end));
    all.push_back(milliseconds(start, end));
  }
  void forget() { gravity.clear(), gas.clear(), all.clear(); }
  void print(const char* name) {
    const auto median = [](std::vector<double> values) {
      std::sort(values.begin(), values.end());
      return values[values.size() / 2];
    };
    std::printf("%-24s %8.2f ms: gravity %8.2f, gas %8.2f\n", name, median(all), median(gravity),
                median(gas));
  }
};

void search(const Communicator& comm, const Particles& shown, const Domain& domain, int repeats) {
  DeviceParticles particles(shown);
  const DeviceExchange exchange(comm, false, std::nullopt);
  cuda::DeviceRecords records(particles.size());
  cuda::make_records(domain.box, {particles.values(fields::position)}, particles.size(), 0, records);
  DeviceForest forest(GravityParameters{});
  forest.cut(particles, domain.leaf_begin, records, 32);
  forest.arrange(particles);
  const cuda::DeviceArray<std::uint32_t> numbers(particles.size());
  DeviceNeighbours neighbours(comm, exchange, domain, forest, {});
  const double layout =
      bench::milliseconds(repeats, [&] { const DeviceNeighbours again(comm, exchange, domain, forest, {}); });
  for (const auto& [kind, name] : {std::pair{NeighbourSearch::gather, "search, gather"},
                                   {NeighbourSearch::symmetric, "search, symmetric"}}) {
    const double boxes = bench::milliseconds(repeats, [&, kind = kind] {
      neighbours.search(particles.values(fields::position), particles.values(fields::smoothing_length), kind);
    });
    const double walk = bench::milliseconds(
        repeats, [&] { bench::count_neighbours(neighbours.tree(), neighbours.groups(), numbers.data()); });
    std::vector<std::uint32_t> found(particles.size());
    numbers.download(found);
    const double all = static_cast<double>(std::accumulate(found.begin(), found.end(), std::uint64_t{0}));
    const double n = static_cast<double>(particles.size());
    std::printf(
        "%-24s %8.2f ms: order of nodes %.2f, boxes %.2f, walk %.2f; %.1f neighbours, %.1f million "
        "particles a second\n",
        name, layout + boxes + walk, layout, boxes, walk, all / n, 1e-3 * n / (layout + boxes + walk));
  }
}

void run(const std::string& particles, const std::string& model, int repeats) {
  const Communicator comm(MPI_COMM_WORLD);
  ModelParameters parameters;
  parameters.model = model;
  parameters.particles = static_cast<Count>(bench::number_of(particles));
  GravityParameters gravity;
  gravity.softening.fill(1e-3);
  BackendChoice choice;
  choice.name = "cuda";
  Steps steps{comm, make_backend(comm, choice, make_particles(parameters), gravity, GasParameters{}),
              {},   {},
              1e-4, {},
              {},   {}};
  std::printf("%s, %lld particles, %s", model.c_str(),
              static_cast<long long>(steps.backend->census()().particles),
              steps.backend->traits().devices.c_str());
  for (int i = 0; i < 3; ++i) steps.evaluate(true);  // the first ones know neither |a| nor H
  steps.forget();
  for (int i = 0; i < repeats; ++i) steps.evaluate(true);
  steps.print("step with new trees");
  steps.forget();
  for (int i = 0; i < repeats; ++i) steps.evaluate(false);
  steps.print("step in old trees");
  steps.evaluate(true);
  steps.backend->show(nullptr, [&](const Particles& shown) { search(comm, shown, steps.domain, repeats); });
}

}  // namespace
}  // namespace grove

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    grove::run(argc > 1 ? argv[1] : "2^22", argc > 2 ? argv[2] : "evrard",
               argc > 3 ? std::atoi(argv[3]) : 10);
  } catch (const std::exception& error) {
    std::puts(error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
