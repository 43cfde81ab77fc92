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

void add_fixed(std::span<std::int64_t> sum, const Vec3d& v, double unit) {
  for (int axis = 0; axis < 3; ++axis) sum[static_cast<std::size_t>(axis)] += std::llround(v[axis] / unit);
}

Vec3d to_vector(std::span<const std::int64_t> sum) {
  return {static_cast<double>(sum[0]), static_cast<double>(sum[1]), static_cast<double>(sum[2])};
}

}  // namespace

Rotation Rotation::inclined(double inclination, double node) {
  const double ci = std::cos(inclination), si = std::sin(inclination);
  const double cn = std::cos(node), sn = std::sin(node);
  return {{cn, -sn * ci, sn * si}, {sn, cn * ci, -cn * si}, {0, si, ci}};
}

Model::Model(std::vector<Component> components, std::uint64_t seed)
    : components_(std::move(components)), means_(components_.size(), {{0, 0, 0}, {0, 0, 0}}), seed_(seed) {
  offsets_.push_back(0);
  for (const Component& component : components_) offsets_.push_back(offsets_.back() + component.count);
}

std::size_t Model::component_of(Count index) const {
  return static_cast<std::size_t>(std::upper_bound(offsets_.begin(), offsets_.end(), index) -
                                  offsets_.begin() - 1);
}

PhasePoint Model::draw(std::size_t component, Count index) const {
  RandomStream random(seed_, static_cast<std::uint64_t>(index));
  return components_[component].sampler->sample(random);
}

std::vector<std::int64_t> Model::sums(Count first, Count last) const {
  std::vector<std::int64_t> result(sums_per_component * components_.size(), 0);
  for (std::size_t c = 0; c < components_.size(); ++c) {
    const Component& component = components_[c];
    if (!component.centred) continue;
    const std::span<std::int64_t> sum(result.data() + sums_per_component * c, sums_per_component);
    const double length = fixed_unit(component.sampler->reach(), component.count);
    const double speed = fixed_unit(component.sampler->fastest(), component.count);
    for (Count i = std::max(first, offsets_[c]); i < std::min(last, offsets_[c + 1]); ++i) {
      const PhasePoint point = draw(c, i);
      add_fixed(sum.first(3), point.position, length);
      sum[3] += std::llround(norm(point.position) / length);
      if (speed > 0) add_fixed(sum.last(3), point.velocity, speed);
    }
  }
  return result;
}

void Model::centre(std::span<const std::int64_t> total) {
  for (std::size_t c = 0; c < components_.size(); ++c) {
    const Component& component = components_[c];
    const auto sum = total.subspan(sums_per_component * c, sums_per_component);
    if (sum[3] == 0) continue;  // not centred, or no particles
    const double speed = fixed_unit(component.sampler->fastest(), component.count);
    means_[c] = {to_vector(sum.first(3)) * (1 / static_cast<double>(sum[3])),
                 to_vector(sum.last(3)) * (speed / static_cast<double>(component.count))};
  }
}

void Model::make(Count first, Count last, Particles& out) const {
  out.resize(static_cast<std::size_t>(last - first));
  for_each_field([&](const auto& field) {
    auto& values = out.*field.array;
    std::fill(values.begin(), values.end(), typename std::decay_t<decltype(field)>::Value{});
  });
  for (Count i = first; i < last; ++i) {
    const std::size_t c = component_of(i), k = static_cast<std::size_t>(i - first);
    const Component& component = components_[c];
    const PhasePoint point = draw(c, i);
    const Vec3d position = point.position - means_[c].position * norm(point.position);
    out.position[k] = component.origin.position + component.rotation(position);
    out.velocity[k] = component.origin.velocity + component.rotation(point.velocity - means_[c].velocity);
    out.mass[k] = component.mass / static_cast<double>(component.count);
    out.type[k] = component.type;
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
