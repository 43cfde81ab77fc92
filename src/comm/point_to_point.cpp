#include "comm/point_to_point.hpp"

#include "comm/mpi_count.hpp"

namespace grove {

void send_message(const Communicator& comm, int to, Tag tag, std::span<const std::byte> message) {
  const int bytes = mpi_count(message.size());
  count_message(message.size());
  GROVE_MPI(MPI_Send(message.data(), bytes, MPI_BYTE, to, static_cast<int>(tag), comm.get()));
}

Array<std::byte> receive_message(const Communicator& comm, int from, Tag tag) {
  MPI_Status status;
  int size = 0;
  GROVE_MPI(MPI_Probe(from, static_cast<int>(tag), comm.get(), &status));
  GROVE_MPI(MPI_Get_count(&status, MPI_BYTE, &size));
  Array<std::byte> message(static_cast<std::size_t>(size));
  GROVE_MPI(
      MPI_Recv(message.data(), size, MPI_BYTE, from, static_cast<int>(tag), comm.get(), MPI_STATUS_IGNORE));
  return message;
}

void exchange_messages(const Communicator& comm, Tag tag, int to, const void* send, int from, void* receive,
                       std::size_t bytes) {
  const int size = mpi_count(bytes);
  count_message(bytes);
  GROVE_MPI(MPI_Sendrecv(send, size, MPI_BYTE, to, static_cast<int>(tag), receive, size, MPI_BYTE, from,
                         static_cast<int>(tag), comm.get(), MPI_STATUS_IGNORE));
}

}  // namespace grove
