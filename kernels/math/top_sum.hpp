#pragma once

#include <cmath>
#include <cstring>

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/leaf_root.hpp"
#include "kernels/math/moments.hpp"
#include "kernels/math/octupole.hpp"

namespace grove {

/// The sums of a cell of the ORB on the way up; walk units, places relative to the origin of the run.
struct TopSum {
  MomentSum sum;  ///< with octupoles one of these in place of mass_softening2: set_octupole()
  double radius;
  Vec3d low, high;  ///< tight box
};

GROVE_HOST_DEVICE inline void set_octupole(TopSum& top, const PackedOctupole& octupole) {
  static_assert(sizeof(PackedOctupole) == sizeof(double));
  std::memcpy(&top.sum.mass_softening2, &octupole, sizeof octupole);
}
GROVE_HOST_DEVICE inline PackedOctupole octupole_of(const TopSum& top) {
  PackedOctupole octupole;
  std::memcpy(&octupole, &top.sum.mass_softening2, sizeof octupole);
  return octupole;
}

GROVE_HOST_DEVICE inline TopSum top_sum_of(const LeafRoot& root, const WalkUnits& units, Order order) {
  const Vec3d place = root.origin * (1 / units.length);
  TopSum top;
  const float softening = std::abs(root.core.softening);
  top.sum.centre = place + root.core.centre.as<double>();
  top.sum.mass = root.core.mass;
  top.sum.xx = root.moments.xx, top.sum.yy = root.moments.yy, top.sum.zz = root.moments.zz;
  top.sum.xy = root.moments.xy, top.sum.xz = root.moments.xz, top.sum.yz = root.moments.yz;
  if (order == Order::octupole)
    set_octupole(top, octupole_of(root.moments));
  else
    top.sum.mass_softening2 = top.sum.mass * root.moments.softening2;
  top.sum.count = 1;
  top.sum.largest_softening = softening;
  top.sum.least_softening = root.core.softening < 0 ? -1 : softening;  // less than any: mixed stays mixed
  top.radius = root.core.radius;
  top.low = place + root.low.as<double>();
  top.high = place + root.high.as<double>();
  return top;
}

/// The radius is bounded by those of the children and by the farthest corner of the box: the particles
/// themselves are on many ranks.
GROVE_HOST_DEVICE inline TopSum operator+(const TopSum& a, const TopSum& b) {
  const auto least = [](double p, double q) { return p < q ? p : q; };
  const auto most = [](double p, double q) { return p > q ? p : q; };
  TopSum top;
  top.sum = a.sum + b.sum;
  double corner2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    top.low[axis] = least(a.low[axis], b.low[axis]);
    top.high[axis] = most(a.high[axis], b.high[axis]);
    const double c = top.sum.centre[axis];
    const double side = most(top.high[axis] - c, c - top.low[axis]);
    corner2 += side * side;
  }
  const double below =
      most(a.radius + norm(a.sum.centre - top.sum.centre), b.radius + norm(b.sum.centre - top.sum.centre));
  top.radius = least(below, std::sqrt(corner2));
  return top;
}

/// The sum of two cells with nodes of this order.
template <Order order>
GROVE_HOST_DEVICE TopSum united(const TopSum& a, const TopSum& b) {
  TopSum top = a + b;
  if constexpr (order == Order::octupole) {
    ThirdMoments third;
    for (const TopSum* const part : {&a, &b}) {
      const Vec3d place = part->sum.centre - top.sum.centre;
      third.add_moved(part->sum, place);
      third.add(part->sum.mass, place);
    }
    set_octupole(top, PackedOctupole::of(third.octupole() + octupole_of(a).unpacked<double>() +
                                         octupole_of(b).unpacked<double>()));
  }
  return top;
}
inline TopSum united(const TopSum& a, const TopSum& b, Order order) {
  return order == Order::octupole ? united<Order::octupole>(a, b) : united<Order::quadrupole>(a, b);
}

/// The moments of a cell as walks read them.
GROVE_HOST_DEVICE inline NodeMoments top_moments(const TopSum& top, Order order) {
  NodeMoments moments = node_moments(top.sum);
  if (order == Order::octupole) set_octupole(moments, octupole_of(top));
  return moments;
}

/// The tight box of a cell.
GROVE_HOST_DEVICE inline NodeBox top_box(const TopSum& top) {
  return {(top.low - top.sum.centre).as<float>(), (top.high - top.sum.centre).as<float>()};
}

GROVE_HOST_DEVICE inline Ball top_ball(const TopSum& top, double unit_length, double least) {
  return Ball::around(top.low, top.high, least, unit_length);
}

/// The core of a cell above the leaves, prepared for the criterion.
GROVE_HOST_DEVICE inline NodeCore top_core(const TopSum& top, const AcceptanceRule& rule) {
  constexpr double round_up = 1 + 1e-6;
  NodeCore core = node_core(top.sum);
  core.radius = static_cast<float>(top.radius * round_up);
  const Vec3d side = top.high - top.low, middle = (top.low + top.high) * 0.5;
  double longest = side.x > side.y ? side.x : side.y;
  if (side.z > longest) longest = side.z;
  const NodeMoments moments = node_moments(top.sum);
  rule.prepare(core, static_cast<float>(longest), static_cast<float>(norm(top.sum.centre - middle)),
               moments.xx + moments.yy + moments.zz);
  return core;
}

}  // namespace grove
