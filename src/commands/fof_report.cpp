#include "commands/fof_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <span>

#include "base/display_units.hpp"
#include "base/how_many.hpp"

namespace grove {
namespace {

/// Half decades of masses that are not 0.
std::vector<FofReport::MassBin> mass_function_of(const Communicator& comm, const std::vector<Halo>& halos,
                                                 double unit) {
  constexpr int none = std::numeric_limits<int>::max();
  const auto bin_of = [&](const Halo& halo) {
    return static_cast<int>(std::floor(2 * std::log10(halo.mass * unit)));
  };
  int lowest = none, highest = -none;
  for (const Halo& halo : halos)
    if (halo.mass > 0) lowest = std::min(lowest, bin_of(halo)), highest = std::max(highest, bin_of(halo));
  lowest = comm.min(lowest);
  highest = comm.max(highest);
  if (lowest == none) return {};
  std::vector<Count> counts(static_cast<std::size_t>(highest - lowest + 1), 0);
  for (const Halo& halo : halos)
    if (halo.mass > 0) ++counts[static_cast<std::size_t>(bin_of(halo) - lowest)];
  comm.sum(std::span<Count>(counts));
  std::vector<FofReport::MassBin> bins(counts.size());
  Count above = 0;
  for (std::size_t i = counts.size(); i-- > 0;) {
    above += counts[i];
    bins[i] = {std::pow(10, 0.5 * (lowest + static_cast<int>(i))), counts[i], above};
  }
  return bins;
}

/// The units that masses and lengths are shown in. They have h in them if files have.
struct ShownUnits {
  DisplayUnits units;
  const char* over_h;

  explicit ShownUnits(const CatalogueHeader& header)
      : units(header.units), over_h(header.h_power > 0 ? "/h" : "") {}
  std::string text(double value, const Dimension& dimension) const {
    return units.text(value, dimension, 5) + over_h;
  }
};

}  // namespace

FofReport FofReport::of(const Communicator& comm, const WrittenHalos& halos) {
  const FoundHalos& found = halos.found;
  const CatalogueOrder& order = halos.order;
  FofReport report;
  report.particles = halos.particles;
  report.groups = order.groups;
  report.members = order.members;
  std::vector<Halo> first;
  for (std::size_t i = 0; i < found.halos.size(); ++i)
    if (order.row[i] == 0) first.push_back(found.halos[i]);
  first = comm.all_gather_arrays(std::span<const Halo>(first));
  if (!first.empty()) report.largest = first[0];
  report.mass_function =
      mass_function_of(comm, found.halos, DisplayUnits(halos.header.units).factor(dimension::mass));
  return report;
}

std::string FofReport::text(const std::string& output, const WrittenHalos& halos) const {
  const ShownUnits shown(halos.header);
  const HaloOptions& options = halos.options;
  std::string lines =
      fmt::format("{}: {} of {} particles or more, with {} of {} ({:.1f} %); linking length {}\n", output,
                  how_many(groups, "group"), options.least, members, how_many(particles, "particle"),
                  100 * static_cast<double>(members) / static_cast<double>(particles),
                  shown.text(options.length, dimension::length));
  if (groups == 0) return lines;
  lines += fmt::format("largest: {} particles, mass {}", largest.length,
                       shown.text(largest.mass, dimension::mass));
  if (largest.m200 > 0)
    lines += fmt::format(", M200c {}, R200c {}", shown.text(largest.m200, dimension::mass),
                         shown.text(largest.r200, dimension::length));
  lines += fmt::format(", Vmax {}\n", shown.units.text(largest.vmax, dimension::velocity, 5));
  if (options.critical_density == 0)
    lines += "no R200 and M200: the file states no cosmology; --critical-density gives what is needed\n";
  const std::string unit = shown.units.name(dimension::mass);
  lines += fmt::format("{:>12} {:>10} {:>10}\n", unit.empty() ? "mass" : "mass/" + unit + shown.over_h,
                       "halos", "or more");
  for (const MassBin& bin : mass_function)
    lines += fmt::format("{:12.4g} {:10} {:10}\n", bin.from, bin.halos, bin.or_more);
  return lines;
}

nlohmann::json FofReport::json(const WrittenHalos& halos) const {
  nlohmann::json json{{"particles", particles},
                      {"groups", groups},
                      {"members", members},
                      {"linking_length", halos.options.length},
                      {"critical_density", halos.options.critical_density},
                      {"redshift", halos.header.redshift},
                      {"largest",
                       {{"members", largest.length},
                        {"mass", largest.mass},
                        {"m200", largest.m200},
                        {"r200", largest.r200},
                        {"vmax", largest.vmax}}}};
  json["mass_function"] = nlohmann::json::array();
  for (const MassBin& bin : mass_function)
    json["mass_function"].push_back({{"from", bin.from}, {"halos", bin.halos}, {"or_more", bin.or_more}});
  return json;
}

}  // namespace grove
