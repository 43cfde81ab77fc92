#include "gravity/suggested_softening.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "comm/radix_select.hpp"

namespace grove {

double suggested_softening(const Communicator& comm, const Particles& particles) {
  const std::size_t own = particles.size();
  std::vector<float> values(own);
  Vec3d centre;
  for (int axis = 0; axis < 3; ++axis) {
    double least = std::numeric_limits<double>::max();
    for (const Vec3d& p : particles.position) least = std::min(least, p[axis]);
    least = comm.min(least);
    for (std::size_t i = 0; i < own; ++i) values[i] = static_cast<float>(particles.position[i][axis] - least);
    centre[axis] = least + static_cast<double>(median(comm, values));
  }
  for (std::size_t i = 0; i < own; ++i) values[i] = static_cast<float>(norm(particles.position[i] - centre));
  const double radius = static_cast<double>(median(comm, values));
  const Count all = comm.sum(static_cast<Count>(own));
  return all > 1 ? 0.5 * radius / std::cbrt(static_cast<double>(all)) : 0;
}

}  // namespace grove
