#pragma once

#include <utility>

#include "gravity/gravity.hpp"
#include "gravity/host_gravity.hpp"

namespace grove {

/// Gravity on particles that the caller keeps.
struct HostForces {
  HostForces(const Communicator& comm, const GravityParameters& gravity_parameters, Particles& particles)
      : parameters(gravity_parameters),
        storage(comm, parameters, particles, records),
        gravity(comm, parameters, storage) {}
  HostForces(const HostForces&) = delete;
  HostForces& operator=(const HostForces&) = delete;

  ForceReport evaluate(const Domain& domain, const EvaluationPlan& plan = {}) {
    return gravity.evaluate(domain, plan, timers);
  }

  GravityParameters parameters;
  Array<Record> records;  ///< of the next new trees, if the decomposition made some
  HostGravity storage;
  Gravity gravity;
  PhaseTimers timers;
};

}  // namespace grove
