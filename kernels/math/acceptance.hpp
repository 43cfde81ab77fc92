#pragma once

#include <algorithm>
#include <cmath>

#include "base/host_device.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/softening_shape.hpp"

/// The acceptance test, one for walks and for the selection of locally essential trees. All criteria become
///
///     d^2 > max(reach2, power * inverse_tolerance),
///
/// where reach2 and power are prepared once per node and inverse_tolerance once per target, d being the
/// distance of the node's centre of mass from the target's box:
///   opening_edge    reach = l/theta + s, l the longest side of the node's tight box, s the distance of the
///                   centre of mass from its middle
///   opening_cell    the same with the smallest cell of the octree that holds the node (Nakasato 2012); of
///                   cells above the leaves with their tight box
///   opening_radius  reach = b/theta
///   multipole       reach = b/2 + sqrt(b^2/4 + sqrt(3 G B2/Delta)), B2 the trace of the second moments,
///                   Delta a fraction of the median |a_old| (Warren and Salmon 1993, Supercomputing '93, eq.
///                   8)
///   acceleration    reach = b, and G m b^p/d^(p+2) <= Delta |a_old| (Springel 2005, MNRAS 364, 1105, eq. 18,
///                   with b in place of the edge; p = 2 for monopoles, 3 for quadrupoles, 4 for octupoles):
///                   power = (m b^p)^(2/(p+2)), inverse_tolerance = (G/(Delta |a_old|))^(2/(p+2))
///   relative_edge   G m l^2/d^4 <= Delta |a_old|, l the longest side of the node's tight box, and on some
///                   axis the target is at least 0.6 of that side from the middle of the box (Springel 2005,
///                   eq. 18; Kofler et al. 2014). Single targets (EdgeAcceptance) are tested so. For boxes of
///                   targets reach is the radius of a ball about the centre of mass that holds the widened
///                   box.
/// and reach >= b always, so that no node that holds a target stands for it; and for nodes of mixed
/// softening, and for all that have octupoles, reach >= the distance at which softening no longer matters.
namespace grove {

/// Relative margins by which the test of a whole leaf is stricter than that of its groups, and the test of
/// the LET selection stricter than that of a whole leaf. A squared distance is three differences, three
/// squares and two sums: its relative error is below 4 x 2^-24 = 2.4e-7, and the product below 1.2e-7.
inline constexpr float leaf_margin = 1e-5F;
inline constexpr float selection_margin = 2e-5F;

/// True if a node may stand for its particles, for all targets in bounds whose squared distance (of the box,
/// see TargetBounds) from its centre of mass is distance2. NaN opens.
GROVE_HOST_DEVICE inline bool accepts(float reach2, float power, float distance2, float inverse_tolerance,
                                      float margin) {
  const float needed = power * inverse_tolerance > reach2 ? power * inverse_tolerance : reach2;
  return distance2 > needed * (1 + margin);
}
GROVE_HOST_DEVICE inline bool accepts(const NodeCore& node, float distance2, float inverse_tolerance,
                                      float margin) {
  return accepts(node.reach2, node.power, distance2, inverse_tolerance, margin);
}

/// The data of a criterion that are the same for all nodes and targets, in walk units.
struct AcceptanceRule {
  Criterion criterion = Criterion::opening_radius;
  Order order = Order::quadrupole;
  float inverse_theta = 1;
  float delta = 1;               ///< `acceleration`: Delta; `multipole`: Delta times the median |a_old|
  float acceleration_floor = 0;  ///< no |a_old| counts for less
  float mixed_reach = 0;         ///< over the softening: where nodes of mixed softening may be accepted
  float least_reach = 0;         ///< of every node: with octupoles where all softening ends

  /// median_acceleration: global median of |a_old|, in units of the run; not used by the opening angles.
  static AcceptanceRule of(const GravityParameters& gravity, const WalkUnits& units,
                           double median_acceleration);

  /// Fills reach2 and power. edge: longest side of the node's box or cell; offset: distance of the centre of
  /// mass from its middle; second_moment: the trace B2.
  GROVE_HOST_DEVICE void prepare(NodeCore& node, float edge, float offset, float second_moment) const;

  /// True if nodes must come with their boxes.
  GROVE_HOST_DEVICE bool needs_boxes() const { return grove::needs_boxes(criterion); }
  /// True if prepare() takes edge and offset of nodes' tight boxes, or of their cells.
  GROVE_HOST_DEVICE bool takes_box() const { return criterion == Criterion::opening_edge || needs_boxes(); }
  GROVE_HOST_DEVICE bool takes_cell() const { return criterion == Criterion::opening_cell; }

  /// Inverse tolerance of a target whose smallest |a_old| is this, in walk units.
  GROVE_HOST_DEVICE float inverse_tolerance(float least_acceleration) const;
};

/// Size of an acceleration of the run in walk units.
inline double to_walk_acceleration(double acceleration, double gravitational_constant, const WalkUnits& u) {
  return acceleration / (gravitational_constant * u.mass / u.length / u.length);
}

/// The distance from which a node of mixed softening may act as a whole, over the largest length in it.
/// Beyond the spline's radius there is no softening. Plummer's never ends: at 8 eps the nodes' mean eps^2
/// leaves an error of fourth order, 15/8 / 8^4 = 5e-4 of the node's force.
constexpr double mixed_reach_over_softening(Spline) { return spline_radius_over_softening; }
constexpr double mixed_reach_over_softening(Plummer) { return 8; }

inline AcceptanceRule AcceptanceRule::of(const GravityParameters& gravity, const WalkUnits& units,
                                         double median_acceleration) {
  const double median = to_walk_acceleration(median_acceleration, gravity.gravitational_constant, units);
  AcceptanceRule rule;
  rule.criterion = gravity.criterion;
  rule.order = gravity.order;
  rule.inverse_theta = static_cast<float>(1 / gravity.theta);
  rule.delta =
      static_cast<float>(gravity.criterion == Criterion::multipole ? gravity.delta * median : gravity.delta);
  rule.acceleration_floor = static_cast<float>(1e-3 * median);
  rule.mixed_reach = static_cast<float>(
      with_shape(gravity.kernel, [](auto shape) { return mixed_reach_over_softening(shape); }));
  if (gravity.order == Order::octupole) {
    const double softening = *std::max_element(gravity.softening.begin(), gravity.softening.end());
    rule.least_reach = static_cast<float>(spline_radius_over_softening * softening / units.length);
  }
  return rule;
}

GROVE_HOST_DEVICE inline void AcceptanceRule::prepare(NodeCore& node, float edge, float offset,
                                                      float second_moment) const {
  constexpr float round_up = 1 + 1e-6F;
  const float b = node.radius;
  float reach = b;
  node.power = 0;
  switch (criterion) {
    case Criterion::opening_edge:
    case Criterion::opening_cell:
      reach = edge * inverse_theta + offset;
      break;
    case Criterion::opening_radius:
      reach = b * inverse_theta;
      break;
    case Criterion::multipole:
      reach = b / 2 + std::sqrt(b * b / 4 + std::sqrt(3 * second_moment / delta));
      break;
    case Criterion::acceleration:
      node.power = order == Order::octupole     ? std::cbrt(node.mass * b * b * b * b)
                   : order == Order::quadrupole ? std::pow(node.mass * b * b * b, 0.4F)
                                                : std::sqrt(node.mass) * b;
      break;
    case Criterion::relative_edge:
      node.power = std::sqrt(node.mass) * edge;
      reach = 0.6F * std::sqrt(3.F) * edge + offset;
      break;
  }
  if (b > reach) reach = b;
  if (node.softening < 0 && -node.softening * mixed_reach > reach) reach = -node.softening * mixed_reach;
  if (least_reach > reach) reach = least_reach;
  node.reach2 = reach * reach * round_up;
}

GROVE_HOST_DEVICE inline float AcceptanceRule::inverse_tolerance(float least_acceleration) const {
  if (criterion != Criterion::acceleration && criterion != Criterion::relative_edge) return 0;
  const float a = least_acceleration > acceleration_floor ? least_acceleration : acceleration_floor;
  constexpr float largest = 1e30F;  // finite, so that a node of no extent gives 0 and not NaN
  if (!(a * delta > 0)) return largest;
  const Order of_power = criterion == Criterion::acceleration ? order : Order::monopole;
  const float s = of_power == Order::octupole     ? std::cbrt(1 / (a * delta))
                  : of_power == Order::quadrupole ? std::pow(1 / (a * delta), 0.4F)
                                                  : 1 / std::sqrt(a * delta);
  return s < largest ? s : largest;
}

}  // namespace grove
