#pragma once

#include "backend/backend.hpp"
#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "resume.hpp"
#include "run/checkpoint/checkpoint.hpp"

namespace grove {

/// `grove run --check`: says what a run would take, on these ranks: memory of host and GPU, disk, steps and
/// time; and what there is. Nothing is written, and nothing computed but the first steps of the run, or of a
/// sample of its particles (first_steps.hpp). choice: resolved. from (optional): the checkpoint that the run
/// goes on from; then only what is left counts, and time is that of the logs so far. Files are opened and
/// checked. Results in the output folder are no fault here; what the run would ask for is said.
///
/// Collective; prints from the master to standard output. InputError on all ranks together if the run would
/// be refused, or would not fit; the message says what would.
void check_run(const Communicator& comm, Parameters parameters, const BackendChoice& choice,
               const ResumeChoice& resume, const Checkpoint* from);

}  // namespace grove
