#include "io/render_map.hpp"

#include <algorithm>
#include <cmath>

namespace grove {
namespace {

constexpr std::uint8_t stars = 0b011100;

bool is_shown(const View& view, std::uint8_t type) { return (view.types >> type & 1) != 0; }

/// The value below which a fraction of all ranks' values lie, to 2^-30 of their span: each pass counts them
/// in the bins of the one bin that matters.
double quantile(const Communicator& comm, const std::vector<double>& values, double fraction) {
  constexpr int bins = 1024, passes = 3;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double v : values) low = std::min(low, v), high = std::max(high, v);
  low = comm.min(low);
  high = comm.max(high);
  const auto total = static_cast<double>(comm.sum(static_cast<Count>(values.size())));
  if (!(high > low)) return total > 0 ? low : 0.0;
  double below = 0;
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<Count> counts(bins, 0);
    const double width = (high - low) / bins;
    for (const double v : values)
      if (v >= low && v <= high) ++counts[static_cast<std::size_t>(std::min((v - low) / width, bins - 1.0))];
    comm.sum(std::span<Count>(counts));
    std::size_t bin = 0;
    while (bin + 1 < bins && below + static_cast<double>(counts[bin]) < fraction * total)
      below += static_cast<double>(counts[bin++]);
    low += static_cast<double>(bin) * width;
    high = low + width;
    if (!(low + width / bins > low)) break;  // as fine as doubles go
  }
  return low;
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

}  // namespace

View fit_view(const Communicator& comm, const Particles& particles, View view) {
  if (view.types == 0) {
    const bool any = std::any_of(particles.type.begin(), particles.type.end(),
                                 [](std::uint8_t type) { return (stars >> type & 1) != 0; });
    view.types = comm.max(any ? 1 : 0) != 0 ? stars : all_types;
  }
  const auto shown = [&](auto&& value_of) {
    std::vector<double> values;
    for (std::size_t i = 0; i < particles.size(); ++i)
      if (is_shown(view, particles.type[i])) values.push_back(value_of(particles.position[i]));
    return values;
  };
  if (!view.centre) {
    Vec3d centre;
    for (int axis = 0; axis < 3; ++axis)
      centre[axis] = trimmed_mean(comm, shown([axis](const Vec3d& p) { return p[axis]; }));
    view.centre = centre;
  }
  if (!view.width) {
    const int right = (view.axis + 1) % 3, up = (view.axis + 2) % 3;
    const double half = quantile(comm, shown([&](const Vec3d& p) {
                                   const Vec3d d = p - *view.centre;
                                   return std::max(std::abs(d[right]), std::abs(d[up]));
                                 }),
                                 0.9);
    view.width = half > 0 ? 4 * half : 1.0;
  }
  return view;
}

PixelMap deposit(const Communicator& comm, const Particles& particles, const View& view) {
  PixelMap map;
  map.pixels = view.pixels;
  map.margin = view.pixels / 8;
  const auto side = static_cast<std::size_t>(map.side());
  map.mass.assign(side * side, 0);
  map.number.assign(side * side, 0);

  double heaviest = 0;
  for (const double m : particles.mass) heaviest = std::max(heaviest, m);
  const auto total = static_cast<double>(comm.sum(static_cast<Count>(particles.size())));
  // No sum reaches 2^61. A power of two, so that masses are scaled without rounding.
  const int exponent = std::ilogb(std::max(comm.max(heaviest) * std::max(total, 1.0), 1e-300)) + 1 - 61;
  map.mass_unit = std::ldexp(1.0, exponent);

  const int right = (view.axis + 1) % 3, up = (view.axis + 2) % 3;
  const double per_length = view.pixels / *view.width;
  const double middle = 0.5 * map.side() - 0.5;  // of pixel centres
  for (std::size_t i = 0; i < particles.size(); ++i) {
    if (!is_shown(view, particles.type[i])) continue;
    const Vec3d d = particles.position[i] - *view.centre;
    const double x = middle + d[right] * per_length, y = middle + d[up] * per_length;
    if (!(x >= 0 && y >= 0 && x < map.side() - 1 && y < map.side() - 1)) continue;
    const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
    const double fx = x - static_cast<double>(column), fy = y - static_cast<double>(row);
    const double weights[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
    const std::size_t targets[4] = {row * side + column, row * side + column + 1, (row + 1) * side + column,
                                    (row + 1) * side + column + 1};
    for (int k = 0; k < 4; ++k) {
      map.mass[targets[k]] += std::llround(std::ldexp(particles.mass[i] * weights[k], -exponent));
      map.number[targets[k]] += std::llround(weights[k] / PixelMap::number_unit);
    }
  }
  comm.sum(std::span<std::int64_t>(map.mass));
  comm.sum(std::span<std::int64_t>(map.number));
  if (!comm.is_master()) map.mass = {}, map.number = {};
  return map;
}

}  // namespace grove
