#include "particles/models/uniform.hpp"

#include <cmath>

namespace grove {
namespace {

class BallSampler : public RandomSampler {
 public:
  BallSampler(double radius, double speed) : radius_(radius), speed_(speed) {}
  PhasePoint sample(RandomStream& random) const override {
    const Vec3d position = random.isotropic(radius_ * std::cbrt(random.uniform()));
    if (speed_ == 0) return {position, {0, 0, 0}};
    return {position, random.isotropic(speed_ * std::cbrt(random.uniform()))};
  }
  double reach() const override { return radius_; }
  double fastest() const override { return speed_; }

 private:
  double radius_, speed_;
};

class CubeSampler : public RandomSampler {
 public:
  explicit CubeSampler(double edge) : edge_(edge) {}
  PhasePoint sample(RandomStream& random) const override {
    const double x = random.uniform(), y = random.uniform(), z = random.uniform();
    return {Vec3d{x - 0.5, y - 0.5, z - 0.5} * edge_, {0, 0, 0}};
  }
  double reach() const override { return 0.5 * edge_; }
  double fastest() const override { return 0; }

 private:
  double edge_;
};

Model ball(const ModelParameters& p, double speed) {
  return Model({Component{std::make_shared<BallSampler>(p.scale, speed), p.particles, p.mass}}, p.seed);
}

}  // namespace

Model make_cold_sphere(const ModelParameters& p) { return ball(p, 0); }

Model make_uniform_sphere(const ModelParameters& p) {
  return ball(p, std::sqrt(p.gravitational_constant * p.mass / p.scale));
}

Model make_uniform_cube(const ModelParameters& p) {
  return Model({Component{std::make_shared<CubeSampler>(p.scale), p.particles, p.mass, 1, false}}, p.seed);
}

}  // namespace grove
