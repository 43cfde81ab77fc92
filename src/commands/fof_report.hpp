#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "halos/snapshot_halos.hpp"

namespace grove {

/// A summary of the halos that `grove fof` has found, the same on every rank.
struct FofReport {
  /// Halos of a half decade of mass.
  struct MassBin {
    double from;    ///< lower edge, in the unit shown
    Count halos;    ///< from there up to the next edge, sqrt(10) times as much
    Count or_more;  ///< halos from there up
  };
  Count particles = 0;  ///< that were linked
  Count groups = 0, members = 0;
  Halo largest{};
  std::vector<MassBin> mass_function;

  /// Collective.
  static FofReport of(const Communicator& comm, const WrittenHalos& halos);

  std::string text(const std::string& output, const WrittenHalos& halos) const;
  nlohmann::json json(const WrittenHalos& halos) const;
};

}  // namespace grove
