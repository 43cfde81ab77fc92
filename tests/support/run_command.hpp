#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/commands.hpp"

namespace grove::testing {

/// Runs `grove` with these words behind it, as the command line does, but lets errors through.
inline void grove(const Communicator& comm, const std::vector<std::string>& words) {
  run_command(words, comm);
}

inline nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

}  // namespace grove::testing
