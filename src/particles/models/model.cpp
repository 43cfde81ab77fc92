#include "particles/models/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/errors.hpp"

namespace grove {
namespace {

/// Size of the integers' unit, so that n numbers of up to `bound` add up to less than 2^62. A power of two
/// times the bound: the product with the inverse rounds once.
double fixed_unit(double bound, Count n) {
  const int bits = 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
  return std::ldexp(bound, -bits);
}

/// Terms that are summed over the particles of a component; of one particle, or of all.
struct Moments {
  Vec3d position{};          ///< x
  double radius = 0;         ///< r
  Vec3d velocity{};          ///< v
  Vec3d angular_momentum{};  ///< x cross v
  Vec3d flow{};              ///< r v
  Vec3d diagonal{};          ///< x_i^2
  Vec3d mixed{};             ///< y z, z x, x y
  Vec3d lever{};             ///< r x
  double square = 0;         ///< r^2

  static Moments of(const PhasePoint& p) {
    const Vec3d& x = p.position;
    const double r = norm(x);
    return {x,
            r,
            p.velocity,
            cross(x, p.velocity),
            p.velocity * r,
            {x.x * x.x, x.y * x.y, x.z * x.z},
            {x.y * x.z, x.z * x.x, x.x * x.y},
            x * r,
            r * r};
  }

  /// visit(number, bound): bound: of the number's size for a particle.
  template <class Visit>
  void for_each(double reach, double fastest, const Visit& visit) {
    const auto three = [&](Vec3d& v, double bound) {
      visit(v.x, bound), visit(v.y, bound), visit(v.z, bound);
    };
    three(position, reach), visit(radius, reach), three(velocity, fastest);
    three(angular_momentum, reach * fastest), three(flow, reach * fastest);
    three(diagonal, reach * reach), three(mixed, reach * reach), three(lever, reach * reach);
    visit(square, reach * reach);
  }
};

/// The angular velocity of the rigid body with this angular momentum; none where the tensor of inertia has no
/// inverse: a point, or all on a line. second: sums of x_i^2, and of y z, z x, x y; all per mass.
Vec3d rigid_rotation(const Vec3d& diagonal, const Vec3d& mixed, const Vec3d& angular_momentum) {
  const double trace = diagonal.x + diagonal.y + diagonal.z;
  const Vec3d row_x{trace - diagonal.x, -mixed.z, -mixed.y};
  const Vec3d row_y{-mixed.z, trace - diagonal.y, -mixed.x};
  const Vec3d row_z{-mixed.y, -mixed.x, trace - diagonal.z};
  // The columns of the inverse, times the determinant.
  const Vec3d a = cross(row_y, row_z), b = cross(row_z, row_x), c = cross(row_x, row_y);
  const double determinant = dot(row_x, a);
  if (!(determinant > 1e-9 * trace * trace * trace)) return {0, 0, 0};
  const Vec3d& l = angular_momentum;
  return (a * l.x + b * l.y + c * l.z) * (1 / determinant);
}

/// The rotation of positions that lose m r each, velocities that lose their mean.
Vec3d rotation_of_rest(const Moments& sum, const Vec3d& m) {
  const Vec3d& t = sum.lever;
  const double r2 = sum.square;
  const Vec3d diagonal{sum.diagonal.x - 2 * t.x * m.x + m.x * m.x * r2,
                       sum.diagonal.y - 2 * t.y * m.y + m.y * m.y * r2,
                       sum.diagonal.z - 2 * t.z * m.z + m.z * m.z * r2};
  const Vec3d mixed{sum.mixed.x - t.y * m.z - t.z * m.y + m.y * m.z * r2,
                    sum.mixed.y - t.z * m.x - t.x * m.z + m.z * m.x * r2,
                    sum.mixed.z - t.x * m.y - t.y * m.x + m.x * m.y * r2};
  return rigid_rotation(diagonal, mixed, sum.angular_momentum - cross(m, sum.flow));
}

}  // namespace

Rotation Rotation::inclined(double inclination, double node) {
  const double ci = std::cos(inclination), si = std::sin(inclination);
  const double cn = std::cos(node), sn = std::sin(node);
  return {{cn, -sn * ci, sn * si}, {sn, cn * ci, -cn * si}, {0, si, ci}};
}

Model::Model(std::vector<Component> components, std::uint64_t seed)
    : components_(std::move(components)), means_(components_.size()), seed_(seed) {
  offsets_.push_back(0);
  for (const Component& component : components_) offsets_.push_back(offsets_.back() + component.count);
}

bool Model::has_gas() const {
  return std::any_of(components_.begin(), components_.end(), [](const Component& c) { return c.is_gas; });
}

std::size_t Model::component_of(Count index) const {
  return static_cast<std::size_t>(std::upper_bound(offsets_.begin(), offsets_.end(), index) -
                                  offsets_.begin() - 1);
}

PhasePoint Model::draw(std::size_t component, Count index) const {
  RandomStream random(seed_, static_cast<std::uint64_t>(index));
  return components_[component].sampler->particle(index - offsets_[component], random);
}

std::vector<std::int64_t> Model::sums(Count first, Count last) const {
  std::vector<std::int64_t> result(sums_per_component * components_.size(), 0);
  for (std::size_t c = 0; c < components_.size(); ++c) {
    const Component& component = components_[c];
    if (!component.centred) continue;
    const std::span<std::int64_t> sum(result.data() + sums_per_component * c, sums_per_component);
    const double reach = component.sampler->reach(), fastest = component.sampler->fastest();
    for (Count i = std::max(first, offsets_[c]); i < std::min(last, offsets_[c + 1]); ++i) {
      std::size_t k = 0;
      Moments::of(draw(c, i)).for_each(reach, fastest, [&](double& value, double bound) {
        if (bound > 0) sum[k] += std::llround(value / fixed_unit(bound, component.count));
        ++k;
      });
    }
  }
  return result;
}

void Model::centre(std::span<const std::int64_t> total) {
  for (std::size_t c = 0; c < components_.size(); ++c) {
    const Component& component = components_[c];
    if (!component.centred) continue;
    const auto whole = total.subspan(sums_per_component * c, sums_per_component);
    Moments sum;
    std::size_t k = 0;
    sum.for_each(component.sampler->reach(), component.sampler->fastest(), [&](double& value, double bound) {
      value = static_cast<double>(whole[k++]) * fixed_unit(bound, component.count);
    });
    if (sum.radius == 0) continue;  // no particles, or a point
    Means& means = means_[c];
    means.position = sum.position * (1 / sum.radius);
    means.velocity = sum.velocity * (1 / static_cast<double>(component.count));
    if (!component.rotates) means.rotation = rotation_of_rest(sum, means.position);
  }
}

void Model::make(Count first, Count last, Particles& out) const {
  if (has_gas()) out.hold_gas();
  out.reset(static_cast<std::size_t>(last - first));
  for (Count i = first; i < last; ++i) {
    const std::size_t c = component_of(i), k = static_cast<std::size_t>(i - first);
    const Component& component = components_[c];
    const PhasePoint point = draw(c, i);
    const Means& means = means_[c];
    const Vec3d position = point.position - means.position * norm(point.position);
    const Vec3d velocity = point.velocity - means.velocity - cross(means.rotation, position);
    out.position[k] = component.origin.position + component.rotation(position);
    out.velocity[k] = component.origin.velocity + component.rotation(velocity);
    out.mass[k] = component.mass / static_cast<double>(component.count);
    out.type[k] = component.type;
    if (component.is_gas) out.internal_energy[k] = point.internal_energy;
    out.id[k] = static_cast<ParticleId>(i) + 1;
  }
}

Particles make_particles(const ModelParameters& parameters) {
  Model model = make_model(parameters);
  model.centre(model.sums(0, model.count()));
  Particles particles;
  model.make(0, model.count(), particles);
  return particles;
}

}  // namespace grove
