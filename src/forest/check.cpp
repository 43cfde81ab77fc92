#include "forest/check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/math/cut_rule.hpp"
#include "kernels/math/octupole.hpp"

namespace grove {
namespace {

std::string at_node(std::int32_t node, const std::string& what) {
  return "node " + std::to_string(node) + ": " + what;
}

std::string check_children(const SourceTree& tree, std::int32_t n, std::int32_t& met) {
  const NodeLinks& parent = tree.links[n];
  if (parent.child <= n || parent.child >= tree.nodes) return at_node(n, "child is not behind its parent");
  std::int32_t particle = parent.first, expected = parent.child;
  for (std::int32_t c = parent.child; c != parent.next; c = tree.links[c].next, ++expected, ++met) {
    if (c != expected) return at_node(c, "siblings are not adjacent");
    if (c >= tree.nodes) return at_node(n, "children leave the tree");
    if (tree.links[c].first != particle) return at_node(c, "particles do not follow its sibling's");
    particle += tree.links[c].count;
  }
  if (particle != parent.first + parent.count) return at_node(n, "children do not make up the node");
  return {};
}

/// Sums over the particles of a node, in double precision.
struct Truth {
  double mass = 0, mass_softening2 = 0, radius = 0;
  Vec3d centre{0, 0, 0};
  double second[6] = {};
  ThirdMoments third;
  float least = 0, largest = 0;
};

Truth truth_of(const SourceTree& tree, std::int32_t n, const GravityParameters& gravity,
               const WalkUnits& units) {
  const NodeLinks& link = tree.links[n];
  Truth t;
  Vec3d plain{0, 0, 0};
  for (std::int32_t i = link.first; i < link.first + link.count; ++i) {
    const SourceParticle& p = tree.particles[i];
    const auto eps = static_cast<float>(gravity.softening[tree.types[i]] / units.length);
    t.least = i == link.first ? eps : std::min(t.least, eps);
    t.largest = i == link.first ? eps : std::max(t.largest, eps);
    t.mass += p.mass;
    t.mass_softening2 += double{p.mass} * eps * eps;
    t.centre += p.position.as<double>() * double{p.mass};
    plain += p.position.as<double>();
  }
  t.centre = t.mass > 0 ? t.centre * (1 / t.mass) : plain * (1.0 / link.count);
  for (std::int32_t i = link.first; i < link.first + link.count; ++i) {
    const double m = tree.particles[i].mass;
    const Vec3d d = tree.particles[i].position.as<double>() - t.centre;
    const double terms[] = {d.x * d.x, d.y * d.y, d.z * d.z, d.x * d.y, d.x * d.z, d.y * d.z};
    for (int k = 0; k < 6; ++k) t.second[k] += m * terms[k];
    t.third.add(m, d);
    t.radius =
        std::max(t.radius, norm(tree.particles[i].position.as<double>() - tree.core[n].centre.as<double>()));
  }
  return t;
}

/// Packing may be off by 1/127 of the largest component, and sums in single precision by 2^-20 of their
/// terms.
bool has_octupole(const NodeMoments& m, const Truth& t) {
  const auto found = octupole_of(m).unpacked<double>(), truth = t.third.octupole();
  const double o[] = {found.xxx, found.xxy, found.xyy, found.yyy, found.xxz, found.xyz, found.yyz};
  const double expected[] = {truth.xxx, truth.xxy, truth.xyy, truth.yyy, truth.xxz, truth.xyz, truth.yyz};
  double largest = 0, worst = 0;
  for (int k = 0; k < 7; ++k) {
    largest = std::max(largest, std::abs(expected[k]));
    worst = std::max(worst, std::abs(o[k] - expected[k]));
  }
  return worst <= largest / 127 + 0x1p-20 * t.mass * t.radius * t.radius * t.radius;
}

std::string check_node(const SourceTree& tree, std::int32_t n, const Truth& t, Order order,
                       bool exact_radius) {
  // Values are rounded to float once after sums in double: half a unit in the last place, 6e-8; sums of
  // children rather than particles differ by far less. Twice that, to be safe.
  constexpr double rounding = 1.2e-7;
  // Terms of a centre may cancel: what double precision leaves of places below 2^25 is some 2^-28.
  constexpr double cancellation = 1e-8;
  const NodeCore& core = tree.core[n];
  const NodeMoments& m = tree.moments[n];
  if (std::abs(core.mass - t.mass) > rounding * t.mass) return at_node(n, "mass");
  for (int axis = 0; axis < 3; ++axis)
    if (std::abs(core.centre[axis] - t.centre[axis]) > rounding * std::abs(t.centre[axis]) + cancellation)
      return at_node(n, "centre of mass");
  // Cancellation in m d d^T is bounded by the trace, and d by that of the centre.
  const double moments[] = {m.xx, m.yy, m.zz, m.xy, m.xz, m.yz},
               trace = t.second[0] + t.second[1] + t.second[2];
  for (int k = 0; k < 6; ++k)
    if (std::abs(moments[k] - t.second[k]) > rounding * trace + t.mass * cancellation * cancellation)
      return at_node(n, "second moments");
  if (core.radius < t.radius) return at_node(n, "a particle is outside the radius");
  if (exact_radius && core.radius > t.radius * (1 + 2e-6)) return at_node(n, "radius is not exact");
  const float softening = t.least == t.largest ? t.largest : -t.largest;
  if (core.softening != softening) return at_node(n, "softening");
  if (core.reach2 < core.radius * core.radius) return at_node(n, "may be accepted from inside");
  if (order == Order::octupole) return has_octupole(m, t) ? "" : at_node(n, "octupole");
  const double softening2 = t.mass > 0 ? t.mass_softening2 / t.mass : double{t.largest} * t.largest;
  if (std::abs(m.softening2 - softening2) > rounding * softening2)
    return at_node(n, "mean squared softening");
  if (t.least == t.largest && m.softening2 != static_cast<float>(t.largest) * static_cast<float>(t.largest))
    return at_node(n, "squared softening that all share");
  return {};
}

}  // namespace

std::string check_shape(const SourceTree& tree, std::int32_t particles, std::int32_t bucket) {
  if (tree.nodes < 1) return "no root";
  if (tree.links[0].first != 0 || tree.links[0].count != particles)
    return at_node(0, "root does not hold all");
  if (tree.links[0].next != -1) return at_node(0, "root has a sibling");
  std::int32_t met = 1;
  for (std::int32_t n = 0; n < tree.nodes; ++n) {
    const NodeLinks& link = tree.links[n];
    if (link.count < 1) return at_node(n, "empty");
    if (link.is_bucket()) {
      if (link.count > bucket) return at_node(n, "bucket too large");
      continue;
    }
    if (const std::string wrong = check_children(tree, n, met); !wrong.empty()) return wrong;
  }
  if (met != tree.nodes) return "nodes that have no parent";
  return {};
}

std::string check_moments(const SourceTree& tree, const GravityParameters& gravity, const WalkUnits& units,
                          bool exact_radius) {
  for (std::int32_t n = 0; n < tree.nodes; ++n)
    if (std::string wrong =
            check_node(tree, n, truth_of(tree, n, gravity, units), gravity.order, exact_radius);
        !wrong.empty())
      return wrong;
  return {};
}

std::string check_groups(const TargetLeaf& target, const SourceTree& tree, std::int32_t particles) {
  Vec3f leaf_low = target.particles[0].position, leaf_high = leaf_low;
  std::int32_t next = 0;
  for (std::int32_t g = 0; g < target.group_count; ++g) {
    const Group& group = target.groups[g];
    if (group.first != next || group.count < 1 || group.count > group_size)
      return "group " + std::to_string(g) + ": no run of particles behind those of the group before";
    next += group.count;
    Vec3f low = target.particles[group.first].position, high = low;
    for (std::int32_t i = group.first; i < next; ++i)
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], target.particles[i].position[axis]);
        high[axis] = std::max(high[axis], target.particles[i].position[axis]);
      }
    if (group.bounds.low != low || group.bounds.high != high)
      return "group " + std::to_string(g) + ": box not tight";
    if (group.bounds.inverse_tolerance > target.bounds.inverse_tolerance)
      return "leaf is more tolerant than a group";
    for (int axis = 0; axis < 3; ++axis) {
      leaf_low[axis] = std::min(leaf_low[axis], low[axis]);
      leaf_high[axis] = std::max(leaf_high[axis], high[axis]);
    }
  }
  if (next != particles) return "groups do not hold all particles";
  if (target.bounds.low != leaf_low || target.bounds.high != leaf_high) return "box of the leaf not tight";
  std::vector<std::int32_t> group_of;  // by particle
  for (std::int32_t g = 0; g < target.group_count; ++g)
    group_of.insert(group_of.end(), static_cast<std::size_t>(target.groups[g].count), g);
  const auto of = [&](std::int32_t particle) { return group_of[static_cast<std::size_t>(particle)]; };
  for (std::int32_t n = 0; n < tree.nodes; ++n) {
    const NodeLinks& link = tree.links[n];
    if (link.is_bucket() && of(link.first) != of(link.first + link.count - 1))
      return at_node(n, "bucket reaches over two groups");
  }
  return {};
}

}  // namespace grove
