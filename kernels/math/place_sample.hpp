#pragma once

#include <cstdint>

#include "base/hash.hpp"
#include "base/types.hpp"
#include "kernels/math/part_work.hpp"

namespace grove {

/// The place of a particle that stands for others of its class (PartWork).
struct PlaceSample {
  Coordinate x, y, z;
  std::int32_t work_class;
};

/// How many particles of each class are taken, by their ids: the same ones whoever has them.
struct SampleRates {
  std::uint64_t below[PartWork::classes];  ///< of mixed ids, up to this one

  /// About so many of this number; none of none.
  static std::uint64_t of(Count wanted, Count number) {
    if (number == 0) return 0;
    if (wanted >= number) return ~std::uint64_t{0};
    return static_cast<std::uint64_t>(static_cast<double>(wanted) / static_cast<double>(number) * 0x1p64);
  }
  GROVE_HOST_DEVICE bool takes(ParticleId id, int work_class) const { return mixed(id) <= below[work_class]; }
};

}  // namespace grove
