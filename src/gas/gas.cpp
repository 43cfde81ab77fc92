#include "gas/gas.hpp"

#include <fmt/format.h>

namespace grove {

std::string fault_of_neighbours(ParticleId id, const Images& images, SmoothingKernel kernel) {
  return fmt::format(
      "gas: particle {} has too few neighbours in {} of space: its kernel needs the mass of {} of its own "
      "kind",
      id, images.are_open() ? "all" : "the periodic box", neighbours_of(kernel));
}

}  // namespace grove
