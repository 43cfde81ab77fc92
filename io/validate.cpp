#include "io/validate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include "base/errors.hpp"
#include "base/hash.hpp"
#include "base/how_many.hpp"
#include "base/shares.hpp"
#include "comm/exchange_plan.hpp"

namespace grove {
namespace {

/// The place of a particle: by type, then place in the file, over all files; without a file by rank.
struct Place {
  std::uint64_t type = ~std::uint64_t{0}, index = ~std::uint64_t{0};
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// The places of this rank's particles.
class Places {
 public:
  Places(const Communicator& comm, const Particles& particles, const ValidationOptions& options)
      : options_(options), rank_(static_cast<std::uint64_t>(comm.rank())) {
    if (!options.header) return;
    for (const std::uint8_t type : particles.type) ++end_[type];
    Count before = 0;
    for (std::size_t t = 0; t < end_.size(); ++t) {
      offset_[t] = share_begin(options.header->counts[t], comm.rank(), comm.size()) - before;
      before += end_[t];
    }
  }

  /// The place of the particle that is number i on this rank.
  Place of(const Particles& particles, std::size_t i) const {
    if (!options_.header) return {rank_, i};
    const std::uint8_t type = particles.type[i];
    return {type, static_cast<std::uint64_t>(static_cast<Count>(i) + offset_[type])};
  }

  /// "FILE: dataset PartType1/Masses, particle 16, id 7"
  std::string name(const Place& place, std::uint8_t type, std::string_view field, ParticleId id) const {
    const std::string dataset = fmt::format("dataset PartType{}/{}", type, field);
    if (!options_.header) return fmt::format("{}: {}, particle id {}", options_.source, dataset, id);
    const SnapshotHeader& header = *options_.header;
    auto index = static_cast<Count>(place.index);
    std::size_t file = 0;
    for (; file + 1 < header.files.size() && index >= header.file_counts[file][type]; ++file)
      index -= header.file_counts[file][type];
    return fmt::format("{}: {}, particle {}, id {}", header.files[file], dataset, index, id);
  }

 private:
  const ValidationOptions& options_;
  std::uint64_t rank_;
  std::array<Count, particle_types> end_{}, offset_{};
};

/// All ranks throw what the rank with the least place says. Collective; a rank without fault has no message.
void throw_first(const Communicator& comm, const Place& place, const std::string& message) {
  const std::uint64_t type = comm.min(place.type);
  const std::uint64_t index = comm.min(place.type == type ? place.index : Place{}.index);
  comm.together([&] {
    if (!message.empty() && place == Place{type, index}) throw InputError(message);
  });
}

/// Calls check(i), which throws, for each particle, and reports the first fault of all ranks. Collective.
template <class Check>
void check_each(const Communicator& comm, const Particles& particles, const Places& places,
                const Check& check) {
  Place place;
  std::string message;
  for (std::size_t i = 0; i < particles.size() && message.empty(); ++i) try {
      check(i);
    } catch (const InputError& error) {
      place = places.of(particles, i), message = error.what();
    }
  throw_first(comm, place, message);
}

/// name(field): where the number stands; most: no component may be larger; unit: what its numbers count in,
/// for the message.
template <class Namer>
void check_vector(const Namer& name, const Particles& particles, std::size_t i, const Field<Vec3d>& field,
                  double most, std::string_view unit) {
  const Vec3d& value = (particles.*field.array)[i];
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(value[axis]))
      throw InputError(fmt::format("{}: ({}, {}, {}); expected finite numbers", name(field.info.name),
                                   value.x, value.y, value.z));
  if (const double largest = std::max({std::abs(value.x), std::abs(value.y), std::abs(value.z)});
      largest > most)
    throw InputError(fmt::format("{}: a component of {}; at most {} can be computed: choose a larger {}",
                                 name(field.info.name), largest, most, unit));
}

void check_energy(const Particles& particles, const Places& places, std::size_t i) {
  if (!particles.has_gas || particles.type[i] != gas_type) return;
  const double u = particles.internal_energy[i];
  if (!std::isfinite(u) || u < 0)
    throw InputError(fmt::format(
        "{}: an internal energy of {}; expected a number that is not negative",
        places.name(places.of(particles, i), gas_type, fields::internal_energy.info.name, particles.id[i]),
        u));
}

void check_values(const Particles& particles, const ValidationOptions& options, const Places& places,
                  std::size_t i) {
  const auto name = [&](std::string_view field) {
    return places.name(places.of(particles, i), particles.type[i], field, particles.id[i]);
  };
  check_vector(name, particles, i, fields::position, greatest_coordinate, "unit of length");
  check_vector(name, particles, i, fields::velocity, greatest_velocity, "unit of velocity");
  check_energy(particles, places, i);
  const double mass = particles.mass[i];
  const bool may_be_zero = options.tracer >> particles.type[i] & 1;
  const auto fail = [&](const std::string& right) {
    throw InputError(fmt::format("{}: a mass of {}; {}", name("Masses"), mass, right));
  };
  if (!std::isfinite(mass) || mass < 0) fail("expected a positive number");
  if (mass == 0 && !may_be_zero)
    fail(fmt::format("expected a positive number (zero only for types that {} names, here {})",
                     options.tracer_option, particles.type[i]));
  if (mass == 0 && particles.has_gas && particles.type[i] == gas_type)
    fail("expected a positive number of gas");
  if (mass > greatest_mass)
    fail(fmt::format("at most {} can be computed: choose a larger unit of mass", greatest_mass));
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
  Place place;
  std::uint8_t type;
  std::uint64_t hash() const { return mixed(id); }
  bool is_same(const IdKey& o) const { return id == o.id; }
  friend bool operator<(const IdKey& a, const IdKey& b) {
    return std::tie(a.id, a.place) < std::tie(b.id, b.place);
  }
};

/// Brings equal keys of all ranks together and reports pairs of them, to whichever rank. In pass k only keys
/// of hash class k travel, about `piece` from each rank, or an eighth of them: each pass looks at all.
/// Collective. make(i): key i of this rank's `count`; report(first, second): called for each neighbouring
/// pair.
template <class Key, class Make, class Report>
void find_pairs(const Communicator& comm, std::size_t count, Count piece, const Make& make,
                const Report& report) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  const Count most = comm.max(static_cast<Count>(count));
  const auto passes = static_cast<std::uint64_t>(std::min<Count>((most + piece - 1) / piece, 8));
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
    for (std::size_t k = 1; k < keys.size(); ++k)
      if (keys[k - 1].is_same(keys[k])) report(keys[k - 1], keys[k]);
  }
}

/// True if ids rise from particle to particle and from rank to rank, as in a file of Grove with one type:
/// then none occurs twice. Collective.
bool ids_rise(const Communicator& comm, std::span<const ParticleId> ids) {
  struct Range {
    ParticleId first, last;
    bool has_ids, rises;
  };
  Range own{0, 0, !ids.empty(),
            std::adjacent_find(ids.begin(), ids.end(), std::greater_equal{}) == ids.end()};
  if (own.has_ids) own.first = ids.front(), own.last = ids.back();
  std::optional<ParticleId> last;
  for (const Range& range : comm.all_gather(own)) {
    if (!range.rises || (range.has_ids && last && range.first <= *last)) return false;
    if (range.has_ids) last = range.last;
  }
  return true;
}

void check_coincidence(const Communicator& comm, const Particles& particles, const ValidationOptions& options,
                       Count piece) {
  std::vector<std::size_t> unsoftened;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (options.softening[particles.type[i]] == 0) unsoftened.push_back(i);
  std::string message;
  find_pairs<PositionKey>(
      comm, unsoftened.size(), piece,
      [&](std::size_t i) {
        return PositionKey(particles.position[unsoftened[i]], particles.id[unsoftened[i]]);
      },
      [&](const PositionKey& a, const PositionKey& b) {
        if (message.empty())
          message = fmt::format(
              "{}: dataset Coordinates: particles with id {} and {} are at the same position ({}, "
              "{}, {}); that "
              "needs a softening above 0 ({})",
              options.source, a.id, b.id, std::bit_cast<double>(a.x), std::bit_cast<double>(a.y),
              std::bit_cast<double>(a.z), options.softening_option);
      });
  comm.together([&] {
    if (!message.empty()) throw InputError(message);
  });
}

}  // namespace

void validate(const Communicator& comm, const Particles& particles, const ValidationOptions& options,
              Count piece) {
  std::array<Count, particle_types> counts{};
  for (const std::uint8_t type : particles.type) ++counts[type];
  comm.sum(std::span<Count>(counts));
  const Count total = std::accumulate(counts.begin(), counts.end(), Count{0});
  comm.together([&] {
    if (total == 0)
      throw InputError(fmt::format("{}: holds no particles; at least one is needed", options.source));
    if (options.leaves > total)
      throw InputError(fmt::format(
          "{}: {} leaves are asked for, but there {} only {}; ask for at most that many", options.source,
          options.leaves, total == 1 ? "is" : "are", how_many(total, "particle")));
    for (const double softening : options.softening)
      if (!(softening >= 0 && softening <= greatest_softening))
        throw InputError(fmt::format("{}: a softening of {}; expected a length from 0 to {}", options.source,
                                     softening, greatest_softening));
    require_softening(counts, options);
  });
  validate_values(comm, particles, options);
  validate_ids(comm, particles, options, piece);
  check_coincidence(comm, particles, options, piece);
}

void require_softening(const std::array<Count, particle_types>& counts, const ValidationOptions& options) {
  std::vector<std::string> missing;
  for (std::size_t type = 0; type < counts.size(); ++type)
    if (counts[type] > 0 && !(options.softened >> type & 1))
      missing.push_back(fmt::format("type {}, of which there {} {}", type, counts[type] == 1 ? "is" : "are",
                                    how_many(counts[type], "particle")));
  if (!missing.empty())
    throw InputError(fmt::format("{}: {} leaves out {}: give each type its length, or one length for all",
                                 options.source, options.softening_option, fmt::join(missing, " and ")));
}

void validate_values(const Communicator& comm, const Particles& particles, const ValidationOptions& options) {
  const Places places(comm, particles, options);
  check_each(comm, particles, places, [&](std::size_t i) { check_values(particles, options, places, i); });
}

void validate_ids(const Communicator& comm, const Particles& particles, const ValidationOptions& options,
                  Count piece) {
  if (ids_rise(comm, particles.id)) return;
  const Places places(comm, particles, options);
  Place first;
  std::string message;
  find_pairs<IdKey>(
      comm, particles.size(), piece,
      [&](std::size_t i) {
        return IdKey{particles.id[i], places.of(particles, i), particles.type[i]};
      },
      [&](const IdKey&, const IdKey& again) {
        if (again.place >= first) return;
        first = again.place;
        message = fmt::format("{}: occurs more than once; ids must be unique",
                              places.name(again.place, again.type, "ParticleIDs", again.id));
      });
  throw_first(comm, first, message);
}

bool is_box(const Vec3d& edges) {
  const double least = std::min({edges.x, edges.y, edges.z}), sum = edges.x + edges.y + edges.z;
  return least >= 0 && std::isfinite(sum);  // a sum with a nan is none
}

std::string text_of_box(const Vec3d& edges) {
  const auto text = [&](int axis) { return fmt::format("{:g}", edges[axis]); };
  if (text(0) == text(1) && text(1) == text(2)) return text(0);
  return fmt::format("({}, {}, {})", text(0), text(1), text(2));
}

void validate_box(const Communicator& comm, const Particles& particles, const ValidationOptions& options) {
  const Vec3d box = options.header->box_size;
  comm.together([&] {
    if (!is_box(box))
      throw InputError(fmt::format("{}: its header says box size {}; expected a length, or 0 for open space",
                                   options.source, text_of_box(box)));
  });
  const Places places(comm, particles, options);
  check_each(comm, particles, places, [&](std::size_t i) {
    const Vec3d& x = particles.position[i];
    for (int axis = 0; axis < 3; ++axis)
      if (box[axis] > 0 && !(x[axis] >= 0 && x[axis] <= box[axis]))
        throw InputError(fmt::format(
            "{}: ({}, {}, {}) is outside of the box from 0 to {}",
            places.name(places.of(particles, i), particles.type[i], "Coordinates", particles.id[i]), x.x, x.y,
            x.z, text_of_box(box)));
  });
}

void validate_units(const Units& units, const std::string& source) {
  if (units.is_dimensionless()) return;
  const double newton = Units::of(units.length_cm, units.mass_g, units.velocity_cm_s).gravitational_constant;
  const double stated = units.gravitational_constant;
  if (!(std::abs(stated - newton) <= 1e-3 * newton))
    throw InputError(fmt::format(
        "{}: says that the constant of gravity is {:g}; in its units of length, mass and velocity it is {:g}",
        source, stated, newton));
}

}  // namespace grove
