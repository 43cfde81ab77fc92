#pragma once

#include "backend/backend.hpp"
#include "checkpoint.hpp"
#include "comm/communicator.hpp"
#include "io/parameters.hpp"

namespace grove {

/// `grove run --check`: says what a run would take, on these ranks: memory of host and GPU, disk, steps and
/// time per step; and what there is. Nothing is computed but the forces on a small sample, twice, and nothing
/// is written. choice: resolved. from (optional): the checkpoint that the run goes on from; then only what is
/// left counts. Particles are not read, but the files that hold them are opened and checked.
///
/// Collective; prints from the master to standard output. InputError on all ranks together if the run would
/// be refused, or would not fit; the message says what would.
void check_run(const Communicator& comm, const Parameters& parameters, const BackendChoice& choice,
               const Checkpoint* from);

}  // namespace grove
