// The edges of pictures: fonts, ticks, layout.
#include "io/chart.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/errors.hpp"
#include "io/ticks.hpp"

namespace grove {
namespace {

std::vector<std::string> labels(const Scale& scale) {
  std::vector<std::string> texts;
  for (const Tick& tick : scale.ticks)
    if (!tick.label.empty()) texts.push_back(tick.label);
  return texts;
}
using Labels = std::vector<std::string>;

TEST(Ticks, are_round_numbers_with_as_many_digits_as_they_need) {
  EXPECT_EQ(labels(linear_scale(-20, 20)), (Labels{"-20", "-10", "0", "10", "20"}));
  EXPECT_EQ(labels(linear_scale(-0.55, 0.6)), (Labels{"-0.4", "-0.2", "0.0", "0.2", "0.4", "0.6"}));
  EXPECT_EQ(labels(linear_scale(3.2, 5.9)), (Labels{"3.5", "4.0", "4.5", "5.0", "5.5"}));
}

TEST(Ticks, of_large_and_small_values_have_a_factor) {
  const Scale large = linear_scale(-2e7, 3e7);
  EXPECT_EQ(large.exponent, 7);
  EXPECT_EQ(labels(large), (Labels{"-2", "-1", "0", "1", "2", "3"}));
  EXPECT_EQ(large.ticks[0].value, -2e7);
  const Scale small = linear_scale(0, 5e-9);
  EXPECT_EQ(small.exponent, -9);
  EXPECT_EQ(labels(small).back(), "5");
}

TEST(Ticks, of_values_that_hardly_differ_are_told_from_one_of_them) {
  const Scale scale = linear_scale(123456.78, 123456.80);
  EXPECT_NEAR(scale.offset, 123456.8, 0.05);
  for (const Tick& tick : scale.ticks) EXPECT_LE(tick.label.size(), 6u) << tick.label;
  ASSERT_GE(scale.ticks.size(), 3u);
  for (const Tick& tick : scale.ticks)
    // 12 digits of the offset are shown, and a label has two behind the point at least.
    EXPECT_NEAR(tick.value, scale.offset + std::stod(tick.label) * std::pow(10.0, scale.exponent), 1e-6);
}

TEST(Ticks, of_logarithms_are_powers_of_ten) {
  EXPECT_EQ(labels(logarithmic_scale(0.5, 2e5)), (Labels{"1", "10", "100", "1000", "10^{4}", "10^{5}"}));
  EXPECT_EQ(labels(logarithmic_scale(3, 400)), (Labels{"5", "10", "20", "50", "100", "200"}));
  EXPECT_EQ(labels(logarithmic_scale(2.1, 2.9)), (Labels{"2.2", "2.4", "2.6", "2.8"}));
  EXPECT_LE(labels(logarithmic_scale(1e-30, 1e30)).size(), 7u);
  std::size_t small = 0;
  for (const Tick& tick : logarithmic_scale(1, 1e4).ticks) small += tick.label.empty();
  EXPECT_EQ(small, 4u * 8u) << "2 to 9 of each decade";
}

TEST(Font, is_found_and_prints) {
  const std::optional<Font> font = Font::find();
  ASSERT_TRUE(font) << "jobs/setup.sh installs one";
  const TextImage one = font->draw("1", 20), two = font->draw("11", 20), high = font->draw("1^{1}", 20);
  const auto ink = [](const TextImage& text) {
    double sum = 0;
    for (const std::uint8_t c : text.coverage) sum += c / 255.0;
    return sum;
  };
  EXPECT_GT(ink(one), 20) << "a stroke of 14 pixels, one and a half wide";
  EXPECT_NEAR(ink(two), 2 * ink(one), 1) << "placed at whole pixels, cut to them";
  EXPECT_EQ(two.height, one.height);
  EXPECT_NEAR(two.width, 2 * one.width, 1);
  EXPECT_LT(high.width, two.width) << "raised digits are smaller";
  const auto ink_below = [&](const TextImage& text, int row) {
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(row * text.width); i < text.coverage.size(); ++i)
      sum += text.coverage[i];
    return sum;
  };
  const int baseline = one.height * 3 / 4;
  EXPECT_NEAR(ink_below(high, baseline), ink_below(one, baseline), 1e-9) << "nothing of them is that low";
}

TEST(Font, that_is_named_must_be_one) {
  const auto path = std::filesystem::temp_directory_path() / "grove_no_font.ttf";
  std::ofstream(path) << "no font";
  ::setenv("GROVE_FONT", path.c_str(), 1);
  EXPECT_THROW(Font::find(), InputError);
  ::unsetenv("GROVE_FONT");
  std::filesystem::remove(path);
}

Chart chart_of(int panels) {
  Chart chart{64, {}, {}, DisplayUnits(Units::galactic()), "t = 1 Gyr", "type 1 (halo): 2 particles"};
  chart.frame.width = 10;
  chart.frame.limits = {1, 1e4};
  for (int k = 0; k < panels; ++k)
    chart.panels.push_back({k, std::vector<float>(64 * 64, 1.0f + 3000.0f * k)});
  return chart;
}

/// How many pixels of two images differ.
std::size_t differences(const Image& a, const Image& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.colours.size(); ++i) count += a.colours[i] != b.colours[i];
  return count;
}

TEST(Chart, names_what_it_shows) {
  const std::optional<Font> font = Font::find();
  const Chart chart = chart_of(2);
  const Image image = draw(chart, font);
  const auto with = [&](auto&& change) {
    Chart other = chart;
    change(other);
    const Image drawn = draw(other, font);
    EXPECT_EQ(drawn.width, image.width);
    EXPECT_EQ(drawn.height, image.height);
    return differences(image, drawn);
  };
  EXPECT_GT(with([](Chart& c) { c.title = "t = 2 Gyr"; }), 5u);
  EXPECT_GT(with([](Chart& c) { c.particles = "type 2 (disk): 2 particles"; }), 5u);
  EXPECT_GT(with([](Chart& c) { c.frame.width = 30; }), 5u) << "ticks";
  EXPECT_GT(with([](Chart& c) { c.frame.centre.x = 1e6; }), 5u);
  EXPECT_GT(with([](Chart& c) { c.shown = DisplayUnits(Units::galactic(), {.length = "pc"}); }), 5u)
      << "units";
  EXPECT_GT(with([](Chart& c) { c.shown = DisplayUnits(Units::dimensionless()); }), 5u);
}

TEST(Chart, without_a_font_has_the_same_size_and_no_letters) {
  const Chart chart = chart_of(3);
  const Image with = draw(chart, Font::find()), without = draw(chart, std::nullopt);
  EXPECT_EQ(with.width, without.width);
  EXPECT_EQ(with.height, without.height);
  EXPECT_GT(differences(with, without), 100u);
  const auto greys = [](const Image& image) {
    return std::count_if(image.colours.begin(), image.colours.end(),
                         [](std::uint8_t c) { return c > Image::black && c < Image::white; });
  };
  EXPECT_GT(greys(with), 100) << "edges of letters";
  EXPECT_EQ(greys(without), 0);
}

TEST(Chart, has_the_colours_of_its_densities) {
  Chart chart = chart_of(1);
  chart.panels[0].densities.assign(64 * 64, 100);  // half of four decades
  const Image image = draw(chart, std::nullopt);
  const auto half = std::count_if(image.colours.begin(), image.colours.end(), [](std::uint8_t c) {
    return std::abs(c - (Image::densities - 1) / 2.0) < 1;  // 111 or 112, by chance
  });
  EXPECT_GE(half, 64 * 64);
  EXPECT_LE(half, 64 * 64 + 2 * 64) << "and rows of the colour bar";
}

}  // namespace
}  // namespace grove
