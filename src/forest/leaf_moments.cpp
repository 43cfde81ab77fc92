#include "forest/leaf_moments.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/math/lanes.hpp"

namespace grove {
namespace {

constexpr float round_up = 1 + 1e-6F;

}  // namespace

// One pass over the nodes for each step: none of them waits for what the one before does to its node.
void LeafMoments::combine(const AcceptanceRule& rule, std::int32_t nodes, const NodeLinks* links,
                          std::int32_t particles, const SourceParticle* sources, const float* softening,
                          const Cells& cells, NodeCore* core, NodeMoments* moments, NodeBox* boxes) {
  load(particles, sources);
  sums_.resize(static_cast<std::size_t>(nodes));
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
  }
  if (rule.order == Order::octupole) find_octupoles(nodes, links, sources, moments);
  for (std::int32_t n = 0; n < nodes; ++n) core[n].radius = radius(links[n], core[n].centre);
  if (rule.takes_box()) return prepare_with_boxes(rule, nodes, links, core, moments, boxes);
  if (rule.takes_cell()) {
    if (cells.is_new) find_levels(nodes, links, sources, cells);
    return prepare_with_cells(rule, nodes, cells, core, moments);
  }
  for (std::int32_t n = 0; n < nodes; ++n) rule.prepare(core[n], 0, 0, trace(moments[n]));
}

/// Like the other moments: of buckets from particles, then from those of children.
void LeafMoments::find_octupoles(std::int32_t nodes, const NodeLinks* links, const SourceParticle* sources,
                                 NodeMoments* moments) {
  octupoles_.resize(static_cast<std::size_t>(nodes));
  for (std::int32_t n = nodes - 1; n >= 0; --n) {
    const NodeLinks& link = links[n];
    const Vec3d centre = sums_[static_cast<std::size_t>(n)].centre;
    ThirdMoments third;
    Octupole<double> below{};
    if (link.child < 0) {
      for (std::int32_t i = link.first; i < link.first + link.count; ++i)
        third.add(sources[i].mass, sources[i].position.as<double>() - centre);
    } else {
      for (std::int32_t c = link.child; c != link.next; c = links[c].next) {
        const auto child = static_cast<std::size_t>(c);
        const Vec3d place = sums_[child].centre - centre;
        third.add_moved(sums_[child], place);
        third.add(sums_[child].mass, place);
        below = below + octupoles_[child];
      }
    }
    octupoles_[static_cast<std::size_t>(n)] = third.octupole() + below;
    set_octupole(moments[n], PackedOctupole::of(octupoles_[static_cast<std::size_t>(n)]));
  }
}

void LeafMoments::prepare_with_boxes(const AcceptanceRule& rule, std::int32_t nodes, const NodeLinks* links,
                                     NodeCore* core, const NodeMoments* moments, NodeBox* boxes) {
  extents_.resize(static_cast<std::size_t>(nodes));
  for (std::int32_t n = nodes - 1; n >= 0; --n) {
    const Extent box = extents_[static_cast<std::size_t>(n)] = extent(n, links);
    const Vec3f side = box.high - box.low;
    rule.prepare(core[n], std::max({side.x, side.y, side.z}),
                 norm(core[n].centre - (box.low + box.high) * 0.5F), trace(moments[n]));
    if (rule.needs_boxes()) boxes[n] = {box.low - core[n].centre, box.high - core[n].centre};
  }
}

void LeafMoments::prepare_with_cells(const AcceptanceRule& rule, std::int32_t nodes, const Cells& cells,
                                     NodeCore* core, const NodeMoments* moments) {
  for (std::int32_t n = 0; n < nodes; ++n) {
    const auto [edge, offset] = edge_and_offset(cells.levels[n], cells.frame, core[n].centre);
    rule.prepare(core[n], edge, offset, trace(moments[n]));
  }
}

void LeafMoments::find_levels(std::int32_t nodes, const NodeLinks* links, const SourceParticle* sources,
                              const Cells& cells) {
  cells_.resize(static_cast<std::size_t>(nodes));
  for (std::int32_t n = nodes - 1; n >= 0; --n) {
    const NodeLinks& link = links[n];
    SmallestCell& cell = cells_[static_cast<std::size_t>(n)];
    if (link.child < 0) {
      cell = SmallestCell::of(cells.frame, sources[link.first].position);
      for (std::int32_t i = link.first + 1; i < link.first + link.count; ++i)
        cell.add(SmallestCell::of(cells.frame, sources[i].position));
    } else {
      cell = cells_[static_cast<std::size_t>(link.child)];
      for (std::int32_t c = links[link.child].next; c != link.next; c = links[c].next)
        cell.add(cells_[static_cast<std::size_t>(c)]);
    }
    cells.levels[n] = cell.level();
  }
}

void LeafMoments::load(std::int32_t particles, const SourceParticle* sources) {
  const auto count = static_cast<std::size_t>(particles);
  for (Array<float>* axis : {&x_, &y_, &z_}) {
    axis->resize(count + lane_count - 1);
    std::fill(axis->begin() + static_cast<std::ptrdiff_t>(count), axis->end(), 0.F);
  }
  for (std::size_t i = 0; i < count; ++i) {
    x_[i] = sources[i].position.x;
    y_[i] = sources[i].position.y;
    z_[i] = sources[i].position.z;
  }
}

float LeafMoments::radius(const NodeLinks& links, const Vec3f& centre) const {
  const auto first = static_cast<std::size_t>(links.first), count = static_cast<std::size_t>(links.count);
  const auto distance2 = [&](std::size_t i) {
    const Lanes x = Lanes::load(&x_[i]) - Lanes(centre.x), y = Lanes::load(&y_[i]) - Lanes(centre.y),
                z = Lanes::load(&z_[i]) - Lanes(centre.z);
    return x * x + y * y + z * z;
  };
  constexpr auto step = static_cast<std::size_t>(lane_count);
  Lanes largest;
  if (count < step) {
    largest = lanes_before(static_cast<int>(count), distance2(first));
  } else {
    largest = distance2(first + count - step);  // what whole registers from the first on leave over
    for (std::size_t i = 0; i + step < count; i += step) largest = larger(largest, distance2(first + i));
  }
  return std::sqrt(largest_lane(largest)) * round_up;
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
