#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "initial_conditions.hpp"
#include "selftest/selftest.hpp"

namespace grove {

/// The particles of all ranks in the order of their ids, on every rank. For few particles.
inline Particles gathered(const Communicator& comm, const Particles& mine) {
  Particles all;
  for_each_field([&](const auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    const auto values = comm.all_gather_arrays(std::span<const T>(mine.*field.array));
    (all.*field.array).assign(values.begin(), values.end());
  });
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return all.id[a] < all.id[b]; });
  all.reorder(order);
  return all;
}

inline Particles model_particles(const Communicator& comm, const std::string& name, Count n) {
  ModelParameters parameters;
  parameters.model = name;
  parameters.particles = n;
  return make_initial_conditions(comm, parameters);
}

/// Each rank by itself, with too few particles to share out: what it finds, and reports that all ranks make
/// of it.
struct EachRank {
  Communicator alone;
  SelfTestMachine machine;
  SelfCheckReport report;  ///< collective over all ranks: what the rank says that is farthest off

  EachRank(const SelfTestMachine& all, const SelfCheckReport& to)
      : alone(all.comm.split(all.comm.rank())),
        machine{alone, all.choice},
        report([&all, &to](SelfCheck check) {
          const auto off = [&](double found) {
            const double by = std::abs(found - check.expected);
            return std::isnan(by) ? std::numeric_limits<double>::infinity() : by;
          };
          for (const double found : all.comm.all_gather(check.found))
            if (off(found) > off(check.found)) check.found = found;
          check.found = all.comm.broadcast(check.found);
          to(check);
        }) {}
  EachRank(const EachRank&) = delete;
  EachRank& operator=(const EachRank&) = delete;
};

/// Particles with the forces of a backend on them.
struct Evaluated {
  std::unique_ptr<Backend> backend;
  Domain domain;

  /// Twice, so that a criterion that needs accelerations has them. particles: any distribution over ranks.
  Evaluated(const SelfTestMachine& machine, Particles particles, const GravityParameters& gravity) {
    const Communicator& comm = machine.comm;
    const Count count = comm.sum(static_cast<Count>(particles.size()));
    backend = make_backend(comm, machine.choice, std::move(particles), gravity);
    DecompositionParameters parameters;
    parameters.leaf_size = default_leaf_size(count);
    DecompositionReport report;
    PhaseTimers timers;
    std::optional<Box> box;
    for (int pass = 0; pass < 2; ++pass) {
      domain = backend->decompose(parameters, box, report);
      backend->evaluate(domain, {}, timers);
      box = domain.box;
    }
  }

  Particles all(const Communicator& comm) const {
    Particles result;
    backend->show(nullptr, [&](const Particles& mine) { result = gathered(comm, mine); });
    return result;
  }
};

}  // namespace grove
