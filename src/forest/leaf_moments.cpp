#include "forest/leaf_moments.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/math/lanes.hpp"

namespace grove {
namespace {

constexpr float round_up = 1 + 1e-6F;

}  // namespace

void LeafMoments::combine(const AcceptanceRule& rule, std::int32_t nodes, const NodeLinks* links,
                          std::int32_t particles, const SourceParticle* sources, const float* softening,
                          NodeCore* core, NodeMoments* moments) {
  load(particles, sources);
  const bool needs_extent = rule.criterion == Criterion::opening_edge;
  sums_.resize(static_cast<std::size_t>(nodes));
  extents_.resize(needs_extent ? static_cast<std::size_t>(nodes) : 0);
  for (std::int32_t n = nodes - 1; n >= 0; --n) {
    const NodeLinks& link = links[n];
    MomentSum& sum = sums_[static_cast<std::size_t>(n)];
    if (link.child < 0) {
      sum = bucket_moments(sources + link.first, softening + link.first, link.count);
    } else {
      sum = sums_[static_cast<std::size_t>(link.child)];
      for (std::int32_t c = links[link.child].next; c != link.next; c = links[c].next)
        sum = sum + sums_[static_cast<std::size_t>(c)];
    }
    core[n] = node_core(sum);
    moments[n] = node_moments(sum);
    core[n].radius = radius(link, core[n].centre);
    float edge = 0, offset = 0;
    if (needs_extent) {
      const Extent box = extents_[static_cast<std::size_t>(n)] = extent(n, links);
      const Vec3f side = box.high - box.low;
      edge = std::max({side.x, side.y, side.z});
      offset = norm(core[n].centre - (box.low + box.high) * 0.5F);
    }
    rule.prepare(core[n], edge, offset, moments[n].xx + moments[n].yy + moments[n].zz);
  }
}

void LeafMoments::load(std::int32_t particles, const SourceParticle* sources) {
  const auto count = static_cast<std::size_t>(particles);
  x_.resize(count);
  y_.resize(count);
  z_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    x_[i] = sources[i].position.x;
    y_[i] = sources[i].position.y;
    z_[i] = sources[i].position.z;
  }
}

float LeafMoments::radius(const NodeLinks& links, const Vec3f& centre) const {
  const auto first = static_cast<std::size_t>(links.first),
             last = first + static_cast<std::size_t>(links.count);
  constexpr auto step = static_cast<std::size_t>(lane_count);
  float largest = 0;
  std::size_t i = first;
  if (last - first >= step) {
    Lanes lanes(0.F);
    for (; i + step <= last; i += step) {
      const Lanes x = Lanes::load(&x_[i]) - Lanes(centre.x), y = Lanes::load(&y_[i]) - Lanes(centre.y),
                  z = Lanes::load(&z_[i]) - Lanes(centre.z);
      lanes = larger(lanes, x * x + y * y + z * z);
    }
    float values[lane_count];
    lanes.store(values);
    for (const float value : values) largest = larger(largest, value);
  }
  for (; i < last; ++i) largest = larger(largest, norm2(Vec3f{x_[i], y_[i], z_[i]} - centre));
  return std::sqrt(largest) * round_up;
}

LeafMoments::Extent LeafMoments::extent(std::int32_t node, const NodeLinks* links) const {
  const NodeLinks& link = links[node];
  Extent box;
  if (link.child < 0) {
    const auto first = static_cast<std::size_t>(link.first);
    box.low = box.high = {x_[first], y_[first], z_[first]};
    for (std::size_t i = first; i < first + static_cast<std::size_t>(link.count); ++i) {
      box.low = {std::min(box.low.x, x_[i]), std::min(box.low.y, y_[i]), std::min(box.low.z, z_[i])};
      box.high = {std::max(box.high.x, x_[i]), std::max(box.high.y, y_[i]), std::max(box.high.z, z_[i])};
    }
    return box;
  }
  box = extents_[static_cast<std::size_t>(link.child)];
  for (std::int32_t c = links[link.child].next; c != link.next; c = links[c].next) {
    const Extent& other = extents_[static_cast<std::size_t>(c)];
    box.low = {std::min(box.low.x, other.low.x), std::min(box.low.y, other.low.y),
               std::min(box.low.z, other.low.z)};
    box.high = {std::max(box.high.x, other.high.x), std::max(box.high.y, other.high.y),
                std::max(box.high.z, other.high.z)};
  }
  return box;
}

}  // namespace grove
