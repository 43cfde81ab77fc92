#include "comm/host.hpp"

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <array>

#include "comm/mpi_check.hpp"

namespace grove {

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  GROVE_MPI(MPI_Get_processor_name(name.data(), &length));
  return name.data();
}

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  GROVE_MPI(MPI_Get_library_version(text.data(), &length));
  const std::string whole(text.data());
  return whole.substr(0, whole.find_first_of(",\n"));
}

bool mpi_claims_device_memory() {
#ifdef OMPI_HAVE_MPI_EXT_CUDA
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

}  // namespace grove
