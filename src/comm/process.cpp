#include "comm/process.hpp"

#include <array>
#include <chrono>
#include <thread>

namespace grove {

std::string start_mpi(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return "MPI cannot be initialised";
  if (provided >= MPI_THREAD_FUNNELED) return {};
  MPI_Finalize();
  return "the MPI library does not support threads (MPI_THREAD_FUNNELED)";
}

void end_mpi() { MPI_Finalize(); }

bool mpi_has_started() {
  int has_started = 0;
  MPI_Initialized(&has_started);
  return has_started;
}

bool mpi_has_ended() {
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  return has_ended;
}

void abort_mpi(const Communicator& comm, int status) { MPI_Abort(comm.get(), status); }

bool agree_within(const Communicator& comm, std::uint64_t value, double seconds) {
  std::array<std::uint64_t, 2> least{value, ~value};
  MPI_Request request;
  comm.count(sizeof(least));
  GROVE_MPI(
      MPI_Iallreduce(MPI_IN_PLACE, least.data(), least.size(), MPI_UINT64_T, MPI_MIN, comm.get(), &request));
  int is_done = 0;
  for (const double start = MPI_Wtime(); !is_done && MPI_Wtime() - start < seconds;) {
    GROVE_MPI(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE));
    if (!is_done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return is_done && least[0] == ~least[1];
}

}  // namespace grove
