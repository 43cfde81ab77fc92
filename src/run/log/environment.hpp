#pragma once

#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"

namespace grove {

/// The machine and the program of a run.
struct Environment {
  std::string started;                             ///< "2026-11-22T02:40:00Z", on the master
  std::vector<std::pair<std::string, int>> hosts;  ///< and the ranks on each, in the order of the first ranks
  std::string processor;  ///< of the master's host; empty where the system does not tell
  std::string mpi;        ///< library and version
  int ranks = 1;
  std::vector<std::size_t> host_of;  ///< each rank's, as its place in `hosts`
};

/// Collective; the same on every rank.
Environment environment(const Communicator& comm);

}  // namespace grove
