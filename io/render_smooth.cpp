#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/array.hpp"
#include "io/render_map.hpp"

namespace grove {
namespace {

/// How many particles a Gaussian should cover.
constexpr float wanted = 40;
/// Standard deviations of the Gaussians in pixels: the first, and the factor between them.
constexpr double finest = 0.7, ratio = std::numbers::sqrt2;
/// Those that are taken at full resolution; two more at each coarser one, where they are 1.4 and 2 wide
/// again.
constexpr int at_full_resolution = 4, at_each_coarser = 2;

/// Numbers on a square, which are anything until they are written.
struct Square {
  explicit Square(int n) : side(n), values(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {}
  int side;
  Array<float> values;

  float* row(int i) { return values.data() + static_cast<std::ptrdiff_t>(i) * side; }
  const float* row(int i) const { return values.data() + static_cast<std::ptrdiff_t>(i) * side; }
};

Square zeros(int side) {
  Square square(side);
  std::fill(square.values.begin(), square.values.end(), 0.0f);
  return square;
}

/// A Gaussian of the series.
struct Level {
  double sigma;  ///< in pixels
  int halvings;  ///< of the resolution at which it is taken
};

/// The series, up to Gaussians that reach into the picture from all of its margin.
std::vector<Level> levels_of(const PixelMap& map) {
  std::vector<Level> levels;
  double sigma = finest;
  for (int j = 0; j == 0 || sigma < map.pixels / 16.0; ++j, sigma *= ratio) {
    const int coarser = j < at_full_resolution ? 0 : 1 + (j - at_full_resolution) / at_each_coarser;
    if (PixelMap::granule >> coarser == 0) break;
    levels.push_back({sigma, coarser});
  }
  return levels;
}

/// Half the resolution: each number is shared among the four coarse ones around it so that sums and centres
/// of mass stay, but for the edge.
Square halved(const Square& fine) {
  Square coarse(fine.side / 2);
  std::vector<float> column(static_cast<std::size_t>(fine.side) + 2, 0.0f);  // with nothing at both ends
  const std::vector<float> nothing(static_cast<std::size_t>(fine.side), 0.0f);
  for (int i = 0; i < coarse.side; ++i) {
    const float* rows[] = {i > 0 ? fine.row(2 * i - 1) : nothing.data(), fine.row(2 * i), fine.row(2 * i + 1),
                           2 * i + 2 < fine.side ? fine.row(2 * i + 2) : nothing.data()};
    float* sum = column.data() + 1;
    for (int k = 0; k < fine.side; ++k)
      sum[k] = 0.25f * (rows[0][k] + rows[3][k]) + 0.75f * (rows[1][k] + rows[2][k]);
    float* out = coarse.row(i);
    for (int k = 0; k < coarse.side; ++k)
      out[k] = 0.25f * (sum[2 * k - 1] + sum[2 * k + 2]) + 0.75f * (sum[2 * k] + sum[2 * k + 1]);
  }
  return coarse;
}

/// Twice the resolution, in between by linear interpolation; each number is shared among fine ones, so that
/// sums stay, but for the edge.
Square doubled(const Square& coarse) {
  const auto blend = [](const float* near, const float* far, int k, int other) {
    return 0.75f * (0.75f * near[k] + 0.25f * near[other]) + 0.25f * (0.75f * far[k] + 0.25f * far[other]);
  };
  Square fine(2 * coarse.side);
  const int last = coarse.side - 1;
  for (int i = 0; i < fine.side; ++i) {
    const int half = i / 2;
    const float *near = coarse.row(half), *far = coarse.row(std::clamp(i % 2 ? half + 1 : half - 1, 0, last));
    float* out = fine.row(i);
    for (int k = 0; k <= last; ++k) {
      out[2 * k] = 0.25f * blend(near, far, k, std::max(k - 1, 0));
      out[2 * k + 1] = 0.25f * blend(near, far, k, std::min(k + 1, last));
    }
  }
  return fine;
}

/// A Gaussian in each direction, cut at 3.5 standard deviations; nothing lies outside.
class Blur {
 public:
  explicit Blur(double sigma) : radius_(static_cast<int>(std::ceil(3.5 * sigma))) {
    std::vector<double> weights;
    double sum = 0;
    for (int i = -radius_; i <= radius_; ++i)
      sum += weights.emplace_back(std::exp(-0.5 * i * i / (sigma * sigma)));
    for (const double weight : weights) weights_.push_back(static_cast<float>(weight / sum));
  }

  void operator()(Square& image, Square& scratch) const {
    const int side = image.side;
    std::vector<float> padded(static_cast<std::size_t>(side + 2 * radius_), 0.0f);
    for (int i = 0; i < side; ++i) {  // along rows
      std::copy_n(image.row(i), side, padded.begin() + radius_);
      std::fill_n(scratch.row(i), side, 0.0f);
      for (int tap = 0; tap <= 2 * radius_; ++tap) add(padded.data() + tap, tap, scratch.row(i), side);
    }
    for (int i = 0; i < side; ++i) {  // along columns
      std::fill_n(image.row(i), side, 0.0f);
      for (int tap = 0; tap <= 2 * radius_; ++tap)
        if (const int from = i + tap - radius_; from >= 0 && from < side)
          add(scratch.row(from), tap, image.row(i), side);
    }
  }

 private:
  void add(const float* source, int tap, float* target, int count) const {
    const float weight = weights_[static_cast<std::size_t>(tap)];
    for (int k = 0; k < count; ++k) target[k] += weight * source[k];
  }

  int radius_;
  std::vector<float> weights_;
};

/// The blur of a level at its own resolution. Halving and doubling spread by 3/4 each of the finer pixels^2,
/// so by (4^h - 1) / 2 in all.
Blur blur_of(const Level& level) {
  const double fourth = std::exp2(2 * level.halvings);
  return Blur(std::sqrt((level.sigma * level.sigma - (fourth - 1) / 2) / fourth));
}

/// A pixel with particles.
struct LitPixel {
  std::uint32_t pixel;
  float mass;
  float level;    ///< of the series, as a real number, that covers as many particles as wanted
  float covered;  ///< by the level before
};

std::vector<LitPixel> lit_pixels(const PixelMap& map, float widest) {
  std::vector<LitPixel> lit;
  for (std::size_t i = 0; i < map.number.size(); ++i)
    if (map.number[i] > 0)
      lit.push_back({static_cast<std::uint32_t>(i),
                     static_cast<float>(static_cast<double>(map.mass[i]) * map.mass_unit), widest, 0});
  return lit;
}

/// A coarse image at a pixel of the finest resolution, by linear interpolation.
float sample(const Square& image, int halvings, int column, int row) {
  const float scale = std::ldexp(1.0f, -halvings), last = static_cast<float>(image.side - 1);
  const auto place = [&](int i) {
    return std::clamp((static_cast<float>(i) + 0.5f) * scale - 0.5f, 0.0f, last);
  };
  const float x = place(column), y = place(row);
  const int left = std::min(static_cast<int>(x), image.side - 2),
            low = std::min(static_cast<int>(y), image.side - 2);
  const float fx = x - static_cast<float>(left), fy = y - static_cast<float>(low);
  const float *below = image.row(low) + left, *above = image.row(low + 1) + left;
  return (1 - fy) * ((1 - fx) * below[0] + fx * below[1]) + fy * ((1 - fx) * above[0] + fx * above[1]);
}

void choose_levels(const PixelMap& map, const std::vector<Level>& levels, std::vector<LitPixel>& lit) {
  Square number(map.side);
  for (std::size_t i = 0; i < map.number.size(); ++i)
    number.values[i] = static_cast<float>(static_cast<double>(map.number[i]) * PixelMap::number_unit);
  std::vector<std::uint32_t> open(lit.size());
  std::iota(open.begin(), open.end(), 0u);
  for (std::size_t j = 0; j < levels.size() && !open.empty(); ++j) {
    const int halvings = levels[j].halvings;
    while (number.side > map.side >> halvings) number = halved(number);
    Square image = number, scratch(number.side);
    blur_of(levels[j])(image, scratch);
    // Per pixel of the finest resolution, over the effective area of the Gaussian.
    const double area = 4 * std::numbers::pi * levels[j].sigma * levels[j].sigma;
    const auto scale = static_cast<float>(std::ldexp(area, -2 * halvings));
    const auto is_chosen = [&](std::uint32_t k) {
      LitPixel& one = lit[k];
      const auto pixel = static_cast<int>(one.pixel);
      const float now = scale * sample(image, halvings, pixel % map.side, pixel / map.side);
      const bool is_enough = now >= wanted;
      if (is_enough)
        one.level =
            j == 0 ? 0.0f : static_cast<float>(j) - std::log(now / wanted) / std::log(now / one.covered);
      one.covered = now;
      return is_enough;
    };
    open.erase(std::remove_if(open.begin(), open.end(), is_chosen), open.end());
  }
}

/// Lit pixels by the whole part of their level.
std::vector<std::vector<LitPixel>> sorted_by_level(const std::vector<LitPixel>& lit, std::size_t levels) {
  std::vector<std::vector<LitPixel>> sorted(levels);
  for (const LitPixel& one : lit) sorted[static_cast<std::size_t>(one.level)].push_back(one);
  return sorted;
}

/// Masses at the resolution of a level: of the lit pixels around it, each shared between the levels below and
/// above its own.
Square share_of_level(int side, const std::vector<std::vector<LitPixel>>& sorted, std::size_t level,
                      int halvings) {
  Square image = zeros(side);
  for (const std::size_t below : {std::size_t{0}, std::size_t{1}})
    if (level >= below)
      for (const LitPixel& one : sorted[level - below])
        image.values[one.pixel] = one.mass * (1 - std::abs(one.level - static_cast<float>(level)));
  for (int h = 0; h < halvings; ++h) image = halved(image);
  return image;
}

}  // namespace

std::vector<float> smooth(const PixelMap& map) {
  const std::vector<Level> levels = levels_of(map);
  std::vector<LitPixel> lit = lit_pixels(map, static_cast<float>(levels.size() - 1));
  choose_levels(map, levels, lit);
  const std::vector<std::vector<LitPixel>> sorted = sorted_by_level(lit, levels.size());

  // From the coarsest resolution to the finest.
  Square total = zeros(map.side >> levels.back().halvings);
  for (std::size_t j = levels.size(); j-- > 0;) {
    const int halvings = levels[j].halvings;
    while (total.side < map.side >> halvings) total = doubled(total);
    if (sorted[j].empty() && (j == 0 || sorted[j - 1].empty())) continue;
    Square image = share_of_level(map.side, sorted, j, halvings), scratch(image.side);
    blur_of(levels[j])(image, scratch);
    for (std::size_t i = 0; i < total.values.size(); ++i) total.values[i] += image.values[i];
  }

  std::vector<float> picture;
  picture.reserve(static_cast<std::size_t>(map.pixels) * static_cast<std::size_t>(map.pixels));
  for (int row = map.margin; row < map.margin + map.pixels; ++row) {
    const float* begin = total.row(row) + map.margin;
    picture.insert(picture.end(), begin, begin + map.pixels);
  }
  return picture;
}

}  // namespace grove
