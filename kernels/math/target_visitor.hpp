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
    constexpr float least2 = least_softening * least_softening;
    const float softening = larger(std::abs(softening_of(core)), least_softening);
    const CellSource source =
        CellSource::of(core.centre, core.mass, moments, softening, larger(moments.softening2, least2));
    const float scale = pair_scale(Shape{}, scale_, scale_of(Shape{}, source));
    if (is_near(Shape{}, d, scale))
      add_node(Shape{}, d, source, scale);
    else
      add_node(Newton{}, d, source, scale);
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

  template <class Softening>
  GROVE_HOST_DEVICE void add_node(Softening softening, const Vec3f& d, const CellSource& source,
                                  float scale) {
    if constexpr (order == Order::quadrupole)
      add_quadrupole(softening, d, source, scale, sum);
    else
      add_particle(softening, d, source.mass, scale, sum);
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
