#include "commands/ic_glass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "base/shares.hpp"
#include "comm/exact_sum.hpp"
#include "decomposition/decompose.hpp"
#include "io/snapshot.hpp"
#include "kernels/math/uniform_point.hpp"

namespace grove {
namespace {

constexpr int most_steps = 150;
/// Root mean square of a step that ends it, over the mean spacing.
constexpr double enough = 2e-3;

/// m of m^3 particles.
int edge_of_cube(Count particles) {
  const auto m = static_cast<int>(std::lround(std::cbrt(static_cast<double>(particles))));
  if (m < 2 || Count{m} * m * m != particles)
    throw InputError(
        fmt::format("a glass has m^3 particles, such as 4096, 32768 or 262144; -n {} is none", particles));
  return m;
}

Particles random_places(const Communicator& comm, Count count, std::uint64_t seed) {
  const Count first = share_begin(count, comm.rank(), comm.size()),
              last = share_begin(count, comm.rank() + 1, comm.size());
  Particles particles;
  particles.reset(static_cast<std::size_t>(last - first));
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const auto number = static_cast<std::uint64_t>(first) + i;
    particles.position[i] = uniform_point(mixed(seed), number);
    particles.mass[i] = 1 / static_cast<double>(count);
    particles.id[i] = number + 1;
    particles.type[i] = 1;
  }
  return particles;
}

/// Lattices and glasses have small forces, of which the first digits are enough: quadrupoles do.
GravityParameters repulsion(double spacing) {
  GravityParameters gravity;
  gravity.images = {1};
  gravity.softening.fill(0.1 * spacing);
  gravity.delta = 3.5e-3;
  return gravity;
}

/// Moves particles against their accelerations: a density contrast makes a = 4 pi G rho times the
/// displacement that it comes from. Returns the root mean square of these steps, which are half a spacing at
/// most.
double step_apart(const Communicator& comm, Particles& particles, double spacing, Count count) {
  const Box box = Box::periodic(1);
  std::vector<double> squares;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    Vec3d step = particles.acceleration[i].as<double>() * (-1 / (4 * std::numbers::pi));
    if (const double length = norm(step); length > 0.5 * spacing) step *= 0.5 * spacing / length;
    particles.position[i] = box.wrapped(particles.position[i] + step);
    squares.push_back(norm2(step));
  }
  return std::sqrt(exact_sums(comm, squares, 1, count)[0] / static_cast<double>(count));
}

}  // namespace

void make_glass_file(const Communicator& comm, Count particles, std::uint64_t seed,
                     const std::string& output) {
  const Count count = particles > 0 ? particles : 32768;
  double spacing = 0;
  comm.together([&] { spacing = 1.0 / edge_of_cube(count); });
  Particles all = random_places(comm, count, seed);
  BackendChoice choice;
  choice.name = "kokkos";
  resolve(comm, choice);
  const std::unique_ptr<Backend> backend = make_backend(comm, choice, all, repulsion(spacing));
  DecompositionParameters decomposition;
  decomposition.period = 1;
  decomposition.leaf_size = default_leaf_size(count);
  Domain domain;
  double step = spacing;
  int steps = 0;
  for (; steps < most_steps && step > enough * spacing; ++steps) {
    PhaseTimers timers;
    DecompositionReport report;
    domain = backend->decompose(decomposition, domain, report);
    backend->gravity().evaluate(domain, {}, timers);
    backend->show(nullptr, [&](const Particles& shown) { all = shown; });
    step = step_apart(comm, all, spacing, count);
    backend->replace(all);
  }
  WriteOptions write;
  write.units = Units::dimensionless();
  write.box = 1;
  write_snapshot(comm, output, all, write);
  if (comm.is_master())
    fmt::print("{}: a glass of {}, seed {}, after {}, the last of {:.2g} spacings (rms)\n", output,
               how_many(count, "particle"), seed, how_many(steps, "step"), step / spacing);
}

}  // namespace grove
