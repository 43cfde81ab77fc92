#pragma once

#include <string>

#include "base/errors.hpp"
#include "comm/communicator.hpp"
#include "commands/commands.hpp"

namespace grove {

/// Does what was asked for and returns the exit status, or ends all ranks with it. Collective. An error that
/// all ranks agreed on is reported once, by the master, and returned; so is an InputError that all of them
/// throw within seconds. Any other comes from some ranks while the rest may wait for them: it is reported by
/// its rank, and MPI aborts.
int outcome_of(const Communicator& comm, const Action& action);

/// Reports an error that all ranks have found alike; returns its status.
int report(const Communicator& comm, ExitStatus status, const std::string& message);

}  // namespace grove
