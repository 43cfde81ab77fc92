#include "commands/commands.hpp"

namespace grove {

void add_force(CLI::App&, Action&) {}

}  // namespace grove
