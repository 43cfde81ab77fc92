#pragma once

#include <cstdint>

#include "base/box.hpp"
#include "base/types.hpp"

namespace grove {

/// What another rank must know of a particle to cut the cell that it is in; travels between ranks.
struct DelegatedRecord {
  ParticleId id;
  IntegerPosition position;
  std::uint32_t weight;
};

}  // namespace grove
