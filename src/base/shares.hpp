#pragma once

#include "base/types.hpp"

namespace grove {

/// The begin of part `index` of `parts` equal parts of `count` things.
constexpr Count share_begin(Count count, Count index, Count parts) {
  return count / parts * index + count % parts * index / parts;
}

}  // namespace grove
