#pragma once

#include "base/host_device.hpp"
#include "base/vec3.hpp"
#include "kernels/math/acceptance.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/node.hpp"
#include "kernels/math/opening.hpp"
#include "kernels/math/softening_table.hpp"

/// Gravity on a single target as the visitor of a walk (rope_walk.hpp): acceptance and expansion are policies
/// of their own.
namespace grove {

/// The criteria of acceptance.hpp, at the target's own place and tolerance.
class TargetAcceptance {
 public:
  static constexpr bool needs_box = false;
  GROVE_HOST_DEVICE explicit TargetAcceptance(float inverse_tolerance)
      : inverse_tolerance_(inverse_tolerance) {}

  template <class Core>
  GROVE_HOST_DEVICE bool accepts(const Core& core, const Vec3f& d) const {
    return grove::accepts(core.reach2, core.power, norm2(d), inverse_tolerance_, 0);
  }

 private:
  float inverse_tolerance_;
};

/// The criterion relative_edge.
class EdgeAcceptance {
 public:
  static constexpr bool needs_box = true;
  GROVE_HOST_DEVICE explicit EdgeAcceptance(float inverse_tolerance)
      : inverse_tolerance_(inverse_tolerance) {}

  /// Nodes of mixed softening stand for their particles beyond the ball about their box only.
  template <class Core>
  GROVE_HOST_DEVICE bool accepts(const Core& core, const Vec3f& d, const NodeBox& box) const {
    const float distance2 = norm2(d);
    if (!(distance2 > core.power * inverse_tolerance_)) return false;
    return distance2 > core.reach2 || (softening_of(core) >= 0 && box.is_far_from(d));
  }

 private:
  float inverse_tolerance_;
};

/// Nodes to this order, and particles, of this softening.
template <Order order, class Shape>
class TargetExpansion {
 public:
  /// softening: of the target.
  GROVE_HOST_DEVICE explicit TargetExpansion(float softening)
      : scale_(scale_of(Shape{}, larger(softening, least_softening))) {}

  template <class Core>
  GROVE_HOST_DEVICE void node(const Core& core, const NodeMoments& moments, const Vec3f& d) {
    if constexpr (order == Order::octupole) {
      const PackedOctupole octupole = octupole_of(moments);
      add_octupole(d, CellSource::of(core.centre, core.mass, moments, 0, 0), octupole.numbers(),
                   octupole.unit(), sum);
    } else {
      const float softening = larger(std::abs(softening_of(core)), least_softening);
      const float scale = pair_scale(Shape{}, scale_, scale_of_node(Shape{}, core, moments, softening));
      if (is_near(Shape{}, d, scale))
        add_node(Shape{}, d, core, moments, scale);
      else
        add_node(Newton{}, d, core, moments, scale);
    }
  }

  GROVE_HOST_DEVICE void particle(float mass, float softening, const Vec3f& d) {
    const float scale = scale_of(Shape{}, larger(softening, least_softening));
    add_particle(Shape{}, d, mass, pair_scale(Shape{}, scale_, scale), sum);
  }

  Accumulator<float> sum{{0, 0, 0}, 0};

 private:
  /// Plummer softening has no end.
  GROVE_HOST_DEVICE static bool is_near(Plummer, const Vec3f&, float) { return true; }
  GROVE_HOST_DEVICE static bool is_near(Spline, const Vec3f& d, float scale) { return !(norm2(d) > scale); }

  /// Only where softening differs inside of a node are its moments read for that.
  template <class Core>
  GROVE_HOST_DEVICE static float scale_of_node(Plummer, const Core& core, const NodeMoments& moments,
                                               float softening) {
    constexpr float least = least_softening * least_softening;
    return softening_of(core) < 0 ? larger(moments.softening2, least) : scale_of(Plummer{}, softening);
  }
  template <class Core>
  GROVE_HOST_DEVICE static float scale_of_node(Spline, const Core&, const NodeMoments&, float softening) {
    return scale_of(Spline{}, softening);
  }

  template <class Softening, class Core>
  GROVE_HOST_DEVICE void add_node(Softening softening, const Vec3f& d, const Core& core,
                                  const NodeMoments& moments, float scale) {
    if constexpr (order == Order::quadrupole)
      // The sums take no softening from the source.
      add_quadrupole(softening, d, CellSource::of(core.centre, core.mass, moments, 0, 0), scale, sum);
    else
      add_particle(softening, d, core.mass, scale, sum);
  }

  float scale_;
};

/// Both as one visitor.
template <class Acceptance, class Expansion>
struct TargetVisitor : Acceptance, Expansion {
  GROVE_HOST_DEVICE TargetVisitor(const Acceptance& acceptance, const Expansion& expansion)
      : Acceptance(acceptance), Expansion(expansion) {}
};

}  // namespace grove
