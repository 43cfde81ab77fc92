#include "decomposition/root_cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/errors.hpp"

namespace grove {

Box root_cube(const Communicator& comm, const Particles& particles, const std::optional<Box>& previous) {
  constexpr double huge = std::numeric_limits<double>::max();
  Vec3d low{huge, huge, huge}, high{-huge, -huge, -huge};
  comm.together([&] {
    double finite = 0;
    for (const Vec3d& p : particles.position) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
      finite += 0 * (p.x + p.y + p.z);
    }
    if (finite == 0) return;
    for (std::size_t i = 0; i < particles.size(); ++i)
      for (int axis = 0; axis < 3; ++axis)
        if (!std::isfinite(particles.position[i][axis]))
          throw InputError(
              fmt::format("particle id {} has a position that is not a finite number", particles.id[i]));
  });
  comm.min(std::span<double>(&low.x, 3));
  comm.max(std::span<double>(&high.x, 3));
  if (previous && previous->contains(low) && previous->contains(high)) return *previous;
  Box box;
  comm.together([&] { box = Box::around(low, high); });
  return box;
}

CutScheme scheme_of(const DecompositionParameters& parameters, Cell& root) {
  const Count count = root.count;
  if (count == 0) throw InputError("there are no particles to decompose");
  if (parameters.leaves > count)
    throw InputError(
        fmt::format("{} leaves were asked for, but there are only {} particles", parameters.leaves, count));
  Count size = parameters.leaf_size;
  if (size == 0) size = parameters.leaves > 0 ? quanta(count, parameters.leaves) : default_leaf_size(count);
  const bool exact = parameters.rule == CutRule::halves && parameters.leaf_size == 0 && parameters.leaves > 0;
  const Count leaves = exact ? parameters.leaves : quanta(count, size);
  if (leaves > std::numeric_limits<std::int32_t>::max() / 2)
    throw InputError(fmt::format("{} leaves are too many: choose larger leaves", leaves));
  root.leaves = static_cast<std::int32_t>(leaves);
  return {parameters.rule, size};
}

Count weigh(const Communicator& comm, Particles& particles, bool& weighted) {
  const Count work = std::accumulate(particles.work.begin(), particles.work.end(), Count{0});
  weighted = comm.max(work) > 0;
  if (!weighted) return comm.sum(static_cast<Count>(particles.size()));
  for (std::uint32_t& w : particles.work) w = std::max(w, std::uint32_t{1});
  return comm.sum(std::accumulate(particles.work.begin(), particles.work.end(), Count{0}));
}

Count default_leaf_size(Count particles) {
  constexpr Count most = 4096, least = 64, multiple = 32;
  return std::clamp((particles / 64 + multiple / 2) / multiple * multiple, least, most);
}

}  // namespace grove
