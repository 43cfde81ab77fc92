#include "commands/commands.hpp"

namespace grove {

void add_decompose(CLI::App&, Action&) {}

}  // namespace grove
