#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/commands.hpp"

namespace grove::testing {

/// Runs `grove` with these words behind it, as the command line does, but lets errors through.
inline void grove(const Communicator& comm, std::vector<std::string> words) {
  CLI::App app;
  Action action;
  for (const auto add : {add_ic, add_run, add_force, add_decompose, add_info, add_render, add_validate})
    add(app, action);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  action(comm);
}

inline nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

}  // namespace grove::testing
