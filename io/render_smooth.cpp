#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/render_map.hpp"

namespace grove {
namespace {

/// How many particles a Gaussian should cover.
constexpr double wanted = 40;
/// Standard deviations of the Gaussians in pixels: the first, and the factor between them.
constexpr double finest = 0.7, ratio = std::numbers::sqrt2;

using Image = std::vector<double>;

/// One running mean of 2 r + 1 pixels along rows (stride 1) or columns of a square; nothing lies outside.
void box_rows(const Image& in, Image& out, int side, int r) {
  const double share = 1.0 / (2 * r + 1);
  for (int row = 0; row < side; ++row) {
    const double* source = in.data() + static_cast<std::ptrdiff_t>(row) * side;
    double* target = out.data() + static_cast<std::ptrdiff_t>(row) * side;
    double sum = 0;
    for (int i = 0; i < std::min(r, side); ++i) sum += source[i];
    for (int i = 0; i < side; ++i) {
      if (i + r < side) sum += source[i + r];
      target[i] = sum * share;
      if (i - r >= 0) sum -= source[i - r];
    }
  }
}

void box_columns(const Image& in, Image& out, int side, int r) {
  const double share = 1.0 / (2 * r + 1);
  const auto row_of = [side](auto& image, int row) {
    return image.data() + static_cast<std::ptrdiff_t>(row) * side;
  };
  std::vector<double> sum(static_cast<std::size_t>(side), 0.0);
  const auto add = [&](int row, double sign) {
    if (row < 0 || row >= side) return;
    const double* source = row_of(in, row);
    for (int i = 0; i < side; ++i) sum[static_cast<std::size_t>(i)] += sign * source[i];
  };
  for (int row = 0; row < r; ++row) add(row, 1);
  for (int row = 0; row < side; ++row) {
    add(row + r, 1);
    double* target = row_of(out, row);
    for (int i = 0; i < side; ++i) target[i] = sum[static_cast<std::size_t>(i)] * share;
    add(row - r, -1);
  }
}

/// A Gaussian as three running means in each direction, whose variances (w^2 - 1) / 12 add up to sigma^2 as
/// nearly as odd widths allow (Wells 1986, IEEE PAMI 8, 234).
void blur(Image& image, Image& scratch, int side, double sigma) {
  int low = static_cast<int>(std::sqrt(4 * sigma * sigma + 1));
  if (low % 2 == 0) --low;
  const double count = (12 * sigma * sigma - 3 * low * low - 12 * low - 9) / (-4.0 * low - 4);
  const int narrow = std::clamp(static_cast<int>(std::lround(count)), 0, 3);
  for (int pass = 0; pass < 3; ++pass) {
    const int r = (pass < narrow ? low : low + 2) / 2;
    if (r == 0) continue;
    box_rows(image, scratch, side, r);
    box_columns(scratch, image, side, r);
  }
}

/// For each pixel with particles the level, as a real number, of the Gaussian that covers as many as wanted.
std::vector<float> choose_levels(const PixelMap& map, const std::vector<double>& sigmas, Image& scratch) {
  const std::size_t size = map.number.size();
  std::vector<float> level(size, -1);
  Image image(size), last(size, 0.0);
  for (std::size_t j = 0; j < sigmas.size(); ++j) {
    for (std::size_t i = 0; i < size; ++i)
      image[i] = static_cast<double>(map.number[i]) * PixelMap::number_unit;
    blur(image, scratch, map.side(), sigmas[j]);
    const double area = 4 * std::numbers::pi * sigmas[j] * sigmas[j];  // a Gaussian's effective one
    for (std::size_t i = 0; i < size; ++i) {
      if (map.number[i] == 0 || level[i] >= 0) continue;
      const double covered = image[i] * area;
      if (covered >= wanted)
        level[i] = j == 0 ? 0.0f
                          : static_cast<float>(j) -
                                static_cast<float>(std::log(covered / wanted) / std::log(covered / last[i]));
      last[i] = covered;
    }
  }
  return level;
}

}  // namespace

std::vector<double> smooth(const PixelMap& map) {
  const int side = map.side();
  const std::size_t size = map.mass.size();
  std::vector<double> sigmas;
  for (double sigma = finest; sigma < map.margin / 2.0; sigma *= ratio) sigmas.push_back(sigma);
  Image scratch(size), image(size), total(size, 0.0);
  std::vector<float> level = choose_levels(map, sigmas, scratch);
  const auto widest = static_cast<float>(sigmas.size() - 1);
  for (float& l : level)
    if (l < 0) l = widest;

  for (std::size_t j = 0; j < sigmas.size(); ++j) {
    for (std::size_t i = 0; i < size; ++i) {
      const float weight = std::max(0.0f, 1 - std::abs(level[i] - static_cast<float>(j)));
      image[i] = static_cast<double>(map.mass[i]) * map.mass_unit * weight;
    }
    blur(image, scratch, side, sigmas[j]);
    for (std::size_t i = 0; i < size; ++i) total[i] += std::max(image[i], 0.0);
  }

  std::vector<double> picture;
  picture.reserve(static_cast<std::size_t>(map.pixels) * static_cast<std::size_t>(map.pixels));
  for (int row = 0; row < map.pixels; ++row) {
    const auto begin = total.begin() + static_cast<std::ptrdiff_t>(row + map.margin) * side + map.margin;
    picture.insert(picture.end(), begin, begin + map.pixels);
  }
  return picture;
}

}  // namespace grove
