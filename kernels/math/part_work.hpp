#pragma once

#include "base/host_device.hpp"
#include "base/types.hpp"

namespace grove {

/// The particles in a part of space, and their work in a longest step by how deep their rungs are.
struct PartWork {
  static constexpr int classes = 8;

  Count particles = 0;
  Count ranks = 0;  ///< the sum over particles of the rank that has them
  /// By class: the last one is that of the deepest rung if that is 7 or more; the first one has the rung
  /// seven above that, or rung 0, and all above.
  Count work[classes] = {};

  GROVE_HOST_DEVICE static int class_of(int rung, int deepest) {
    const int first = deepest < classes ? 0 : deepest - (classes - 1);
    return rung <= first ? 0 : (rung < deepest ? rung : deepest) - first;
  }
  Count all() const {
    Count sum = 0;
    for (const Count w : work) sum += w;
    return sum;
  }
  PartWork& operator+=(const PartWork& o) {
    particles += o.particles;
    ranks += o.ranks;
    for (int c = 0; c < classes; ++c) work[c] += o.work[c];
    return *this;
  }
};

}  // namespace grove
