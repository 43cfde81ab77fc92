#include "io/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "base/errors.hpp"
#include "comm/at_root.hpp"
#include "io/chart.hpp"
#include "io/frame.hpp"
#include "io/render_map.hpp"

namespace grove {
namespace {

/// The ratio of the bright end to the dark end: four decades of column density, three quarters of what a
/// sparse disk and its centre span.
constexpr double contrast = 1e4;

constexpr const char* type_names[particle_types] = {"gas", "halo", "disk", "bulge", "stars", "boundary"};

/// From the density that one pixel in 2000 exceeds, down by the contrast.
std::array<double, 2> choose_limits(const std::vector<float>& densities) {
  std::vector<float> sorted = densities;
  const std::size_t rank = sorted.size() - 1 - sorted.size() / 2000;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(rank), sorted.end());
  const double bright = sorted[rank] > 0 ? static_cast<double>(sorted[rank]) : 1.0;
  return {bright / contrast, bright};
}

/// About the mean of a periodic box that is seen as a whole, which stays the mean. Early all is close to it,
/// and what is brightest then would be dark beside halos to come.
std::array<double, 2> limits_about_mean(const std::vector<float>& densities) {
  constexpr double void_over_mean = 0.2, halo_over_mean = 100;
  const double mean =
      std::accumulate(densities.begin(), densities.end(), 0.0) / static_cast<double>(densities.size());
  if (!(mean > 0)) return choose_limits(densities);
  return {void_over_mean * mean, halo_over_mean * mean};
}

/// "types 2 (disk), 4 (stars): 12,000 particles"
std::string text_of_types(const std::array<Count, particle_types>& counts) {
  std::vector<std::string> types;
  Count all = 0;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    if (counts[t] > 0) types.push_back(fmt::format("{} ({})", t, type_names[t]));
    all += counts[t];
  }
  if (all == 0) return "no particles";
  return fmt::format("{} {}: {} particle{}", types.size() > 1 ? "types" : "type", fmt::join(types, ", "),
                     fmt::group_digits(all), all > 1 ? "s" : "");
}

void check(const View& view) {
  if (const int pixels = view.panel_pixels(); pixels < View::fewest_pixels || pixels > View::most_pixels)
    throw InputError(fmt::format("a picture of {} pixels cannot be made: {} to {}", pixels,
                                 View::fewest_pixels, View::most_pixels));
  const std::set<int> axes(view.axes.begin(), view.axes.end());
  if (axes.empty() || axes.size() != view.axes.size() || *axes.begin() < 0 || *axes.rbegin() > 2)
    throw InputError("a picture needs one, two or three different lines of sight of x, y and z");
  if (view.width && !(*view.width > 0 && std::isfinite(*view.width)))
    throw InputError(fmt::format("the width of the picture is {:g}: it must be positive", *view.width));
  if (!view.images.are_open() && view.width && *view.width > View::most_edges * view.images.edge)
    throw InputError(fmt::format(
        "the width of the picture is {:g}, more than {:g} times the edge of the periodic box, {:g}",
        *view.width, View::most_edges, view.images.edge));
  if (view.limits.empty()) return;
  if (view.limits.size() != 2 || !(view.limits[0] > 0 && view.limits[1] > view.limits[0]))
    throw InputError(
        fmt::format("the limits of the colours are [{:g}]: they must be two column densities above 0, the "
                    "lower one first",
                    fmt::join(view.limits, ", ")));
}

/// Column densities of the panels, one after the other, on the master. Each panel is smoothed by a rank of
/// its own, as far as there are so many.
std::vector<float> densities_of(const Communicator& comm, const Particles& particles, const View& view,
                                const Frame& frame) {
  const int panels = static_cast<int>(view.axes.size());
  std::vector<PixelMap> own;
  for (int k = 0; k < panels; ++k) {
    const int root = k * comm.size() / panels;
    PixelMap map = deposit(comm, particles, frame, view.axes[static_cast<std::size_t>(k)],
                           view.panel_pixels(), root, view.images);
    if (comm.rank() == root) own.push_back(std::move(map));
  }
  std::vector<float> densities;
  comm.together([&] {
    const auto per_area = static_cast<float>(std::pow(view.panel_pixels() / frame.width, 2));
    for (const PixelMap& map : own)
      for (const float mass : smooth(map)) densities.push_back(per_area * mass);
  });
  return gather_at(comm, 0, std::span<const float>(densities));
}

Chart chart_of(const View& view, const Frame& frame, const Caption& caption,
               const std::vector<float>& densities, const std::array<Count, particle_types>& counts) {
  const int pixels = view.panel_pixels();
  Chart chart{pixels,
              {},
              frame,
              caption.shown,
              caption.redshift ? fmt::format("z = {:.4g}", *caption.redshift)
                               : "t = " + caption.shown.text(caption.time, dimension::time, 4),
              text_of_types(counts)};
  const auto area = static_cast<std::ptrdiff_t>(pixels) * pixels;
  for (std::size_t k = 0; k < view.axes.size(); ++k) {
    const auto begin = densities.begin() + static_cast<std::ptrdiff_t>(k) * area;
    chart.panels.push_back({view.axes[k], {begin, begin + area}});
  }
  return chart;
}

/// A warning if there is none; the font is looked for once.
const std::optional<Font>& font() {
  static const std::optional<Font> found = [] {
    std::optional<Font> font = Font::find();
    if (!font)
      fmt::print(stderr,
                 "warning: there is no font, so pictures have ticks but no letters; install one (Debian: "
                 "fonts-dejavu-core), or name a TrueType file in the environment variable GROVE_FONT\n");
    return font;
  }();
  return found;
}

/// The frame of a picture, and on the master its column densities.
struct Measured {
  Frame frame;
  std::vector<float> densities;
};

Measured measured(const Communicator& comm, const Particles& particles, const View& view,
                  const Frame& before) {
  comm.together([&] { check(view); });
  Frame frame = frame_of(comm, particles, view, before);
  std::vector<float> densities = densities_of(comm, particles, view, frame);
  if (!view.limits.empty())
    frame.limits = {view.limits[0], view.limits[1]};
  else if (frame.limits[0] == frame.limits[1] && comm.is_master())
    frame.limits = !view.images.are_open() && frame.width == view.images.edge ? limits_about_mean(densities)
                                                                              : choose_limits(densities);
  frame.limits = comm.broadcast(frame.limits);
  return {frame, std::move(densities)};
}

}  // namespace

Frame render_png(const Communicator& comm, const Particles& particles, const View& view,
                 const Caption& caption, const std::string& path, const Frame& before) {
  const Measured picture = measured(comm, particles, view, before);
  std::array<Count, particle_types> counts{};
  for (const std::uint8_t type : particles.type)
    if (picture.frame.types >> type & 1) ++counts[type];
  comm.sum(std::span<Count>(counts));
  comm.together([&] {
    if (comm.is_master())
      write_png(draw(chart_of(view, picture.frame, caption, picture.densities, counts), font()), path);
  });
  return picture.frame;
}

Frame measure(const Communicator& comm, const Particles& particles, const View& view, const Frame& before) {
  return measured(comm, particles, view, before).frame;
}

bool is_drawn(const FieldInfo& info) {
  return info.name == fields::position.info.name || info.name == fields::mass.info.name ||
         info.name == fields::type.info.name;
}

}  // namespace grove
