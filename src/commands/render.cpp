#include "commands/commands.hpp"

namespace grove {

void add_render(CLI::App&, Action&) {}

}  // namespace grove
