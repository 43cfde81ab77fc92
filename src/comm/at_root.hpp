#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"

namespace grove {

/// Adds up the values of all ranks, element by element, on the rank `root`; elsewhere they stay what they
/// were. At most 2^31 elements. Collective.
template <std::integral T>
void sum_at(const Communicator& comm, int root, std::span<T> values) {
  const bool is_root = comm.rank() == root;
  GROVE_MPI(MPI_Reduce(is_root ? MPI_IN_PLACE : values.data(), is_root ? values.data() : nullptr,
                       static_cast<int>(values.size()), mpi_type<T>(), MPI_SUM, root, comm.get()));
}

/// The arrays of all ranks, joined in rank order, on the rank `root`; nothing elsewhere. At most 2^31 bytes
/// in all. Collective.
template <Wire T>
std::vector<T> gather_at(const Communicator& comm, int root, std::span<const T> values) {
  const std::vector<std::int64_t> bytes = comm.all_gather(static_cast<std::int64_t>(values.size_bytes()));
  std::vector<int> counts(bytes.begin(), bytes.end()), begins(bytes.size(), 0);
  for (std::size_t r = 1; r < begins.size(); ++r) begins[r] = begins[r - 1] + counts[r - 1];
  std::vector<T> all;
  if (comm.rank() == root) all.resize(static_cast<std::size_t>(begins.back() + counts.back()) / sizeof(T));
  GROVE_MPI(MPI_Gatherv(values.data(), counts[static_cast<std::size_t>(comm.rank())], MPI_BYTE, all.data(),
                        counts.data(), begins.data(), MPI_BYTE, root, comm.get()));
  return all;
}

}  // namespace grove
