#pragma once

#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "io/parameters.hpp"
#include "run/checkpoint/checkpoint.hpp"

namespace grove {

/// The user's choice of how a run begins.
struct ResumeChoice {
  std::string from = "never";  ///< "never": afresh; "auto": the last valid checkpoint of the output folder,
                               ///< or afresh if there is none; else the folder of a checkpoint
  bool overwrite = false;      ///< afresh, replacing earlier results
};

/// The edge of the periodic box of the run that is to go on, as its checkpoint has it: its parameters may
/// have taken it from a file that is not there any more. 0: there is no such checkpoint, or its manifest is
/// damaged. parameters: the output folder counts. By one process.
double edge_to_go_on_with(const ResumeChoice& choice, const Parameters& parameters);

/// Collective. The checkpoint to go on from; none: the run begins afresh. Nothing is written. parameters: of
/// the run; backend: its name. A damaged checkpoint is warned of, and the one before it taken. InputError on
/// all ranks together: no checkpoint is valid, or it is of other parameters or of another backend.
std::optional<Checkpoint> choose_checkpoint(const Communicator& comm, const ResumeChoice& choice,
                                            const Parameters& parameters, const std::string& backend);

/// Collective. Why the run may not write into its output folder: it holds earlier results, and nobody said
/// what to do with them; empty: it may. from (optional): what choose_checkpoint() has found.
std::string results_in_the_way(const Communicator& comm, const ResumeChoice& choice,
                               const Parameters& parameters, const Checkpoint* from);

/// choose_checkpoint(), and makes the output folder ready for the run. InputError on all ranks together if
/// results are in the way.
std::optional<Checkpoint> find_checkpoint(const Communicator& comm, const ResumeChoice& choice,
                                          const Parameters& parameters, const std::string& backend);

/// True if nothing is left to do: no steps, and no snapshot of the end that could not be written.
bool is_complete(const Checkpoint& checkpoint, const Parameters& parameters);

}  // namespace grove
