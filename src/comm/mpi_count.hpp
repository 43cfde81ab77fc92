#pragma once

#include <fmt/format.h>

#include <climits>
#include <cstddef>
#include <stdexcept>

namespace grove {

/// A number of elements or bytes as MPI takes it. std::runtime_error beyond 2^31 - 1: what may be as large
/// goes in pieces (ExchangePlan, MessageExchange).
inline int mpi_count(std::size_t number) {
  if (number > INT_MAX)
    throw std::runtime_error(fmt::format("{} elements or bytes are too many for one call of MPI", number));
  return static_cast<int>(number);
}

}  // namespace grove
