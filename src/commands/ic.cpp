#include "commands/commands.hpp"

namespace grove {

void add_ic(CLI::App&, Action&) {}

}  // namespace grove
