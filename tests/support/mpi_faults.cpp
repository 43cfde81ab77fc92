// Loaded before MPI (LD_PRELOAD): on rank 1 the n-th call of one of MPI's functions, or of fsync, throws,
// exits or hangs.
//
//   GROVE_TEST_FAULT="MPI_Isend 1 throw"
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "support/faults.hpp"

namespace {

struct Fault {
  std::string call, kind;
  int left = 0;

  Fault() {
    const char* const text = std::getenv("GROVE_TEST_FAULT");
    std::istringstream(text ? text : "") >> call >> left >> kind;
  }
};

Fault& wanted() {
  static Fault fault;
  return fault;
}

void reach(const char* call) {
  Fault& fault = wanted();
  if (fault.call != call) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && --fault.left == 0) grove::test::fault(fault.kind);
}

}  // namespace

// Names of parameters are left out where they are only passed on.
#define GROVE_FAULTY(name, parameters, arguments) \
  extern "C" int name parameters {                \
    reach(#name);                                 \
    return P##name arguments;                     \
  }

// A wait for a message is reached for sure where no look has found one before.
extern "C" int MPI_Improbe(int from, int tag, MPI_Comm c, int* there, MPI_Message* m, MPI_Status* s) {
  reach("MPI_Improbe");
  if (wanted().call == "MPI_Mprobe") return *there = 0, MPI_SUCCESS;
  return PMPI_Improbe(from, tag, c, there, m, s);
}

GROVE_FAULTY(MPI_Barrier, (MPI_Comm c), (c))
GROVE_FAULTY(MPI_Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
             (b, n, t, to, tag, c))
GROVE_FAULTY(MPI_Probe, (int from, int tag, MPI_Comm c, MPI_Status* s), (from, tag, c, s))
GROVE_FAULTY(MPI_Isend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
             (b, n, t, to, tag, c, r))
GROVE_FAULTY(MPI_Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r),
             (b, n, t, from, tag, c, r))
GROVE_FAULTY(MPI_Mprobe, (int from, int tag, MPI_Comm c, MPI_Message* m, MPI_Status* s), (from, tag, c, m, s))
GROVE_FAULTY(MPI_Testall, (int n, MPI_Request* r, int* done, MPI_Status* s), (n, r, done, s))
GROVE_FAULTY(MPI_Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))
GROVE_FAULTY(MPI_Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
GROVE_FAULTY(MPI_Allreduce, (const void* b, void* to, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
             (b, to, n, t, o, c))
GROVE_FAULTY(MPI_Reduce, (const void* b, void* to, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
             (b, to, n, t, o, root, c))
GROVE_FAULTY(MPI_Gather,
             (const void* b, int n, MPI_Datatype t, void* to, int m, MPI_Datatype u, int root, MPI_Comm c),
             (b, n, t, to, m, u, root, c))
GROVE_FAULTY(MPI_Gatherv,
             (const void* b, int n, MPI_Datatype t, void* to, const int* m, const int* at, MPI_Datatype u,
              int root, MPI_Comm c),
             (b, n, t, to, m, at, u, root, c))
GROVE_FAULTY(MPI_Allgather,
             (const void* b, int n, MPI_Datatype t, void* to, int m, MPI_Datatype u, MPI_Comm c),
             (b, n, t, to, m, u, c))
GROVE_FAULTY(MPI_Allgatherv,
             (const void* b, int n, MPI_Datatype t, void* to, const int* m, const int* at, MPI_Datatype u,
              MPI_Comm c),
             (b, n, t, to, m, at, u, c))
GROVE_FAULTY(MPI_Iprobe, (int from, int tag, MPI_Comm c, int* there, MPI_Status* s), (from, tag, c, there, s))
GROVE_FAULTY(MPI_Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))

/// Files are flushed while checkpoints and snapshots are written.
extern "C" int fsync(int file) {
  reach("fsync");
  return static_cast<int>(syscall(SYS_fsync, file));
}
