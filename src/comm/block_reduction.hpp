#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "comm/communicator.hpp"

namespace grove {

/// Combines two blocks of so many bytes, the second of which becomes the result. The order of blocks must not
/// matter. MPI's frames are no place for exceptions.
using CombineBlocks = void (*)(const std::byte* other, std::byte* result, std::size_t bytes);

/// The size in bytes of an element of MPI.
std::size_t element_bytes(MPI_Datatype type);

/// The same as a function that MPI calls, which knows blocks as elements of a contiguous type.
template <CombineBlocks combine>
void combine_elements(void* other, void* result, int* elements, MPI_Datatype* type) {
  const std::size_t bytes = element_bytes(*type);
  auto* from = static_cast<const std::byte*>(other);
  auto* to = static_cast<std::byte*>(result);
  for (int i = 0; i < *elements; ++i, from += bytes, to += bytes) combine(from, to, bytes);
}

/// Combines the blocks of all ranks, equally long, on the rank `root`, or everywhere; elsewhere blocks stay
/// what they were. operation: combine_elements() of some function. Collective. Cost: one reduction.
void reduce_block_at(const Communicator& comm, int root, MPI_User_function* operation,
                     std::span<std::byte> block);
void reduce_block(const Communicator& comm, MPI_User_function* operation, std::span<std::byte> block);

}  // namespace grove
