#include "comm/host.hpp"

#include <mpi.h>

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

}  // namespace grove
