// Runs Google tests under MPI: every rank runs every test; only rank 0 reports, and a failure on any rank is
// reported by it and fails the program on all ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <string>

#include "kernels/kokkos/runtime.hpp"

namespace {

class CollectFailures : public testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    failed_ = true;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank, result.file_name(), result.line_number(),
                   result.message());
  }
  bool failed() const { return failed_; }

 private:
  bool failed_ = false;
};

/// Runs all tests; whether any failed, on any rank.
int run_all() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  auto* failures = new CollectFailures;  // owned by the listeners
  listeners.Append(failures);

  int failed = RUN_ALL_TESTS() != 0 || failures->failed();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    std::fprintf(stderr, "MPI cannot be initialised for a program with threads\n");
    return 1;
  }
  int failed = 0;
  {
    const grove::KokkosRuntime kokkos;
    failed = run_all();
  }
  MPI_Finalize();
  return failed;
}
