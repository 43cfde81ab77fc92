#pragma once

#include <string>
#include <vector>

namespace grove {

/// Runs a program, found on the PATH if its name has no slash, and waits for its end; returns its exit
/// status, 127 if it cannot be run. is_quiet: what it says is thrown away.
int run_other_program(std::vector<std::string> words, bool is_quiet);

}  // namespace grove
