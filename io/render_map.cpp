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

}  // namespace

PixelMap::PixelMap(int pixels_of_side)
    : pixels(pixels_of_side), side((pixels + pixels / 4 + granule - 1) / granule * granule) {
  margin = (side - pixels) / 2;
}

PixelMap deposit(const Communicator& comm, const Particles& particles, const Frame& frame, int line_of_sight,
                 int pixels, int root) {
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
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if ((frame.types >> particles.type[i] & 1) == 0) continue;
    const Vec3d d = particles.position[i] - frame.centre;
    const double x = left + d[right] * per_length, y = left + d[up] * per_length;
    if (!(x >= 0 && y >= 0 && x < map.side - 1 && y < map.side - 1)) continue;
    const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
    const double fx = x - static_cast<double>(column), fy = y - static_cast<double>(row);
    const double weights[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
    const std::size_t first = row * side + column;
    const std::size_t targets[4] = {first, first + 1, first + side, first + side + 1};
    for (int k = 0; k < 4; ++k) {
      map.mass[targets[k]] += std::llround(particles.mass[i] * weights[k] * per_mass);
      map.number[targets[k]] += std::llround(weights[k] / PixelMap::number_unit);
    }
  }
  add_up(comm, root, map);
  return map;
}

}  // namespace grove
