#include "guards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "base/errors.hpp"
#include "base/how_many.hpp"

namespace grove {
namespace {

using Failure = Agreed<std::runtime_error>;

/// A checkpoint would go on in the same way.
constexpr const char* what_to_do =
    "start another run from the last snapshot before that (initial_conditions.file), or anew, with smaller "
    "time steps (time.eta, time.step) or a larger gravity.softening";

bool is_finite(const Vec3d& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

/// A particle that something is wrong with.
struct Suspect {
  static constexpr int none = std::numeric_limits<int>::max();

  int order = none;  ///< the lowest is named first
  ParticleId id = 0;
  Vec3d position{}, velocity{};

  bool exists() const { return order != none; }
  bool is_before(const Suspect& o) const { return order != o.order ? order < o.order : id < o.id; }
  std::string text(const DisplayUnits& shown) const {
    return fmt::format("particle id {} at {}, velocity {}", id, shown.text(position, dimension::length),
                       shown.text(velocity, dimension::velocity));
  }
};

/// The first of the suspects of all ranks.
Suspect first_of_all(const Communicator& comm, const Suspect& own) {
  const std::vector<Suspect> all = comm.all_gather(own);
  return *std::min_element(all.begin(), all.end(),
                           [](const Suspect& a, const Suspect& b) { return a.is_before(b); });
}

/// order_of (a particle's number): Suspect::order; less than 0: nothing is wrong with it.
template <class Order>
Suspect first_suspect(const Particles& particles, const Order& order_of) {
  Suspect first;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const int order = order_of(i);
    if (order < 0) continue;
    const Suspect suspect{order, particles.id[i], particles.position[i], particles.velocity[i]};
    if (suspect.is_before(first)) first = suspect;
  }
  return first;
}

/// The particle of gas with the largest internal energy.
struct Hottest {
  double energy = -1;  ///< physical; less than 0: there is no gas
  ParticleId id = 0;
  Vec3d position{};

  /// NaN is above all numbers: it spoils more than they do.
  bool is_before(const Hottest& o) const {
    const bool is_number = !std::isnan(energy), is_other = !std::isnan(o.energy);
    if (is_number != is_other) return is_other;
    return is_number && energy != o.energy ? energy > o.energy : id < o.id;
  }
  std::string text(const GasParameters& gas, const DisplayUnits& shown) const {
    const std::string place = shown.text(position, dimension::length);
    if (std::isnan(energy))
      return fmt::format("the internal energy of particle id {} at {} is not a number", id, place);
    return fmt::format("particle id {} at {} has an internal energy of {}, a sound speed of {}", id, place,
                       shown.text(energy, dimension::potential, 3),
                       shown.text(gas.sound_speed(energy), dimension::velocity, 3));
  }
};

/// The gas of all ranks when its forces are lost.
struct GasExtremes {
  Hottest hottest;
  double largest_radius = 0;  ///< support radius, of those that are finite

  /// Accelerations, as the energy over a length, or heating, as that times the sound speed, come near to the
  /// end of single precision.
  bool explain_forces(const GasParameters& gas) const {
    const double u = hottest.energy;
    if (!std::isfinite(u)) return true;
    constexpr double too_much = 1e-3 * static_cast<double>(std::numeric_limits<float>::max());
    return u > 0 && u * std::max(1.0, gas.sound_speed(u)) > too_much * largest_radius && largest_radius > 0;
  }
};

GasExtremes extremes_of_gas(const Communicator& comm, const Particles& particles, double physical) {
  GasExtremes own;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (particles.type[i] != gas_type) continue;
    const Hottest one{physical * particles.internal_energy[i], particles.id[i], particles.position[i]};
    if (one.is_before(own.hottest)) own.hottest = one;
    const double radius = particles.smoothing_length[i];
    if (std::isfinite(radius)) own.largest_radius = std::max(own.largest_radius, radius);
  }
  const std::vector<Hottest> all = comm.all_gather(own.hottest);
  return {*std::min_element(all.begin(), all.end(),
                            [](const Hottest& a, const Hottest& b) { return a.is_before(b); }),
          comm.max(own.largest_radius)};
}

/// Suspect::order of a particle whose forces of gas may be lost: first come those that spoil others.
int order_of_gas(const Particles& particles, std::size_t i) {
  if (!is_finite(particles.position[i]) || !is_finite(particles.velocity[i])) return 0;
  const bool is_gas = particles.type[i] == gas_type;
  if (is_gas && !(std::isfinite(particles.density[i]) && std::isfinite(particles.smoothing_length[i])))
    return 1;
  if (!is_finite(particles.acceleration[i].as<double>())) return 2;
  return is_gas && !std::isfinite(particles.energy_rate[i]) ? 3 : -1;
}

}  // namespace

std::string Moment::text() const {
  return fmt::format("after {}, at time {}", how_many(steps, "step"), shown.text(time, dimension::time));
}

ExchangeGuard::ExchangeGuard(const Communicator& comm, const Backend& backend)
    : comm_(comm), backend_(backend), own_before_(census()) {}

/// Census of this rank's particles.
std::function<Census()> ExchangeGuard::census() const {
  if (comm_.size() == 1) return [] { return Census{}; };
  return backend_.census();
}

void ExchangeGuard::look_again() { own_after_ = census(); }

void ExchangeGuard::join(JointReduction& joint) {
  before_ = own_before_();
  after_ = own_after_();
  for (Census* census : {&before_, &after_})
    joint.sum(census->particles).sum(census->id_sum).exclusive_or(census->id_xor).sum(census->content);
}

void ExchangeGuard::check(const std::string& exchange) {
  look_again();
  JointReduction joint;
  join(joint);
  joint.apply(comm_);
  require_same(exchange);
}

void ExchangeGuard::require_same(const std::string& exchange) const {
  if (before_ == after_) return;
  std::string what;
  if (before_.particles != after_.particles)
    what = fmt::format("there {} {} in place of {}", after_.particles == 1 ? "is" : "are",
                       how_many(after_.particles, "particle"), before_.particles);
  else if (before_.id_sum != after_.id_sum || before_.id_xor != after_.id_xor)
    what = fmt::format("ids have changed: their sum is {} in place of {}, modulo 2^64", after_.id_sum,
                       before_.id_sum);
  else
    what = "masses, positions or velocities have changed";
  throw Failure(
      fmt::format("{} went wrong: {}: this is a fault of the machine, of MPI or of Grove; go on from "
                  "the last checkpoint or snapshot, and please report it",
                  exchange, what));
}

void require_finite(const Communicator& comm, Backend& backend, Count number, const Moment& now) {
  if (number == 0) return;
  Suspect own;
  backend.show(nullptr, [&](const Particles& particles) {
    own = first_suspect(particles, [&](std::size_t i) {
      if (!is_finite(particles.position[i]) || !is_finite(particles.velocity[i])) return 0;
      return is_finite(particles.acceleration[i].as<double>()) ? -1 : 1;
    });
  });
  const Suspect first = first_of_all(comm, own);
  throw Failure(
      fmt::format("{}, the accelerations of {} are not finite numbers; the first one to look at is {}: {}",
                  now.text(), how_many(number, "particle"), first.text(now.shown), what_to_do));
}

void require_finite_gas(const Communicator& comm, Backend& backend, Count number, const GasParameters& gas,
                        double physical, const Moment& now) {
  if (number == 0) return;
  Suspect own;
  GasExtremes extremes;
  backend.show(nullptr, [&](const Particles& particles) {
    own = first_suspect(particles, [&](std::size_t i) { return order_of_gas(particles, i); });
    extremes = extremes_of_gas(comm, particles, physical);
  });
  const Suspect first = first_of_all(comm, own);
  std::string text = fmt::format("{}, the forces of gas on {} are not finite numbers", now.text(),
                                 how_many(number, "particle"));
  if (first.exists()) text += "; the first one to look at is " + first.text(now.shown);
  const bool is_heat = extremes.explain_forces(gas);
  if (is_heat) text += "; the likely cause: " + extremes.hottest.text(gas, now.shown);
  throw Failure(fmt::format(
      "{}: {}", text,
      is_heat && !std::isnan(extremes.hottest.energy)
          ? "give smaller internal energies, if these have the wrong unit, or start another run from the "
            "last "
            "snapshot before that (initial_conditions.file), with smaller time steps (gas.courant, time.step)"
          : what_to_do));
}

void require_finite_positions(const Communicator& comm, Backend& backend, const Moment& now) {
  Suspect own;
  backend.show(nullptr, [&](const Particles& particles) {
    own = first_suspect(particles, [&](std::size_t i) { return is_finite(particles.position[i]) ? -1 : 0; });
  });
  const Suspect first = first_of_all(comm, own);
  if (first.exists())
    throw Failure(
        fmt::format("{}, there are positions that are not finite numbers; the first one is of {}: {}",
                    now.text(), first.text(now.shown), what_to_do));
}

void require_no_runaway(const Communicator& comm, Backend& backend, const Box& before, double extent,
                        const Moment& now) {
  constexpr double far = 32;   // edges
  constexpr Count few = 1000;  // one in so many
  if (extent <= far * before.edge) return;
  Suspect own;
  Count counts[] = {0, 0};  // far away, all
  backend.show(nullptr, [&](const Particles& particles) {
    own = first_suspect(particles, [&](std::size_t i) {
      const bool is_far = before.outside(particles.position[i]) > far * before.edge;
      counts[0] += is_far ? 1 : 0;
      return is_far ? 0 : -1;
    });
    counts[1] = static_cast<Count>(particles.size());
  });
  comm.sum(std::span<Count>(counts));
  const Suspect first = first_of_all(comm, own);
  if (counts[0] == 0 || (counts[0] > 1 && few * counts[0] >= counts[1])) return;
  throw Failure(
      fmt::format("{}, {} of {} {} run away, more than {} times the size of the system since the last "
                  "decomposition; the first one is {}: {}",
                  now.text(), counts[0], how_many(counts[1], "particle"), counts[0] == 1 ? "has" : "have",
                  far, first.text(now.shown), what_to_do));
}

}  // namespace grove
