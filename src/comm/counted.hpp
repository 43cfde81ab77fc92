#pragma once

#include <cstddef>

#include "base/activity.hpp"

namespace grove {

/// Adds a collective call of MPI to activity(), in which this rank gives so many bytes to others.
inline void count_collective(std::size_t bytes) {
  ++activity().collectives;
  activity().sent += bytes;
}

/// Adds a message to another rank to activity().
inline void count_message(std::size_t bytes) {
  ++activity().messages;
  activity().sent += bytes;
}

}  // namespace grove
