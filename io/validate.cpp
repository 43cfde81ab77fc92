#include "io/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <tuple>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "comm/exchange_plan.hpp"

namespace grove {
namespace {

/// "FILE: dataset PartType1/Masses, particle id 7"
std::string place(const std::string& source, const Particles& particles, std::size_t i,
                  std::string_view field) {
  return fmt::format("{}: dataset PartType{}/{}, particle id {}", source, particles.type[i], field,
                     particles.id[i]);
}

/// most: no component may be larger; unit: what its numbers count in, for the message.
void check_vector(const std::string& source, const Particles& particles, std::size_t i,
                  const Field<Vec3d>& field, double most, std::string_view unit) {
  const Vec3d& value = (particles.*field.array)[i];
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(value[axis]))
      throw InputError(fmt::format("{}: ({}, {}, {}); expected finite numbers",
                                   place(source, particles, i, field.info.name), value.x, value.y, value.z));
  if (const double largest = std::max({std::abs(value.x), std::abs(value.y), std::abs(value.z)});
      largest > most)
    throw InputError(fmt::format("{}: a component of {}; at most {} can be computed: choose a larger {}",
                                 place(source, particles, i, field.info.name), largest, most, unit));
}

void check_values(const Particles& particles, const ValidationOptions& options, std::size_t i) {
  const std::string& source = options.source;
  check_vector(source, particles, i, fields::position, largest_coordinate, "unit of length");
  check_vector(source, particles, i, fields::velocity, largest_velocity, "unit of velocity");
  const double mass = particles.mass[i];
  const bool may_be_zero = options.tracer >> particles.type[i] & 1;
  const auto fail = [&](const std::string& right) {
    throw InputError(fmt::format("{}: a mass of {}; {}", place(source, particles, i, "Masses"), mass, right));
  };
  if (!std::isfinite(mass) || mass < 0) fail("expected a positive number");
  if (mass == 0 && !may_be_zero)
    fail(
        fmt::format("expected a positive number (zero only for types named in initial_conditions.tracer, "
                    "for example [{}])",
                    particles.type[i]));
  if (mass > largest_mass)
    fail(fmt::format("at most {} can be computed: choose a larger unit of mass", largest_mass));
}

/// A position as three numbers that are equal bit for bit exactly if the positions are equal.
struct PositionKey {
  std::uint64_t x, y, z;
  ParticleId id;

  // Adding zero makes +0 of -0.
  PositionKey(const Vec3d& p, ParticleId particle)
      : x(std::bit_cast<std::uint64_t>(p.x + 0.0)),
        y(std::bit_cast<std::uint64_t>(p.y + 0.0)),
        z(std::bit_cast<std::uint64_t>(p.z + 0.0)),
        id(particle) {}
  PositionKey() = default;

  std::uint64_t hash() const { return mixed(x ^ mixed(y ^ mixed(z))); }
  bool is_same(const PositionKey& o) const { return x == o.x && y == o.y && z == o.z; }
  friend bool operator<(const PositionKey& a, const PositionKey& b) {
    return std::tie(a.x, a.y, a.z, a.id) < std::tie(b.x, b.y, b.z, b.id);
  }
};

struct IdKey {
  ParticleId id;
  std::uint64_t hash() const { return mixed(id); }
  bool is_same(const IdKey& o) const { return id == o.id; }
  friend bool operator<(const IdKey& a, const IdKey& b) { return a.id < b.id; }
};

/// Brings equal keys of all ranks together and reports a pair of them. In pass k only keys of hash class k
/// travel, about `piece` from each rank. Collective.
/// make(i): key i of this rank's `count`; report(first, second): throws.
template <class Key, class Make, class Report>
void find_pairs(const Communicator& comm, std::size_t count, Count piece, const Make& make,
                const Report& report) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const Count most = comm.max(static_cast<Count>(count));
  const auto passes = static_cast<std::uint64_t>((most + piece - 1) / piece);
  const auto owner = [&](const Key& key) { return key.hash() % ranks; };
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    Array<Key> keys;
    std::vector<Count> counts(ranks, 0);
    for (std::size_t i = 0; i < count; ++i)
      if (const Key key = make(i); key.hash() / ranks % passes == pass)
        keys.push_back(key), ++counts[owner(key)];
    std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) { return owner(a) < owner(b); });
    ExchangePlan(comm, counts).apply(keys);
    std::sort(keys.begin(), keys.end());
    const auto same = [](const Key& a, const Key& b) { return a.is_same(b); };
    comm.together([&] {
      const auto pair = std::adjacent_find(keys.begin(), keys.end(), same);
      if (pair != keys.end()) report(pair[0], pair[1]);
    });
  }
}

void check_ids(const Communicator& comm, const Particles& particles, const std::string& source, Count piece) {
  find_pairs<IdKey>(
      comm, particles.size(), piece, [&](std::size_t i) { return IdKey{particles.id[i]}; },
      [&](const IdKey& key, const IdKey&) {
        throw InputError(fmt::format(
            "{}: dataset ParticleIDs: id {} occurs more than once; ids must be unique", source, key.id));
      });
}

void check_coincidence(const Communicator& comm, const Particles& particles, const ValidationOptions& options,
                       Count piece) {
  std::vector<std::size_t> unsoftened;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (options.softening[particles.type[i]] == 0) unsoftened.push_back(i);
  find_pairs<PositionKey>(
      comm, unsoftened.size(), piece,
      [&](std::size_t i) {
        return PositionKey(particles.position[unsoftened[i]], particles.id[unsoftened[i]]);
      },
      [&](const PositionKey& a, const PositionKey& b) {
        throw InputError(
            fmt::format("{}: dataset Coordinates: particles with id {} and {} are at the same position ({}, "
                        "{}, {}); that "
                        "needs a softening above 0 (gravity.softening)",
                        options.source, a.id, b.id, std::bit_cast<double>(a.x), std::bit_cast<double>(a.y),
                        std::bit_cast<double>(a.z)));
      });
}

}  // namespace

void validate(const Communicator& comm, const Particles& particles, const ValidationOptions& options,
              Count piece) {
  const Count total = comm.sum(static_cast<Count>(particles.size()));
  comm.together([&] {
    if (total == 0)
      throw InputError(fmt::format("{}: holds no particles; at least one is needed", options.source));
    if (options.leaves > total)
      throw InputError(fmt::format(
          "{}: {} leaves are asked for, but there are only {} particles; ask for at most that many",
          options.source, options.leaves, total));
    for (const double softening : options.softening)
      if (!(softening >= 0 && softening <= largest_softening))
        throw InputError(fmt::format("{}: a softening of {}; expected a length from 0 to {}", options.source,
                                     softening, largest_softening));
    for (std::size_t i = 0; i < particles.size(); ++i) check_values(particles, options, i);
  });
  check_ids(comm, particles, options.source, piece);
  check_coincidence(comm, particles, options, piece);
}

}  // namespace grove
