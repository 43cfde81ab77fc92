#include "io/frame.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "comm/exact_sum.hpp"
#include "io/quantile.hpp"
#include "kernels/math/nearest_image.hpp"

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

Vec3d middle_of(const Images& box) { return 0.5 * box.edge * Vec3d{1, 1, 1}; }

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

/// A place, in a periodic box its image there.
Vec3d in_box(const Images& images, const Vec3d& place) {
  return images.are_open() ? place : Box::periodic(images.edge).wrapped(place);
}

/// Positions and masses of this rank's particles of these types.
struct Shown {
  std::vector<Vec3d> position;
  std::vector<double> mass;
  Count all = 0;  ///< of all ranks
  NearestImage nearest;

  Shown(const Communicator& comm, const Particles& particles, std::uint64_t types, const Images& images)
      : nearest(NearestImage::of(images)) {
    for (std::size_t i = 0; i < particles.size(); ++i) {
      if (!is_shown(types, particles.type[i])) continue;
      position.push_back(in_box(images, particles.position[i]));
      mass.push_back(particles.mass[i]);
    }
    all = comm.sum(static_cast<Count>(mass.size()));
  }
};

/// Centre of mass of the particles in a sphere, and how many these are.
struct Inside {
  Vec3d centre{};
  Count number = 0;
};

Inside inside(const Communicator& comm, const Shown& shown, const Vec3d& about, double radius) {
  std::vector<double> terms;
  Count number = 0;
  for (std::size_t i = 0; i < shown.position.size(); ++i) {
    const Vec3d d = shown.nearest(shown.position[i] - about);
    const double mass = shown.mass[i];
    if (norm2(d) > radius * radius) continue;
    ++number;
    for (const double term : {mass * d.x, mass * d.y, mass * d.z, mass}) terms.push_back(term);
  }
  const std::vector<double> sums = exact_sums(comm, terms, 4, std::max<Count>(1, shown.all));
  Inside result{about, comm.sum(number)};
  if (sums[3] > 0) result.centre += Vec3d{sums[0], sums[1], sums[2]} * (1 / sums[3]);
  return result;
}

/// The place in a periodic box whose phase on each axis is that of the mean of exp(2 pi i x / edge).
Vec3d mean_phase(const Communicator& comm, const Shown& shown, double edge) {
  const double k = 2 * std::numbers::pi / edge;
  std::vector<double> terms;
  for (std::size_t i = 0; i < shown.position.size(); ++i)
    for (int axis = 0; axis < 3; ++axis) {
      terms.push_back(shown.mass[i] * std::cos(k * shown.position[i][axis]));
      terms.push_back(shown.mass[i] * std::sin(k * shown.position[i][axis]));
    }
  const std::vector<double> sums = exact_sums(comm, terms, 6, std::max<Count>(1, shown.all));
  return {std::atan2(sums[1], sums[0]) / k, std::atan2(sums[3], sums[2]) / k,
          std::atan2(sums[5], sums[4]) / k};
}

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

Vec3d centre_of_mass(const Communicator& comm, const Particles& particles, std::uint64_t types,
                     const Images& images) {
  const Shown shown(comm, particles, types, images);
  const Vec3d about = images.are_open() ? Vec3d{} : mean_phase(comm, shown, images.edge);
  return in_box(images, inside(comm, shown, about, HUGE_VAL).centre);
}

Vec3d densest_place(const Communicator& comm, const Particles& particles, std::uint64_t types,
                    const Images& images) {
  constexpr int cells = 32;
  constexpr double shrink = 0.9;
  const Shown shown(comm, particles, types, images);
  if (shown.all == 0) return {};
  const bool is_open = images.are_open();
  const Vec3d about = is_open ? middle(comm, particles, types) : middle_of(images);
  const double edge = is_open ? width_about(comm, particles, types, about) : images.edge;
  Vec3d centre = fullest_cell(comm, shown.position, about - 0.5 * edge * Vec3d{1, 1, 1}, edge / cells, cells);
  const double first = 2 * edge / cells;
  const Count all = is_open ? shown.all : inside(comm, shown, centre, first).number;
  const Count enough = std::max<Count>(100, all / 100);
  for (double radius = first;; radius *= shrink) {
    const Inside now = inside(comm, shown, centre, radius);
    if (now.number == 0) break;
    centre = now.centre;
    if (now.number <= enough || radius < 1e-6 * edge) break;
  }
  return in_box(images, centre);
}

Frame frame_of(const Communicator& comm, const Particles& particles, const View& view, const Frame& before) {
  Frame frame = before;
  const bool is_first = before.width == 0;
  frame.types = is_first || view.types != 0 ? types_of(comm, particles, view) : before.types;
  if (view.width) frame.width = *view.width;
  if (view.centre_on == CentreOn::fixed) frame.centre = view.centre;
  if (view.centre_on == CentreOn::mass)
    frame.centre = centre_of_mass(comm, particles, frame.types, view.images);
  if (view.centre_on == CentreOn::densest)
    frame.centre = densest_place(comm, particles, frame.types, view.images);
  if (!view.images.are_open()) {
    if (view.centre_on == CentreOn::middle) frame.centre = middle_of(view.images);
    if (!view.width) frame.width = view.images.edge;
    return frame;
  }
  if (!is_first && holds_most(comm, particles, frame)) return frame;
  if (view.centre_on == CentreOn::middle) frame.centre = middle(comm, particles, frame.types);
  if (!view.width)
    frame.width = std::max(frame.width, width_about(comm, particles, frame.types, frame.centre));
  return frame;
}

}  // namespace grove
