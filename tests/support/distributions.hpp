#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "particles/particles.hpp"

namespace grove::testing {

/// Shapes that trees must stand.
enum class Shape { uniform, hernquist, plummer, clumps, plane, line, lattice, pairs, point };

inline std::string name_of(Shape shape) {
  switch (shape) {
    case Shape::uniform:
      return "uniform";
    case Shape::hernquist:
      return "hernquist";
    case Shape::plummer:
      return "plummer";
    case Shape::clumps:
      return "clumps";
    case Shape::plane:
      return "plane";
    case Shape::line:
      return "line";
    case Shape::lattice:
      return "lattice";
    case Shape::pairs:
      return "pairs";
    case Shape::point:
      return "point";
  }
  return "";
}

inline constexpr Shape all_shapes[] = {Shape::uniform, Shape::hernquist, Shape::plummer,
                                       Shape::clumps,  Shape::plane,     Shape::line,
                                       Shape::lattice, Shape::pairs,     Shape::point};

class ShapeSampler {
 public:
  ShapeSampler(Shape shape, unsigned seed) : shape_(shape), random_(seed) {}

  Vec3d operator()(std::size_t index) {
    switch (shape_) {
      case Shape::uniform:
        return {uniform(), uniform(), uniform()};
      case Shape::hernquist: {
        const double m = std::sqrt(uniform()) * 50 / 51;
        return on_sphere(m / (1 - m));
      }
      case Shape::plummer:
        return on_sphere(1 / std::sqrt(std::pow(0.999 * uniform() + 1e-9, -2. / 3) - 1));
      case Shape::clumps: {
        const double size = std::pow(0.1, 1 + static_cast<double>(index % 4));
        return Vec3d{static_cast<double>(index % 5), static_cast<double>(index % 3), 0} +
               on_sphere(size * uniform());
      }
      case Shape::plane:
        return {uniform(), uniform(), 0.25};
      case Shape::line:
        return {0.5, uniform(), 0.25};
      case Shape::lattice:
        return {std::floor(8 * uniform()), std::floor(8 * uniform()), std::floor(8 * uniform())};
      case Shape::pairs:
        if (index % 2 == 0) last_ = {uniform(), uniform(), uniform()};
        return last_;
      case Shape::point:
        return {0.5, 0.5, 0.5};
    }
    return {};
  }

  double uniform() { return uniform_(random_); }

 private:
  Vec3d on_sphere(double radius) {
    const double z = 2 * uniform() - 1, phi = 2 * M_PI * uniform(), s = std::sqrt(1 - z * z);
    return {radius * s * std::cos(phi), radius * s * std::sin(phi), radius * z};
  }

  Shape shape_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  Vec3d last_{0, 0, 0};
};

/// Particles of equal mass 1/count, type 1, no history.
inline Particles make_shape(Shape shape, std::size_t count, unsigned seed = 1) {
  ShapeSampler sample(shape, seed);
  Particles p;
  p.reset(count);
  for (std::size_t i = 0; i < count; ++i) {
    p.position[i] = sample(i);
    p.mass[i] = 1 / static_cast<double>(count);
    p.id[i] = (i * 7919) % count + 1;  // 7919 is prime and larger than any factor of the counts in tests
    p.type[i] = 1;
  }
  return p;
}

/// Clumps of particles of types 1 and 2, without mass beyond x = 2.
inline Particles make_mixed_clumps(std::size_t count) {
  Particles particles = make_shape(Shape::clumps, count);
  for (std::size_t i = 0; i < count; ++i) {
    particles.type[i] = static_cast<std::uint8_t>(1 + particles.id[i] % 2);
    if (particles.position[i].x > 2) particles.mass[i] = 0;
  }
  return particles;
}

}  // namespace grove::testing
