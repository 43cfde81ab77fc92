#include "comm/block_reduction.hpp"

#include "comm/mpi_count.hpp"

namespace grove {
namespace {

/// The whole block as one element, so that MPI does not divide it.
class BlockType {
 public:
  explicit BlockType(std::size_t bytes) {
    GROVE_MPI(MPI_Type_contiguous(mpi_count(bytes), MPI_BYTE, &type_));
    GROVE_MPI(MPI_Type_commit(&type_));
  }
  ~BlockType() { MPI_Type_free(&type_); }
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class Operation {
 public:
  explicit Operation(MPI_User_function* function) { GROVE_MPI(MPI_Op_create(function, 1, &operation_)); }
  ~Operation() { MPI_Op_free(&operation_); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  MPI_Op get() const { return operation_; }

 private:
  MPI_Op operation_ = MPI_OP_NULL;
};

}  // namespace

std::size_t element_bytes(MPI_Datatype type) {
  int bytes = 0;
  if (MPI_Type_size(type, &bytes) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  return static_cast<std::size_t>(bytes);
}

void reduce_block_at(const Communicator& comm, int root, MPI_User_function* function,
                     std::span<std::byte> block) {
  const BlockType type(block.size());
  const Operation operation(function);
  const bool is_root = comm.rank() == root;
  comm.count(is_root ? 0 : block.size());
  GROVE_MPI(MPI_Reduce(is_root ? MPI_IN_PLACE : block.data(), is_root ? block.data() : nullptr, 1, type.get(),
                       operation.get(), root, comm.get()));
}

void reduce_block(const Communicator& comm, MPI_User_function* function, std::span<std::byte> block) {
  const BlockType type(block.size());
  const Operation operation(function);
  comm.count(block.size());
  GROVE_MPI(MPI_Allreduce(MPI_IN_PLACE, block.data(), 1, type.get(), operation.get(), comm.get()));
}

}  // namespace grove
