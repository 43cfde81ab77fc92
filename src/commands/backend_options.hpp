#pragma once

#include <CLI/CLI.hpp>

#include "backend/backend.hpp"

namespace grove {

/// The options --backend and --share-gpu of a command. `choice` must live as long as the command.
void add_backend_choice(CLI::App& command, BackendChoice& choice);
/// The options --backend, --payload and --share-gpu of a command. `choice` must live as long as the command.
void add_backend_options(CLI::App& command, BackendChoice& choice);

}  // namespace grove
