#include "io/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/render_map.hpp"
#include "io/ticks.hpp"

namespace grove {
namespace {

constexpr const char* axis_names[] = {"x", "y", "z"};

/// A number between 0 and 1 that differs from pixel to pixel without a pattern.
float scatter(std::uint32_t i) {
  i = (i ^ 61u) ^ (i >> 16);
  i *= 9u;
  i = (i ^ (i >> 4)) * 0x27d4eb2du;
  return static_cast<float>(i ^ (i >> 15)) * 0x1p-32f;
}

/// " [kpc]", " [10^{4} kpc]", or nothing.
std::string bracket(int exponent, const std::string& unit) {
  std::string text = exponent == 0 ? "" : fmt::format("10^{{{}}}", exponent);
  if (!unit.empty()) text += (text.empty() ? "" : " ") + unit;
  return text.empty() ? "" : " [" + text + "]";
}

/// "Msun/kpc^2" with its 2 raised.
std::string raised(std::string unit) {
  if (const std::size_t mark = unit.find('^'); mark != std::string::npos)
    unit = unit.substr(0, mark + 1) + "{" + unit.substr(mark + 1) + "}";
  return unit;
}

/// Places for all parts, in pixels; widths are set aside for the longest labels, so that they do not depend
/// on these.
class Layout {
 public:
  Layout(int pixels, int panels)
      : size(std::clamp(pixels / 32.0, 10.0, 96.0)),
        line(std::max(1, px(1.0 / 16))),
        tick(px(0.35)),
        title_top(px(0.5)),
        shown_top(panels > 1 ? title_top : px(2.1)),
        name_top(px(panels > 1 ? 2.4 : 3.6)),
        panel_top(px(panels > 1 ? 4.0 : 5.2)),
        labels(px(3.2)),
        left(px(2.0) + labels + tick),
        panel_step(left + pixels + px(1.0)),
        bar_left(panels * panel_step + px(0.2)),
        bar_width(px(1.0)),
        width((bar_left + bar_width + tick + px(6.4)) / 2 * 2),
        height((panel_top + pixels + tick + px(3.4)) / 2 * 2),
        panel_pixels(pixels) {}

  int px(double letters) const { return static_cast<int>(std::lround(letters * size)); }

  double size;  ///< of letters
  int line, tick, title_top, shown_top, name_top, panel_top, labels, left, panel_step, bar_left, bar_width,
      width, height, panel_pixels;
};

class Drawing {
 public:
  Drawing(const Chart& chart, const std::optional<Font>& font)
      : chart_(chart),
        font_(font),
        at_(chart.pixels, static_cast<int>(chart.panels.size())),
        image_(at_.width, at_.height) {}

  Image finish() {
    print(chart_.title, 1.2, at_.left, at_.title_top, 0);
    const int end = at_.bar_left - at_.px(1.2);
    chart_.panels.size() > 1 ? print(chart_.particles, 1, end, at_.shown_top, 1)
                             : print(chart_.particles, 1, at_.left, at_.shown_top, 0);
    for (std::size_t k = 0; k < chart_.panels.size(); ++k)
      draw_panel(chart_.panels[k], static_cast<int>(k) * at_.panel_step + at_.left);
    draw_bar();
    return std::move(image_);
  }

 private:
  /// align: the part of the text that stands left of `column`.
  void print(const std::string& text, double letters, int column, int top, double align) {
    if (!font_ || text.empty()) return;
    const TextImage drawn = font_->draw(text, letters * at_.size);
    image_.print(drawn, column - static_cast<int>(std::lround(align * drawn.width)), top);
  }
  void print_beside(const std::string& text, int right_end, int middle, bool to_its_left) {
    if (!font_ || text.empty()) return;
    const TextImage drawn = font_->draw(text, at_.size);
    image_.print(drawn, to_its_left ? right_end - drawn.width : right_end, middle - drawn.height / 2);
  }
  void print_upwards(const std::string& text, int left, int middle) {
    if (!font_) return;
    const TextImage drawn = font_->draw(text, at_.size);
    image_.print_upwards(drawn, left, middle + drawn.width / 2);
  }

  void frame(int left, int top, int columns, int rows) {
    const int w = at_.line;
    image_.fill(left - w, top - w, columns + 2 * w, w, Image::black);
    image_.fill(left - w, top + rows, columns + 2 * w, w, Image::black);
    image_.fill(left - w, top, w, rows, Image::black);
    image_.fill(left + columns, top, w, rows, Image::black);
  }

  void draw_panel(const Panel& panel, int left) {
    const int n = at_.panel_pixels, top = at_.panel_top;
    const auto low = static_cast<float>(chart_.frame.limits[0]),
               high = static_cast<float>(chart_.frame.limits[1]);
    const float steps = static_cast<float>(Image::densities - 1) / std::log(high / low);
    for (int row = 0; row < n; ++row)
      for (int column = 0; column < n; ++column) {
        const auto i = static_cast<std::size_t>(n - 1 - row) * static_cast<std::size_t>(n) +
                       static_cast<std::size_t>(column);
        const float colour = steps * std::log(std::clamp(panel.densities[i], low, high) / low);
        // Fractions are made up for by chance, so that slow gradients show no bands.
        image_.at(left + column, top + row) = static_cast<std::uint8_t>(
            std::min(colour + scatter(static_cast<std::uint32_t>(i)), Image::densities - 1.0f));
      }
    frame(left, top, n, n);
    print(fmt::format("seen along {}", axis_names[panel.line_of_sight]), 1, left + n / 2, at_.name_top, 0.5);

    const auto [right, up] = panel_axes(panel.line_of_sight);
    const Scale across = scale_of(right), along = scale_of(up);
    for (const Tick& tick : across.ticks) {
      const int x = left + position(tick.value, right);
      image_.fill(x, top + n, at_.line, at_.tick, Image::black);
      print(tick.label, 1, x, top + n + at_.tick + at_.px(0.1), 0.5);
    }
    for (const Tick& tick : along.ticks) {
      const int y = top + n - 1 - position(tick.value, up);
      image_.fill(left - at_.tick, y, at_.tick, at_.line, Image::black);
      print_beside(tick.label, left - at_.tick - at_.px(0.2), y, true);
    }
    print(name_of(right, across), 1, left + n / 2, top + n + at_.tick + at_.px(1.5), 0.5);
    print_upwards(name_of(up, along), left - at_.left + at_.px(0.5), top + n / 2);
  }

  Scale scale_of(int axis) const {
    const double middle = chart_.frame.centre[axis], half = 0.5 * chart_.frame.width;
    const double factor = chart_.shown.factor(dimension::length);
    return linear_scale(factor * (middle - half), factor * (middle + half));
  }

  /// The pixel of a value, which is in the units that are shown.
  int position(double value, int axis) const {
    value /= chart_.shown.factor(dimension::length);
    const double share = (value - chart_.frame.centre[axis]) / chart_.frame.width + 0.5;
    return std::clamp(static_cast<int>(share * at_.panel_pixels), 0, at_.panel_pixels - 1);
  }

  std::string name_of(int axis, const Scale& scale) const {
    const std::string unit = chart_.shown.name(dimension::length);
    if (scale.offset == 0) return axis_names[axis] + bracket(scale.exponent, unit);
    return fmt::format("{} {} {:.12g}{}", axis_names[axis], scale.offset > 0 ? '-' : '+',
                       std::abs(scale.offset), bracket(scale.exponent, unit));
  }

  void draw_bar() {
    const int n = at_.panel_pixels, top = at_.panel_top, left = at_.bar_left;
    for (int row = 0; row < n; ++row)
      image_.fill(left, top + row, at_.bar_width, 1,
                  static_cast<std::uint8_t>((n - 1 - row) * (Image::densities - 1) / std::max(1, n - 1)));
    frame(left, top, at_.bar_width, n);
    const double factor = chart_.shown.factor(dimension::surface_density);
    const double low = factor * chart_.frame.limits[0], high = factor * chart_.frame.limits[1];
    for (const Tick& tick : logarithmic_scale(low, high).ticks) {
      const double share = std::log(tick.value / low) / std::log(high / low);
      const int y = top + n - 1 - std::clamp(static_cast<int>(share * n), 0, n - 1);
      const int length = tick.label.empty() ? at_.tick / 2 : at_.tick;
      image_.fill(left + at_.bar_width, y, length, at_.line, Image::black);
      print_beside(tick.label, left + at_.bar_width + at_.tick + at_.px(0.2), y, false);
    }
    print_upwards("column density" + bracket(0, raised(chart_.shown.name(dimension::surface_density))),
                  left + at_.bar_width + at_.tick + at_.px(4.4), top + n / 2);
  }

  const Chart& chart_;
  const std::optional<Font>& font_;
  Layout at_;
  Image image_;
};

}  // namespace

Image draw(const Chart& chart, const std::optional<Font>& font) { return Drawing(chart, font).finish(); }

}  // namespace grove
