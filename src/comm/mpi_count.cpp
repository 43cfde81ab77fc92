#include "comm/mpi_count.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace grove {

void throw_beyond_mpi(std::size_t number) {
  throw std::runtime_error(fmt::format("{} elements or bytes are too many for one call of MPI", number));
}

}  // namespace grove
