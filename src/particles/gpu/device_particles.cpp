#include "particles/gpu/device_particles.hpp"

#include <cstring>
#include <utility>

#include "kernels/cuda/particles/fields.hpp"

namespace grove {

DeviceParticles::DeviceParticles(const Particles& particles)
    : size_(particles.size()), has_gas_(particles.has_gas) {
  for_each_field([&](const auto& field) {
    if (!particles.holds(field.info)) return;
    const auto& values = particles.*field.array;
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    columns_.push_back(
        {field.info, sizeof(T), cuda::DeviceArray<std::byte>(std::as_bytes(std::span(values))), {}});
  });
}

void DeviceParticles::reorder(const std::uint32_t* order) {
  for (Column& column : columns_) {
    cuda::DeviceArray<std::byte> ordered(size_ * column.element_size);
    const std::size_t first = column.values.size() / column.element_size;
    if (first > 0 || column.rest.size() > 0)
      cuda::gather_elements(ordered.data(), {column.values.data(), first, column.rest.data()}, order, size_,
                            column.element_size);
    column.values = std::move(ordered);
    column.rest = {};
  }
}

Particles DeviceParticles::download(const FieldChoice& chosen) const {
  Particles particles;
  particles.has_gas = has_gas_;
  for_each_field([&](const auto& field) {
    if (!particles.holds(field.info)) return;
    if (chosen && !chosen(field.info) && field.info.name != fields::position.info.name) return;
    auto& host = particles.*field.array;
    host.resize(size_);
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(host));
    if (const auto* device = values(field))
      cuda::device_download(bytes.data(), device, bytes.size());
    else if (!bytes.empty())
      std::memset(bytes.data(), 0, bytes.size());
  });
  return particles;
}

cuda::StepFields step_fields(const DeviceParticles& particles) {
  return {particles.values(fields::acceleration),
          particles.values(fields::type),
          particles.values(fields::rung),
          particles.values(fields::position),
          particles.values(fields::velocity),
          particles.values(fields::old_acceleration),
          particles.values(fields::work),
          particles.values(fields::previous_acceleration),
          particles.values(fields::internal_energy),
          particles.values(fields::energy_rate),
          particles.values(fields::density),
          particles.values(fields::smoothing_length),
          particles.values(fields::velocity_divergence)};
}

}  // namespace grove
