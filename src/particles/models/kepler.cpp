#include "particles/models/kepler.hpp"

#include <cmath>

#include "base/errors.hpp"

namespace grove {
namespace {

/// Always the same point: the origin, which the component's own origin then moves.
class PointSampler : public RandomSampler {
 public:
  PhasePoint sample(RandomStream&) const override { return {{0, 0, 0}, {0, 0, 0}}; }
  double reach() const override { return 0; }
  double fastest() const override { return 0; }
};

}  // namespace

TwoBodies two_bodies(double first_mass, double second_mass, const PhasePoint& relative) {
  const double first_share = first_mass / (first_mass + second_mass);
  const double second_share = second_mass / (first_mass + second_mass);
  return {{relative.position * -second_share, relative.velocity * -second_share},
          {relative.position * first_share, relative.velocity * first_share}};
}

Model make_kepler(const ModelParameters& p) {
  if (p.particles != 2) throw InputError("the model kepler has two particles, so -n must be 2 or left out");
  if (!(p.eccentricity >= 0 && p.eccentricity < 1))
    throw InputError(
        "eccentricity must be at least 0 and less than 1: the orbit of the model kepler is closed");
  const double first = p.mass / (1 + p.mass_ratio), second = p.mass - first;
  const double e = p.eccentricity;
  const double speed =
      std::sqrt(p.gravitational_constant * p.mass / p.scale * (1 - e) / (1 + e));  // at apocentre
  const TwoBodies bodies = two_bodies(first, second, {{p.scale * (1 + e), 0, 0}, {0, speed, 0}});
  const auto point = std::make_shared<PointSampler>();
  return Model({Component{point, 1, first, 1, false, {}, bodies.first},
                Component{point, 1, second, 1, false, {}, bodies.second}},
               p.seed);
}

}  // namespace grove
