#include "commands/commands.hpp"

namespace grove {

void add_info(CLI::App&, Action&) {}

}  // namespace grove
