#include "commands/commands.hpp"

namespace grove {

void add_run(CLI::App&, Action&) {}

}  // namespace grove
