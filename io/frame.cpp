#include "io/frame.hpp"

#include <algorithm>
#include <cmath>

#include "comm/exact_sum.hpp"
#include "io/quantile.hpp"

namespace grove {
namespace {

constexpr std::uint64_t stars = 0b011100;

bool is_shown(std::uint64_t types, std::uint8_t type) { return (types >> type & 1) != 0; }

/// Values of this rank's particles of these types.
template <class F>
std::vector<double> values_of(const Particles& particles, std::uint64_t types, const F& value_of) {
  std::vector<double> values;
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (is_shown(types, particles.type[i])) values.push_back(value_of(particles.position[i]));
  return values;
}

std::uint64_t types_of(const Communicator& comm, const Particles& particles, const View& view) {
  if (view.types != 0) return view.types;
  const bool any = std::any_of(particles.type.begin(), particles.type.end(),
                               [](std::uint8_t type) { return is_shown(stars, type); });
  return comm.max(any ? 1 : 0) != 0 ? stars : std::uint64_t{all_types};
}

/// The mean of all ranks' values without the lowest and highest tenth: steady for a sphere of heavy tails,
/// and in the middle of two galaxies.
double trimmed_mean(const Communicator& comm, const std::vector<double>& values) {
  const double low = quantile(comm, values, 0.1), high = quantile(comm, values, 0.9);
  Count number = 0, sum = 0;
  const double unit = (high - low) * 0x1p-30;  // room for 2^33 particles
  for (const double v : values)
    if (v >= low && v <= high) {
      ++number;
      sum += unit > 0 ? std::llround((v - low) / unit) : 0;
    }
  number = comm.sum(number);
  sum = comm.sum(sum);
  return number > 0 ? low + unit * static_cast<double>(sum) / static_cast<double>(number) : 0.0;
}

Vec3d middle(const Communicator& comm, const Particles& particles, std::uint64_t types) {
  Vec3d centre;
  for (int axis = 0; axis < 3; ++axis)
    centre[axis] =
        trimmed_mean(comm, values_of(particles, types, [axis](const Vec3d& p) { return p[axis]; }));
  return centre;
}

double half_edge(const Vec3d& d) { return std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}); }

/// Twice the edge of the cube about a centre that holds 90 % of the particles.
double width_about(const Communicator& comm, const Particles& particles, std::uint64_t types,
                   const Vec3d& centre) {
  const double half =
      quantile(comm, values_of(particles, types, [&](const Vec3d& p) { return half_edge(p - centre); }), 0.9);
  return half > 0 ? 4 * half : 1.0;
}

bool holds_most(const Communicator& comm, const Particles& particles, const Frame& frame) {
  std::array<Count, 2> counts{};
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (!is_shown(frame.types, particles.type[i])) continue;
    ++counts[0];
    if (half_edge(particles.position[i] - frame.centre) <= 0.5 * frame.width) ++counts[1];
  }
  comm.sum(std::span<Count>(counts));
  return 4 * counts[1] >= 3 * counts[0];
}

/// Centre of mass of the particles of these types in a sphere, and how many these are.
struct Inside {
  Vec3d centre{};
  Count number = 0;
};

Inside inside(const Communicator& comm, const std::vector<Vec3d>& positions,
              const std::vector<double>& masses, const Vec3d& about, double radius, Count most) {
  std::vector<double> terms;
  Count number = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Vec3d d = positions[i] - about;
    if (norm2(d) > radius * radius) continue;
    ++number;
    for (const double term : {masses[i] * d.x, masses[i] * d.y, masses[i] * d.z, masses[i]})
      terms.push_back(term);
  }
  const std::vector<double> sums = exact_sums(comm, terms, 4, std::max<Count>(1, most));
  Inside result{about, comm.sum(number)};
  if (sums[3] > 0) result.centre += Vec3d{sums[0], sums[1], sums[2]} * (1 / sums[3]);
  return result;
}

/// Positions and masses of this rank's particles of these types.
struct Shown {
  std::vector<Vec3d> position;
  std::vector<double> mass;
  Count all = 0;  ///< of all ranks

  Shown(const Communicator& comm, const Particles& particles, std::uint64_t types) {
    for (std::size_t i = 0; i < particles.size(); ++i) {
      if (!is_shown(types, particles.type[i])) continue;
      position.push_back(particles.position[i]);
      mass.push_back(particles.mass[i]);
    }
    all = comm.sum(static_cast<Count>(mass.size()));
  }
};

/// The middle of the cell of a cube that holds most particles.
Vec3d fullest_cell(const Communicator& comm, const std::vector<Vec3d>& positions, const Vec3d& corner,
                   double cell, int cells) {
  std::vector<Count> counts(static_cast<std::size_t>(cells * cells * cells), 0);
  for (const Vec3d& position : positions) {
    const Vec3d at = (position - corner) * (1 / cell);
    if (at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < cells && at.y < cells && at.z < cells)
      ++counts[static_cast<std::size_t>((static_cast<int>(at.x) * cells + static_cast<int>(at.y)) * cells +
                                        static_cast<int>(at.z))];
  }
  comm.sum(std::span<Count>(counts));
  const auto fullest = static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  return corner +
         cell * Vec3d{fullest / (cells * cells) + 0.5, fullest / cells % cells + 0.5, fullest % cells + 0.5};
}

}  // namespace

Vec3d centre_of_mass(const Communicator& comm, const Particles& particles, std::uint64_t types) {
  const Shown shown(comm, particles, types);
  return inside(comm, shown.position, shown.mass, {}, HUGE_VAL, shown.all).centre;
}

Vec3d densest_place(const Communicator& comm, const Particles& particles, std::uint64_t types) {
  constexpr int cells = 32;
  constexpr double shrink = 0.9;
  Shown shown(comm, particles, types);
  if (shown.all == 0) return {};
  const Vec3d about = middle(comm, particles, types);
  const double edge = width_about(comm, particles, types, about);
  Vec3d centre = fullest_cell(comm, shown.position, about - 0.5 * edge * Vec3d{1, 1, 1}, edge / cells, cells);
  const Count enough = std::max<Count>(100, shown.all / 100);
  for (double radius = 2 * edge / cells;; radius *= shrink) {
    const Inside now = inside(comm, shown.position, shown.mass, centre, radius, shown.all);
    if (now.number == 0) return centre;
    centre = now.centre;
    if (now.number <= enough || radius < 1e-6 * edge) return centre;
  }
}

Frame frame_of(const Communicator& comm, const Particles& particles, const View& view, const Frame& before) {
  Frame frame = before;
  const bool is_first = before.width == 0;
  frame.types = is_first || view.types != 0 ? types_of(comm, particles, view) : before.types;
  if (view.width) frame.width = *view.width;
  if (view.centre_on == CentreOn::fixed) frame.centre = view.centre;
  if (view.centre_on == CentreOn::mass) frame.centre = centre_of_mass(comm, particles, frame.types);
  if (view.centre_on == CentreOn::densest) frame.centre = densest_place(comm, particles, frame.types);
  if (!is_first && holds_most(comm, particles, frame)) return frame;
  if (view.centre_on == CentreOn::middle) frame.centre = middle(comm, particles, frame.types);
  if (!view.width)
    frame.width = std::max(frame.width, width_about(comm, particles, frame.types, frame.centre));
  return frame;
}

}  // namespace grove
