#include "physical_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

namespace grove {
namespace {

/// Masses as integers, of which those of all ranks add up without overflow, in any order.
class WholeMasses {
 public:
  WholeMasses(const Communicator& comm, const Particles& particles) : comm_(comm), particles_(particles) {
    double largest = 0;
    for (const double mass : particles.mass) largest = std::max(largest, mass);
    largest = comm.max(largest);
    const auto all = static_cast<std::uint64_t>(comm.sum(static_cast<Count>(particles.size())));
    unit_ = largest > 0 ? std::ldexp(largest, static_cast<int>(std::bit_width(all)) - 62) : 1;
  }

  std::int64_t of(std::size_t i) const { return std::llround(particles_.mass[i] / unit_); }
  double unit() const { return unit_; }

  /// The least radius about a point within which there is half of the mass, as a float.
  double half_mass_radius(const Vec3d& centre, std::int64_t all) const {
    std::vector<std::uint32_t> radius(particles_.size());  // bits of floats are in the order of their values
    for (std::size_t i = 0; i < radius.size(); ++i)
      radius[i] = std::bit_cast<std::uint32_t>(static_cast<float>(norm(particles_.position[i] - centre)));
    std::uint32_t within = 0;
    std::int64_t below = 0;  // mass at radii with less than its digits so far
    for (int shift = 24; shift >= 0; shift -= 8) {
      std::array<std::int64_t, 256> of_digit{};
      for (std::size_t i = 0; i < radius.size(); ++i)
        if (std::uint64_t{radius[i] ^ within} >> (shift + 8) == 0)
          of_digit[radius[i] >> shift & 255] += of(i);
      comm_.sum(std::span<std::int64_t>(of_digit));
      std::uint32_t digit = 0;
      while (digit < 255 && below + of_digit[digit] < all - all / 2) below += of_digit[digit++];
      within |= digit << shift;
    }
    return static_cast<double>(std::bit_cast<float>(within));
  }

 private:
  const Communicator& comm_;
  const Particles& particles_;
  double unit_ = 1;
};

std::string percent(Count part, Count all) {
  const double share = 100 * static_cast<double>(part) / static_cast<double>(all);
  return share < 0.1 ? fmt::format("{:.1g} %", share) : fmt::format("{:.1f} %", share);
}

std::string text_of_rungs(const PhysicalSummary& summary, const DisplayUnits& shown) {
  const Count all = std::accumulate(summary.rungs.begin(), summary.rungs.end(), Count{0});
  std::vector<std::string> rungs;
  for (std::size_t rung = 0; rung < summary.rungs.size(); ++rung)
    if (const Count n = summary.rungs[rung]; n > 0) {
      const double step = std::ldexp(summary.longest_step, -static_cast<int>(rung));
      rungs.push_back(fmt::format("{} {}", shown.text(step, dimension::time, 3), percent(n, all)));
    }
  return fmt::format("{}", fmt::join(rungs, ", "));
}

/// Length in the criterion of the steps, of the type that has most particles.
double step_length(const PhysicalSummary& summary, const Parameters& parameters) {
  const auto most = std::max_element(summary.counts.begin(), summary.counts.end()) - summary.counts.begin();
  const auto type = static_cast<std::size_t>(most);
  const double scale_factor = summary.scale_factor.value_or(1);
  return parameters.time.rule(summary.longest_step, parameters.softening(scale_factor)).length[type];
}

std::string was_forgotten(const Units& units) {
  return fmt::format("was a unit forgotten? Bare numbers are in {}, {} and {}", units.name(dimension::mass),
                     units.name(dimension::length), units.name(dimension::velocity));
}

/// The cause of short steps, as a sentence.
std::string likely_cause(const PhysicalSummary& summary, const Parameters& parameters) {
  constexpr double light = 2.9979e10;  // cm/s
  const Units& units = parameters.units;
  const DisplayUnits& shown = parameters.shown;
  const double crossing = summary.crossing_time(), length = step_length(summary, parameters);
  if (!units.is_dimensionless() && summary.circular_speed * units.velocity_cm_s > 0.1 * light)
    return fmt::format("a mass of {} within {} moves at {}, more than a tenth of the speed of light: {}",
                       shown.text(summary.totals.mass / 2, dimension::mass, 3),
                       shown.text(summary.half_mass_radius, dimension::length, 3),
                       shown.text(summary.circular_speed, dimension::velocity, 3), was_forgotten(units));
  const auto softening_is_small = [&](const char* beside, double distance) {
    return fmt::format(
        "steps follow from the softening (or time.length), {}, beside a {} of {}: give a larger "
        "gravity.softening, if that has the right unit, or a shorter {}",
        shown.text(length, dimension::length, 3), beside, shown.text(distance, dimension::length, 3),
        parameters.time.step_ln_a ? "time.step_ln_a" : "time.step");
  };
  if (summary.box > 0) return softening_is_small("mean spacing of particles", summary.spacing());
  // As long as the gravity of the particles among each other has them.
  const double own_step = parameters.time.eta * crossing * std::sqrt(length / summary.half_mass_radius);
  if (!parameters.potentials.empty() && 1024 * own_step > summary.longest_step)
    return fmt::format(
        "the external potentials pull too hard, as the particles' own gravity asks for no such steps: {}",
        units.is_dimensionless() ? "look at their masses and lengths" : was_forgotten(units));
  if (crossing > 0 && summary.longest_step > crossing)
    return fmt::format(
        "the longest step is {:.3g} times the crossing time, {}: give a shorter time.step, such as {}{}",
        summary.longest_step / crossing, shown.text(crossing, dimension::time, 3),
        shown.text(0.02 * crossing, dimension::time, 1),
        units.is_dimensionless() ? "" : ", if masses and lengths have the right units");
  return softening_is_small("half-mass radius", summary.half_mass_radius);
}

}  // namespace

PhysicalSummary physical_summary(const Communicator& comm, const Particles& particles, const Totals& totals,
                                 const RungCounts& rungs, double longest_step, double gravitational_constant,
                                 double box) {
  PhysicalSummary summary;
  summary.box = box;
  const WholeMasses masses(comm, particles);
  std::array<std::int64_t, particle_types> whole{};
  for (std::size_t i = 0; i < particles.size(); ++i) {
    ++summary.counts[particles.type[i]];
    whole[particles.type[i]] += masses.of(i);
  }
  comm.sum(std::span<Count>(summary.counts));
  comm.sum(std::span<std::int64_t>(whole));
  for (std::size_t type = 0; type < whole.size(); ++type)
    summary.mass[type] = masses.unit() * static_cast<double>(whole[type]);
  summary.totals = totals;
  summary.rungs = rungs;
  summary.longest_step = longest_step;
  if (box > 0) return summary;
  const std::int64_t all = std::accumulate(whole.begin(), whole.end(), std::int64_t{0});
  summary.half_mass_radius = masses.half_mass_radius(totals.centre_of_mass(), all);
  if (summary.half_mass_radius > 0)
    summary.circular_speed = std::sqrt(0.5 * gravitational_constant * totals.mass / summary.half_mass_radius);
  return summary;
}

double PhysicalSummary::spacing() const {
  return box / std::cbrt(static_cast<double>(std::accumulate(counts.begin(), counts.end(), Count{0})));
}

std::string PhysicalSummary::text(const DisplayUnits& shown) const {
  std::vector<std::string> types;
  for (std::size_t type = 0; type < counts.size(); ++type)
    if (counts[type] > 0)
      types.push_back(
          fmt::format("{} in {} of type {}", shown.text(mass[type], dimension::mass, 4), counts[type], type));
  const std::string masses = fmt::format("mass: {}\n", fmt::join(types, ", ")),
                    steps = fmt::format("first steps: {}\n", text_of_rungs(*this, shown));
  if (box > 0 || scale_factor) {
    const auto lengths =
        box > 0 ? fmt::format("box: {}, mean spacing of particles: {}", shown.text(box, dimension::length, 4),
                              shown.text(spacing(), dimension::length, 4))
                : fmt::format("half-mass radius: {}", shown.text(half_mass_radius, dimension::length, 4));
    const auto redshift =
        scale_factor ? fmt::format(" (comoving), redshift: {:.6g}", redshift_of(*scale_factor)) : "";
    return fmt::format("{}{}{}\n{}", masses, lengths, redshift, steps);
  }
  const double virial = totals.virial_ratio();
  return fmt::format("{}half-mass radius: {}, crossing time: {}{}\n{}", masses,
                     shown.text(half_mass_radius, dimension::length, 4),
                     shown.text(crossing_time(), dimension::time, 4),
                     std::isnan(virial) ? "" : fmt::format(", virial ratio 2T/|W|: {:.3g}", virial), steps);
}

std::string fault_of_steps(const PhysicalSummary& summary, const Parameters& parameters) {
  const Count all = std::accumulate(summary.rungs.begin(), summary.rungs.end(), Count{0});
  const Count deeper =
      std::accumulate(summary.rungs.begin() + deepest_of_start + 1, summary.rungs.end(), Count{0});
  if (2 * deeper <= all) return {};
  return fmt::format(
      "{} of the particles want more than {} steps in each longest one, of {}. The likely cause: {}",
      percent(deeper, all), 1 << deepest_of_start,
      parameters.shown.text(summary.longest_step, dimension::time, 3),
      summary.gas ? summary.gas->text(parameters.gas, parameters.shown) : likely_cause(summary, parameters));
}

namespace {

/// Where space expands matter has about the mean density, comoving.
std::string doubt_about_density(const PhysicalSummary& summary, const Parameters& parameters) {
  const double radius = summary.half_mass_radius,
               volume = 4. / 3 * std::numbers::pi * radius * radius * radius;
  const double mean = matter_density(*parameters.universe, parameters.units.gravitational_constant);
  const double ratio = 0.5 * summary.totals.mass / volume / mean;
  if (!(radius > 0) || (ratio > 0.1 && ratio < 1000)) return {};
  return fmt::format("the density within the half-mass radius is {:.1g} of the mean of matter: {}", ratio,
                     was_forgotten(parameters.units));
}

}  // namespace

std::string doubt_about_units(const PhysicalSummary& summary, const Parameters& parameters, double span) {
  if (parameters.universe) return doubt_about_density(summary, parameters);
  const DisplayUnits& shown = parameters.shown;
  const double crossing = summary.crossing_time(), virial = summary.totals.virial_ratio();
  if (parameters.units.is_dimensionless() || !parameters.potentials.empty() || summary.box > 0) return {};
  const Count all = std::accumulate(summary.rungs.begin(), summary.rungs.end(), Count{0});
  const bool is_slow = 2 * summary.rungs[0] > all;  // not so what is short beside a large halo alone
  if (is_slow && span < 0.01 * crossing)
    return fmt::format("the run spans {}, {:.1g} of the crossing time, {}, so hardly anything will move: {}",
                       shown.text(span, dimension::time, 3), span / crossing,
                       shown.text(crossing, dimension::time, 3), was_forgotten(parameters.units));
  if ((virial > 0 && virial < 1e-3) || virial > 1e3)
    return fmt::format("the virial ratio 2T/|W| is {:.1g}, so velocities do not fit masses and lengths: {}",
                       virial, was_forgotten(parameters.units));
  return {};
}

}  // namespace grove
