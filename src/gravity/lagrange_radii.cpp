#include "gravity/lagrange_radii.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/vec3.hpp"

namespace grove {
namespace {

// Masses are added as integers, m times a power of two that makes the sum of all less than 2^62: so sums do
// not depend on their order.

/// A mass, or a part of one, as an integer.
std::int64_t as_integer(double mass, double scale) { return std::llrint(mass * scale); }

/// Distance from a centre. The bits of floats that are not negative are in the order of the floats.
float radius_from(const Vec3d& centre, const Vec3d& position) {
  return static_cast<float>(norm(position - centre));
}

/// The particle of lowest potential of those with mass, the lowest id of several.
struct DeepestParticle {
  float potential = std::numeric_limits<float>::infinity();
  ParticleId id = ~ParticleId{0};
  Vec3d position{};

  static DeepestParticle of_particle(ParticleId id, double mass, const Vec3d& position, float potential) {
    return mass > 0 ? DeepestParticle{potential, id, position} : DeepestParticle{};
  }
  /// The deeper one.
  friend DeepestParticle operator+(const DeepestParticle& a, const DeepestParticle& b) {
    const bool is_first = a.potential < b.potential || (a.potential == b.potential && a.id < b.id);
    return is_first ? a : b;
  }
};

/// Mass within a radius, and its first moment about the centre in units of that radius, as integers.
struct EnclosedMass {
  std::int64_t mass = 0, x = 0, y = 0, z = 0;

  /// distance: radius_from() the centre.
  static EnclosedMass of_particle(double mass, const Vec3d& position, float distance, const Vec3d& centre,
                                  float radius, double scale) {
    if (!(distance <= radius)) return {};
    const Vec3d place = (1 / static_cast<double>(radius)) * (position - centre);
    return {as_integer(mass, scale), as_integer(mass * place.x, scale), as_integer(mass * place.y, scale),
            as_integer(mass * place.z, scale)};
  }
  friend EnclosedMass operator+(const EnclosedMass& a, const EnclosedMass& b) {
    return {a.mass + b.mass, a.x + b.x, a.y + b.y, a.z + b.z};
  }
};

/// Particles whose radius, as bits, begins with these, of one type or of all.
struct RadiusRow {
  std::uint32_t prefix = 0;  ///< the bits above the digit, which are 0 below
  std::int32_t type = -1;    ///< -1: all

  friend bool operator==(const RadiusRow&, const RadiusRow&) = default;
};

constexpr int radius_digit_bits = 8, radius_digits = 1 << radius_digit_bits;

/// The digit of a radius in a row: bits low .. low + radius_digit_bits - 1; -1: it is not of that row.
int radius_digit(std::uint32_t bits, int type, const RadiusRow& row, int low) {
  const int high = low + radius_digit_bits;
  const bool is_wanted =
      (row.type < 0 || row.type == type) && (high == 32 || bits >> high == row.prefix >> high);
  return is_wanted ? static_cast<int>(bits >> low & (radius_digits - 1)) : -1;
}

/// Masses of the particles of this rank, by radius.
class RadialMasses {
 public:
  explicit RadialMasses(const Particles& particles) : p_(particles), radius_(particles.size()) {}

  DeepestParticle deepest() const {
    DeepestParticle deepest;
    for (std::size_t i = 0; i < p_.size(); ++i)
      deepest = deepest + DeepestParticle::of_particle(p_.id[i], p_.mass[i], p_.position[i], p_.potential[i]);
    return deepest;
  }
  /// Distances from there are what the next calls go by.
  void measure_from(const Vec3d& centre) {
    centre_ = centre;
    for (std::size_t i = 0; i < p_.size(); ++i) radius_[i] = radius_from(centre, p_.position[i]);
  }
  EnclosedMass enclosed(float radius, double scale) const {
    EnclosedMass sum;
    for (std::size_t i = 0; i < p_.size(); ++i)
      sum = sum + EnclosedMass::of_particle(p_.mass[i], p_.position[i], radius_[i], centre_, radius, scale);
    return sum;
  }
  /// The sum of as_integer() by row and digit.
  std::vector<std::int64_t> by_digit(std::span<const RadiusRow> rows, int low, double scale) const {
    std::vector<std::int64_t> sums(rows.size() * radius_digits, 0);
    for (std::size_t i = 0; i < p_.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(radius_[i]);
      for (std::size_t row = 0; row < rows.size(); ++row)
        if (const int digit = radius_digit(bits, p_.type[i], rows[row], low); digit >= 0)
          sums[row * radius_digits + static_cast<std::size_t>(digit)] += as_integer(p_.mass[i], scale);
    }
    return sums;
  }

 private:
  const Particles& p_;
  Array<float> radius_;
  Vec3d centre_{};
};

/// A radius that is looked for.
struct WantedRadius {
  std::int32_t type;  ///< -1: all
  int percent;
  std::uint32_t prefix = 0;  ///< its bits, as far as they are known
  std::int64_t mass = 0;     ///< to be had from there on
  bool exists = true;
};

/// The scale of as_integer(): the sum of all masses, which total_mass has but for its rounding, becomes less
/// than 2^62.
double integer_scale(double total_mass) { return std::ldexp(1.0, 60 - std::ilogb(total_mass)); }

/// The next digit of each. masses: by digit, in the row of the wanted radius.
void find_digit(WantedRadius& wanted, std::span<const std::int64_t> masses, int low) {
  if (low + radius_digit_bits == 32) {
    std::int64_t all = 0;
    for (const std::int64_t mass : masses) all += mass;
    wanted.exists = all > 0;
    // Rounded up, without overflow: all = 100 q + r.
    wanted.mass = all / 100 * wanted.percent + (all % 100 * wanted.percent + 99) / 100;
  }
  if (!wanted.exists) return;
  std::uint32_t digit = 0;
  while (wanted.mass > masses[digit]) wanted.mass -= masses[digit++];
  wanted.prefix |= digit << low;
}

/// Finds all of them, from the highest digit of their bits down.
void select(const Communicator& comm, const RadialMasses& masses, double scale,
            std::vector<WantedRadius>& all) {
  for (int low = 32 - radius_digit_bits; low >= 0; low -= radius_digit_bits) {
    std::vector<RadiusRow> rows;
    const auto row_of = [&](const WantedRadius& wanted) {
      return std::find(rows.begin(), rows.end(), RadiusRow{wanted.prefix, wanted.type});
    };
    for (const WantedRadius& wanted : all)
      if (wanted.exists && row_of(wanted) == rows.end()) rows.push_back({wanted.prefix, wanted.type});
    std::vector<std::int64_t> sums = masses.by_digit(rows, low, scale);
    comm.sum(std::span<std::int64_t>(sums));
    for (WantedRadius& wanted : all)
      if (wanted.exists)
        find_digit(
            wanted,
            std::span<const std::int64_t>(sums).subspan(
                static_cast<std::size_t>(row_of(wanted) - rows.begin()) * radius_digits, radius_digits),
            low);
  }
}

Vec3d densest_point(const Communicator& comm, RadialMasses& masses, double scale) {
  DeepestParticle deepest;
  for (const DeepestParticle& of_rank : comm.all_gather(masses.deepest())) deepest = deepest + of_rank;
  Vec3d centre = deepest.position;
  masses.measure_from(centre);
  std::vector<WantedRadius> tenth{{-1, 10}};
  select(comm, masses, scale, tenth);
  const auto radius = std::bit_cast<float>(tenth[0].prefix);
  if (!tenth[0].exists || !(radius > 0)) return centre;
  for (int shift = 0; shift < 3; ++shift) {
    const EnclosedMass own = masses.enclosed(radius, scale);
    std::array<std::int64_t, 4> sum{own.mass, own.x, own.y, own.z};
    comm.sum(std::span<std::int64_t>(sum));
    if (sum[0] <= 0) break;
    const double unit = static_cast<double>(radius) / static_cast<double>(sum[0]);
    centre +=
        unit * Vec3d{static_cast<double>(sum[1]), static_cast<double>(sum[2]), static_cast<double>(sum[3])};
    masses.measure_from(centre);
  }
  return centre;
}

}  // namespace

LagrangeRadii LagrangeRadii::none() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  LagrangeRadii radii;
  radii.centre = {nan, nan, nan};
  radii.all.fill(nan);
  radii.by_type.fill(radii.all);
  return radii;
}

LagrangeRadii lagrange_radii(const Communicator& comm, const Particles& particles, double total_mass) {
  LagrangeRadii radii = LagrangeRadii::none();
  if (!(total_mass > 0 && std::isfinite(total_mass))) return radii;
  RadialMasses masses(particles);
  const double scale = integer_scale(total_mass);
  radii.centre = densest_point(comm, masses, scale);
  std::vector<WantedRadius> wanted;
  for (std::int32_t type = -1; type < particle_types; ++type)
    for (const int percent : LagrangeRadii::percent) wanted.push_back({type, percent});
  select(comm, masses, scale, wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].exists) continue;
    const std::size_t column = i % radii.all.size();
    auto& of = wanted[i].type < 0 ? radii.all : radii.by_type[static_cast<std::size_t>(wanted[i].type)];
    of[column] = static_cast<double>(std::bit_cast<float>(wanted[i].prefix));
  }
  return radii;
}

bool is_read_by_lagrange_radii(const FieldInfo& info) {
  return info.name == fields::id.info.name || info.name == fields::mass.info.name ||
         info.name == fields::position.info.name || info.name == fields::potential.info.name ||
         info.name == fields::type.info.name;
}

}  // namespace grove
