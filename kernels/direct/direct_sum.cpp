#include "kernels/direct/direct_sum.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/math/direct_pair.hpp"
#include "kernels/math/softening_shape.hpp"

namespace grove {
namespace {

constexpr std::size_t block_size = 256;  // a block of sources and its results stay in the first-level cache
constexpr std::size_t lanes = 8;

using BlockArray = std::array<double, block_size>;

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

template <class Shape>
void load(const DirectSources& sources, std::size_t first, Block& block) {
  const std::size_t count = std::min(block_size, sources.count - first);
  block.padded = (count + lanes - 1) / lanes * lanes;
  for (std::size_t j = 0; j < block.padded; ++j) {
    const std::size_t source = first + std::min(j, count - 1);
    block.x[j] = sources.position[source].x;
    block.y[j] = sources.position[source].y;
    block.z[j] = sources.position[source].z;
    block.mass[j] = j < count ? sources.mass[source] : 0;
    block.scale[j] = direct_scale(Shape{}, sources.softening[source]);
    block.id[j] = sources.id[source];
  }
}

/// Vectorised by the compiler: no iteration depends on another. place: of the target, or, for an image of the
/// sources, shifted the other way.
template <class Shape, bool is_image>
void evaluate(const Block& block, const DirectTarget& target, const Vec3d& place, Contributions& out) {
  const double scale = direct_scale(Shape{}, target.softening);
  for (std::size_t j = 0; j < block.padded; ++j) {
    const Vec3d d{block.x[j] - place.x, block.y[j] - place.y, block.z[j] - place.z};
    const auto [potential, force] = direct_pair(Shape{}, norm2(d), block.scale[j], scale);
    const bool self = is_image ? false : block.id[j] == target.id;
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

template <class Shape>
void add_all(const DirectSources& sources, const Images& images, std::span<const DirectTarget> targets,
             std::span<DirectForce> forces) {
  Block block;
  Contributions c;
  for (std::size_t first = 0; first < sources.count; first += block_size) {
    load<Shape>(sources, first, block);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      for (int n = 0; n < images.count(); ++n) {
        const auto of_image = n > 0 ? evaluate<Shape, true> : evaluate<Shape, false>;
        of_image(block, targets[i], targets[i].position - images.shift(n), c);
        forces[i].acceleration += {sum(c.x, block.padded), sum(c.y, block.padded), sum(c.z, block.padded)};
        forces[i].potential += sum(c.potential, block.padded);
      }
    }
  }
}

}  // namespace

void direct_sum(SofteningKernel kernel, const DirectSources& sources, std::span<const DirectTarget> targets,
                std::span<DirectForce> forces, const Images& images) {
  with_shape(kernel, [&](auto shape) { add_all<decltype(shape)>(sources, images, targets, forces); });
}

}  // namespace grove
