#include "comm/tell_some.hpp"

namespace grove {

/// A message is known to have been received when its synchronous send is done. A rank whose sends are done
/// enters the barrier, or the reduction; when all have, nothing is under way any more.
void tell_some(const Communicator& comm, std::span<const int> ranks, const void* values, std::size_t size,
               std::span<Count> maxima, const std::function<void(int rank, const std::byte* value)>& take) {
  if (comm.size() == 1) return;
  // The first rank to leave the barrier may tell others the next thing while they still listen for this one.
  const int tag = static_cast<int>(comm.alternates() ? Tag::told : Tag::told_next);
  const int bytes = static_cast<int>(size);
  std::vector<MPI_Request> sends(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    count_message(size);
    GROVE_MPI(MPI_Issend(static_cast<const std::byte*>(values) + i * size, bytes, MPI_BYTE, ranks[i], tag,
                         comm.get(), &sends[i]));
  }
  std::vector<std::byte> value(size);
  MPI_Request barrier = MPI_REQUEST_NULL;
  for (int is_over = 0; !is_over;) {
    MPI_Status status;
    int is_there = 0, are_received = 0;
    GROVE_MPI(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.get(), &is_there, &status));
    if (is_there) {
      GROVE_MPI(
          MPI_Recv(value.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag, comm.get(), MPI_STATUS_IGNORE));
      take(status.MPI_SOURCE, value.data());
    } else if (barrier != MPI_REQUEST_NULL) {
      GROVE_MPI(MPI_Testall(1, &barrier, &is_over, MPI_STATUSES_IGNORE));
    } else {
      GROVE_MPI(
          MPI_Testall(static_cast<int>(sends.size()), sends.data(), &are_received, MPI_STATUSES_IGNORE));
      if (!are_received) continue;
      comm.count(maxima.size_bytes());
      if (maxima.empty())
        GROVE_MPI(MPI_Ibarrier(comm.get(), &barrier));
      else
        GROVE_MPI(MPI_Iallreduce(MPI_IN_PLACE, maxima.data(), static_cast<int>(maxima.size()),
                                 mpi_type<Count>(), MPI_MAX, comm.get(), &barrier));
    }
  }
}

}  // namespace grove
