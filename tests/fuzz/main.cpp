// The entry points of libFuzzer, for the target that GROVE_FUZZ_TARGET names.
#include <mpi.h>

#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) { return MPI_Init(argc, argv); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  grove::fuzz::GROVE_FUZZ_TARGET({data, size});
  return 0;
}
