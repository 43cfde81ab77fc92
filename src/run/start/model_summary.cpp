#include "model_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "backend/backend.hpp"
#include "base/how_many.hpp"
#include "comm/radix_select.hpp"
#include "decomposition/decompose.hpp"
#include "gravity/suggested_softening.hpp"
#include "particles/models/disk.hpp"

namespace grove {
namespace {

/// This rank's particles of a component: [first, last) in its arrays. They stand in the order of their ids.
std::pair<std::size_t, std::size_t> own_of(const Model& model, std::size_t component,
                                           const Particles& particles) {
  const auto place = [&](Count index) {
    const auto id = static_cast<ParticleId>(index) + 1;
    const auto found = std::lower_bound(particles.id.begin(), particles.id.end(), id);
    return static_cast<std::size_t>(found - particles.id.begin());
  };
  return {place(model.first_of(component)), place(model.first_of(component + 1))};
}

/// Bits of the radii, which are in the order of their values.
std::vector<std::uint64_t> radii_of(const Particles& particles, std::pair<std::size_t, std::size_t> own,
                                    const Vec3d& origin) {
  std::vector<std::uint64_t> radii;
  for (std::size_t i = own.first; i < own.second; ++i)
    radii.push_back(std::bit_cast<std::uint64_t>(norm(particles.position[i] - origin)));
  return radii;
}

DiskStability stability_of(const ExponentialDisk& disk) {
  const double h = disk.shape().scale;
  DiskStability q{INFINITY, 0, disk.toomre_q(2 * h), h};
  for (double radius = 0.1 * h; radius <= 5 * h; radius += 0.05 * h)
    if (const double here = disk.toomre_q(radius); here < q.least) q.least = here, q.at_radius = radius;
  return q;
}

/// By the mass of the particles within a few radii.
std::vector<std::pair<double, double>> measured_speeds(const Communicator& comm,
                                                       std::span<const std::uint64_t> radii, double half,
                                                       double gm_of_each) {
  std::vector<std::pair<double, double>> speeds;
  for (const double factor : {0.1, 0.3, 1.0, 3.0}) {
    const double r = factor * half;
    const auto within = comm.sum(static_cast<Count>(std::count_if(
        radii.begin(), radii.end(), [&](std::uint64_t bits) { return std::bit_cast<double>(bits) <= r; })));
    speeds.emplace_back(r, std::sqrt(gm_of_each * static_cast<double>(within) / r));
  }
  return speeds;
}

PartSummary part_of(const Component& component) {
  return {component.name, component.type, component.count, component.mass, 0, {}, {}};
}

PartSummary part_summary(const Communicator& comm, const Model& model, std::size_t c,
                         const Particles& particles, double gravitational_constant) {
  const Component& component = model.components()[c];
  PartSummary part = part_of(component);
  const std::vector<std::uint64_t> radii =
      radii_of(particles, own_of(model, c, particles), component.origin.position);
  part.half_mass_radius =
      std::bit_cast<double>(select_key(comm, std::span<const std::uint64_t>(radii), (part.count - 1) / 2));
  if (const auto* disk = dynamic_cast<const ExponentialDisk*>(component.sampler.get())) {
    part.disk = stability_of(*disk);
    for (const double factor : {0.5, 1.0, 2.2, 5.0, 10.0}) {
      const double radius = factor * disk->shape().scale;
      part.circular_speed.emplace_back(radius, disk->circular_speed(radius));
    }
  } else if (model.components().size() == 1 && part.count > 1 && part.half_mass_radius > 0) {
    part.circular_speed =
        measured_speeds(comm, radii, part.half_mass_radius,
                        gravitational_constant * part.mass / static_cast<double>(part.count));
  }
  return part;
}

/// Every so manyeth particle of each component, with the mass of those that it stands for.
Particles sample_of(const Model& model, const Particles& particles) {
  constexpr Count most = 30000;
  std::vector<std::size_t> chosen_ones;
  std::vector<double> mass;
  for (std::size_t c = 0; c < model.components().size(); ++c) {
    const Component& component = model.components()[c];
    const Count stride = (component.count + most - 1) / most;
    const Count chosen = stride > 0 ? (component.count + stride - 1) / stride : 0;
    const auto [first, last] = own_of(model, c, particles);
    for (std::size_t i = first; i < last; ++i)
      if ((static_cast<Count>(particles.id[i]) - 1 - model.first_of(c)) % stride == 0) {
        chosen_ones.push_back(i);
        mass.push_back(component.mass / static_cast<double>(chosen));
      }
  }
  Particles sample;
  sample.has_gas = particles.has_gas;
  sample.resize(chosen_ones.size());
  for_each_field([&](const auto& field) {
    if (!particles.holds(field.info)) return;
    for (std::size_t k = 0; k < chosen_ones.size(); ++k)
      (sample.*field.array)[k] = (particles.*field.array)[chosen_ones[k]];
  });
  std::copy(mass.begin(), mass.end(), sample.mass.begin());
  return sample;
}

double virial_ratio(const Communicator& comm, Particles sample, double gravitational_constant) {
  const Count count = comm.sum(static_cast<Count>(sample.size()));
  GravityParameters gravity;
  gravity.gravitational_constant = gravitational_constant;
  // Well below the distances of neighbours: it changes no digit that is shown, and keeps pairs finite.
  gravity.softening.fill(0.1 * suggested_softening(comm, sample));
  BackendChoice host;
  host.name = "kokkos";
  const auto backend = make_backend(comm, host, std::move(sample), gravity);
  DecompositionParameters decomposition;
  decomposition.leaf_size = default_leaf_size(count);
  DecompositionReport report;
  PhaseTimers timers;
  const Domain domain = backend->decompose(decomposition, {}, report);
  backend->gravity().evaluate(domain, {}, timers);
  const Totals totals = backend->totals(domain);
  return totals.potential_energy < 0 ? 2 * totals.kinetic_energy / -totals.potential_energy : 0;
}

std::string text_of_part(const PartSummary& part, const DisplayUnits& shown) {
  const double each = part.mass / static_cast<double>(part.count);
  return fmt::format("{}type {}, {}: mass {}, of each {}{}\n", part.name.empty() ? "" : part.name + ": ",
                     part.type, how_many(part.count, "particle"), shown.text(part.mass, dimension::mass, 4),
                     shown.text(each, dimension::mass, 4),
                     part.half_mass_radius > 0
                         ? ", half-mass radius " + shown.text(part.half_mass_radius, dimension::length, 4)
                         : "");
}

std::string text_of_disk(const PartSummary& part, const DisplayUnits& shown) {
  const auto length = [&](double value) { return shown.text(value, dimension::length, 3); };
  return fmt::format("{}: Toomre Q {:.2f} at least, at {}; {:.2f} at 2 scale lengths, {}\n", part.name,
                     part.disk->least, length(part.disk->at_radius), part.disk->at_two_scales,
                     length(2 * part.disk->scale));
}

std::string text_of_speeds(const PartSummary& part, const DisplayUnits& shown) {
  std::vector<std::string> points;
  for (const auto& [radius, speed] : part.circular_speed)
    points.push_back(fmt::format("{} at {}", shown.text(speed, dimension::velocity, 3),
                                 shown.text(radius, dimension::length, 3)));
  return fmt::format("{}circular speed {}\n", part.name.empty() ? "" : part.name + ": ",
                     fmt::join(points, ", "));
}

}  // namespace

ModelSummary model_summary(const Communicator& comm, const Model& model, const Particles& particles,
                           double gravitational_constant, bool fills_box) {
  ModelSummary summary;
  for (std::size_t c = 0; c < model.components().size(); ++c)
    summary.parts.push_back(fills_box ? part_of(model.components()[c])
                                      : part_summary(comm, model, c, particles, gravitational_constant));
  if (!fills_box && model.count() > 1)
    summary.virial_ratio = virial_ratio(comm, sample_of(model, particles), gravitational_constant);
  return summary;
}

std::string ModelSummary::text(const DisplayUnits& shown) const {
  std::string text;
  for (const PartSummary& part : parts) text += text_of_part(part, shown);
  for (const PartSummary& part : parts) {
    if (part.disk) text += text_of_disk(part, shown);
    if (!part.circular_speed.empty()) text += text_of_speeds(part, shown);
  }
  if (virial_ratio) text += fmt::format("virial ratio 2T/|W| {:.3f}\n", *virial_ratio);
  return text;
}

}  // namespace grove
