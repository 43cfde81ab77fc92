#include "io/render_map.hpp"

#include <algorithm>
#include <cmath>

#include "comm/at_root.hpp"

namespace grove {

namespace {

/// A pixel that has particles.
struct PixelContent {
  std::int64_t pixel, mass, number;
};

/// Sums over all ranks, on one: of the pixels that have particles if these are few, else of all.
void add_up(const Communicator& comm, int root, PixelMap& map) {
  std::vector<PixelContent> own;
  for (std::size_t i = 0; i < map.number.size(); ++i)
    if (map.mass[i] != 0 || map.number[i] != 0)
      own.push_back({static_cast<std::int64_t>(i), map.mass[i], map.number[i]});
  const bool are_few = comm.sum(static_cast<Count>(own.size())) < static_cast<Count>(map.number.size()) / 2;
  if (are_few) {
    const std::vector<PixelContent> all = gather_at(comm, root, std::span<const PixelContent>(own));
    std::fill(map.mass.begin(), map.mass.end(), 0);
    std::fill(map.number.begin(), map.number.end(), 0);
    for (const PixelContent& content : all) {
      map.mass[static_cast<std::size_t>(content.pixel)] += content.mass;
      map.number[static_cast<std::size_t>(content.pixel)] += content.number;
    }
  } else {
    sum_at(comm, root, std::span<std::int64_t>(map.mass));
    sum_at(comm, root, std::span<std::int64_t>(map.number));
  }
  if (comm.rank() != root) map.mass = {}, map.number = {};
}

/// Shares a particle between its four nearest pixels. x, y: in pixels from the middle of the map's first one.
/// mass: in units of the map.
void add(PixelMap& map, double x, double y, double mass) {
  const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y),
             side = static_cast<std::size_t>(map.side);
  const double fx = x - static_cast<double>(column), fy = y - static_cast<double>(row);
  const double weights[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
  const std::size_t first = row * side + column;
  const std::size_t targets[4] = {first, first + 1, first + side, first + side + 1};
  for (int k = 0; k < 4; ++k) {
    map.mass[targets[k]] += std::llround(mass * weights[k]);
    map.number[targets[k]] += std::llround(weights[k] / PixelMap::number_unit);
  }
}

/// Calls f with the images of x, whole periods apart, that are from 0 to below the end. Period 0: there is
/// but x.
template <class F>
void for_each_image(double x, double period, double end, const F& f) {
  if (period > 0)
    for (double image = std::max(0.0, x - period * std::floor(x / period)); image < end; image += period)
      f(image);
  else if (x >= 0 && x < end)
    f(x);
}

}  // namespace

PixelMap::PixelMap(int pixels_of_side)
    : pixels(pixels_of_side), side((pixels + pixels / 4 + granule - 1) / granule * granule) {
  margin = (side - pixels) / 2;
}

PixelMap deposit(const Communicator& comm, const Particles& particles, const Frame& frame, int line_of_sight,
                 int pixels, int root, const Images& images) {
  PixelMap map(pixels);
  const auto side = static_cast<std::size_t>(map.side);
  map.mass.assign(side * side, 0);
  map.number.assign(side * side, 0);

  double heaviest = 0;
  for (const double m : particles.mass) heaviest = std::max(heaviest, m);
  const auto total = static_cast<double>(comm.sum(static_cast<Count>(particles.size())));
  // No sum reaches 2^61. A power of two, so that masses are scaled without rounding; its inverse is finite,
  // also where nothing has mass.
  const int exponent = std::ilogb(std::max(comm.max(heaviest) * std::max(total, 1.0), 1e-280)) + 1 - 61;
  map.mass_unit = std::ldexp(1.0, exponent);
  const double per_mass = std::ldexp(1.0, -exponent);

  const auto [right, up] = panel_axes(line_of_sight);
  const double per_length = map.pixels / frame.width;
  const double left = map.margin + 0.5 * map.pixels - 0.5;  // of pixel centres
  const double period = images.edge * per_length, end = map.side - 1;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if ((frame.types >> particles.type[i] & 1) == 0) continue;
    const Vec3d& place = particles.position[i];
    // As snapshots have it, so that the picture of one is that of the run.
    const Vec3d d = (images.are_open() ? place : Box::periodic(images.edge).wrapped(place)) - frame.centre;
    const double mass = particles.mass[i] * per_mass;
    for_each_image(left + d[up] * per_length, period, end, [&](double y) {
      for_each_image(left + d[right] * per_length, period, end, [&](double x) { add(map, x, y, mass); });
    });
  }
  add_up(comm, root, map);
  return map;
}

}  // namespace grove
