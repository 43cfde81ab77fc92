#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decomposition/migration.hpp"
#include "run/start/initial_conditions.hpp"
#include "selftest/selftest.hpp"

namespace grove {

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
  SelfCheckReport report;  ///< collective over all ranks: what the rank finds that is farthest off, in
                           ///< its own tolerances

  EachRank(const SelfTestMachine& all, const SelfCheckReport& to)
      : alone(all.comm.split(all.comm.rank())),
        machine{alone, all.make},
        report([&all, &to](const SelfCheck& check) {
          const std::vector<Finding> findings =
              all.comm.all_gather(Finding{check.found, check.expected, check.tolerance});
          const Finding& worst =
              *std::max_element(findings.begin(), findings.end(),
                                [](const Finding& a, const Finding& b) { return a.farness() < b.farness(); });
          to({check.name, worst.found, worst.expected, worst.tolerance});
        }) {}
  EachRank(const EachRank&) = delete;
  EachRank& operator=(const EachRank&) = delete;

 private:
  struct Finding {
    double found, expected, tolerance;
    /// How far off, in tolerances; infinite for what is not a number.
    double farness() const {
      const double off = std::abs(found - expected);
      const double far = off == 0 ? 0 : off / tolerance;
      return std::isnan(far) ? std::numeric_limits<double>::infinity() : far;
    }
  };
};

/// Particles with the forces of a backend on them.
struct Evaluated {
  std::unique_ptr<Backend> backend;
  Domain domain;

  /// Twice, so that a criterion that needs accelerations has them. particles: any distribution over ranks.
  Evaluated(const SelfTestMachine& machine, Particles particles, const GravityParameters& gravity) {
    const Communicator& comm = machine.comm;
    const Count count = comm.sum(static_cast<Count>(particles.size()));
    backend = machine.make(comm, std::move(particles), gravity);
    DecompositionParameters parameters;
    parameters.leaf_size = default_leaf_size(count);
    DecompositionReport report;
    PhaseTimers timers;
    for (int pass = 0; pass < 2; ++pass) {
      domain = backend->decompose(parameters, domain, report);
      backend->gravity().evaluate(domain, {}, timers);
    }
  }

  Particles all(const Communicator& comm) const {
    Particles result;
    backend->show(nullptr, [&](const Particles& mine) { result = gathered_by_id(comm, mine); });
    return result;
  }
};

}  // namespace grove
