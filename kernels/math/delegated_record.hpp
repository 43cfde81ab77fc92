#pragma once

#include <cstdint>

#include "base/box.hpp"
#include "base/types.hpp"

namespace grove {

/// All that another rank must know of a particle to cut its cell; travels between ranks.
struct DelegatedRecord {
  ParticleId id;
  IntegerPosition position;
  std::uint32_t weight;
};

}  // namespace grove
