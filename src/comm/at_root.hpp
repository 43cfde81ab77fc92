#pragma once

#include <concepts>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/mpi_count.hpp"

namespace grove {

/// Adds up the values of all ranks, element by element, on the rank `root`; elsewhere they stay what they
/// were. At most 2^31 elements. Collective.
template <std::integral T>
void sum_at(const Communicator& comm, int root, std::span<T> values) {
  const bool is_root = comm.rank() == root;
  comm.count(is_root ? 0 : values.size_bytes());
  GROVE_MPI(MPI_Reduce(is_root ? MPI_IN_PLACE : values.data(), is_root ? values.data() : nullptr,
                       mpi_count(values.size()), mpi_type<T>(), MPI_SUM, root, comm.get()));
}

/// One value of every rank, in rank order, on the rank `root`; nothing elsewhere. Collective.
template <Wire T>
std::vector<T> values_at(const Communicator& comm, int root, const T& value) {
  const bool is_root = comm.rank() == root;
  std::vector<T> all(is_root ? static_cast<std::size_t>(comm.size()) : 0);
  comm.count(is_root ? 0 : sizeof(T));
  GROVE_MPI(MPI_Gather(&value, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, root, comm.get()));
  return all;
}

/// The arrays of all ranks, joined in rank order, on the rank `root`, which knows their sizes in bytes;
/// nothing elsewhere. At most 2^31 bytes in all. Collective.
template <Wire T>
std::vector<T> gather_at(const Communicator& comm, int root, std::span<const T> values,
                         std::span<const int> bytes) {
  std::vector<int> begins(bytes.size(), 0);
  mpi_count(std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}));
  std::exclusive_scan(bytes.begin(), bytes.end(), begins.begin(), 0);
  const bool is_root = comm.rank() == root;
  std::vector<T> all;
  if (is_root) all.resize(static_cast<std::size_t>(begins.back() + bytes.back()) / sizeof(T));
  comm.count(is_root ? 0 : values.size_bytes());
  GROVE_MPI(MPI_Gatherv(values.data(), mpi_count(values.size_bytes()), MPI_BYTE, all.data(), bytes.data(),
                        begins.data(), MPI_BYTE, root, comm.get()));
  return all;
}

/// The same where the root learns the sizes first.
template <Wire T>
std::vector<T> gather_at(const Communicator& comm, int root, std::span<const T> values) {
  const std::vector<int> bytes = values_at(comm, root, mpi_count(values.size_bytes()));
  return gather_at(comm, root, values, std::span<const int>(bytes));
}

}  // namespace grove
