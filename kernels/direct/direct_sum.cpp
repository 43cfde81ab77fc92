#include "kernels/direct/direct_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/box.hpp"
#include "kernels/math/softening.hpp"

namespace grove {
namespace {

constexpr std::size_t block_size = 256;  // a block of sources and its results stay in the first-level cache
constexpr std::size_t lanes = 8;

using BlockArray = std::array<double, block_size>;

/// A pair's scale of softening, such that the larger of two lengths has the larger (Plummer) or the smaller
/// (spline) scale: the length, or 1/h, which is infinite without softening.
template <SofteningKernel kernel>
double scale_of(double softening) {
  return kernel == SofteningKernel::plummer ? softening : 1 / (spline_radius_over_softening * softening);
}

/// Sources as a structure of arrays, padded with massless ones to a multiple of the lanes.
struct Block {
  alignas(64) BlockArray x, y, z, mass, scale;
  alignas(64) std::array<ParticleId, block_size> id;
  std::size_t padded;
};

/// The effect of each source of a block on one target.
struct Contributions {
  alignas(64) BlockArray x, y, z, potential;
};

template <SofteningKernel kernel>
void load(const DirectSources& sources, std::size_t first, Block& block) {
  const std::size_t count = std::min(block_size, sources.count - first);
  block.padded = (count + lanes - 1) / lanes * lanes;
  for (std::size_t j = 0; j < block.padded; ++j) {
    const std::size_t source = first + std::min(j, count - 1);
    block.x[j] = sources.position[source].x;
    block.y[j] = sources.position[source].y;
    block.z[j] = sources.position[source].z;
    block.mass[j] = j < count ? sources.mass[source] : 0;
    block.scale[j] = scale_of<kernel>(sources.softening[source]);
    block.id[j] = sources.id[source];
  }
}

template <SofteningKernel kernel>
SoftenedPair<double> pair(double r2, double scale, double other_scale) {
  if constexpr (kernel == SofteningKernel::plummer) return plummer_pair(r2, std::max(scale, other_scale));
  const double r = std::sqrt(r2);
  return spline_pair(r2, r > 0 ? 1 / r : 0, std::min(scale, other_scale));
}

/// Vectorised by the compiler: no iteration depends on another.
template <SofteningKernel kernel>
void evaluate(const Block& block, const DirectTarget& target, Contributions& out) {
  const double scale = scale_of<kernel>(target.softening);
  for (std::size_t j = 0; j < block.padded; ++j) {
    const Vec3d d = Box::nearest(Vec3d{block.x[j] - target.position.x, block.y[j] - target.position.y,
                                       block.z[j] - target.position.z});
    const auto [potential, force] = pair<kernel>(norm2(d), block.scale[j], scale);
    const bool self = block.id[j] == target.id;
    const double f = self ? 0 : block.mass[j] * force;
    out.x[j] = f * d.x;
    out.y[j] = f * d.y;
    out.z[j] = f * d.z;
    out.potential[j] = self ? 0 : -block.mass[j] * potential;
  }
}

/// Sums eight interleaved series, then these pairwise.
double sum(const BlockArray& values, std::size_t count) {
  using Vector [[gnu::vector_size(sizeof(double) * lanes)]] = double;
  Vector s{};
  for (std::size_t j = 0; j < count; j += lanes) {
    Vector v;
    std::memcpy(&v, &values[j], sizeof v);
    s += v;
  }
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

template <SofteningKernel kernel>
void add_all(const DirectSources& sources, std::span<const DirectTarget> targets,
             std::span<DirectForce> forces) {
  Block block;
  Contributions c;
  for (std::size_t first = 0; first < sources.count; first += block_size) {
    load<kernel>(sources, first, block);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      evaluate<kernel>(block, targets[i], c);
      forces[i].acceleration += {sum(c.x, block.padded), sum(c.y, block.padded), sum(c.z, block.padded)};
      forces[i].potential += sum(c.potential, block.padded);
    }
  }
}

}  // namespace

void direct_sum(SofteningKernel kernel, const DirectSources& sources, std::span<const DirectTarget> targets,
                std::span<DirectForce> forces) {
  if (kernel == SofteningKernel::plummer)
    add_all<SofteningKernel::plummer>(sources, targets, forces);
  else
    add_all<SofteningKernel::spline>(sources, targets, forces);
}

}  // namespace grove
