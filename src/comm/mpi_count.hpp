#pragma once

#include <climits>
#include <cstddef>

namespace grove {

/// std::runtime_error, for mpi_count().
[[noreturn]] void throw_beyond_mpi(std::size_t number);

/// A number of elements or bytes as MPI takes it. std::runtime_error beyond 2^31 - 1: what may be as large
/// goes in pieces (ExchangePlan, MessageExchange).
inline int mpi_count(std::size_t number) {
  if (number > INT_MAX) throw_beyond_mpi(number);
  return static_cast<int>(number);
}

}  // namespace grove
