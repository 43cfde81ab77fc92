#include "initial_state.hpp"

#include <utility>

#include "initial_conditions.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"

namespace grove {

InitialState initial_state(const Communicator& comm, const Parameters& parameters) {
  const InitialConditionsParameters& from = parameters.initial_conditions;
  InitialState state;
  SnapshotHeader header;
  if (from.file.empty()) {
    state.particles = make_initial_conditions(comm, from.model);
  } else {
    ReadOptions options;
    options.unstated = parameters.units;
    options.convert_to = parameters.units;
    Snapshot snapshot = read_snapshot(comm, from.file, options);
    state.particles = std::move(snapshot.particles);
    state.time = snapshot.header.time;
    state.leaf_size = snapshot.header.leaf_size;
    header = std::move(snapshot.header);
  }
  ValidationOptions options;
  if (!from.file.empty()) options.header = &header;
  options.source = from.file.empty() ? "model " + from.model.model : from.file;
  options.tracer = from.tracer;
  options.softening = parameters.gravity.softening;
  options.leaves = parameters.decomposition.leaves;
  validate(comm, state.particles, options);
  if (parameters.time.begin) state.time = *parameters.time.begin;
  return state;
}

}  // namespace grove
