#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/display_units.hpp"
#include "base/errors.hpp"
#include "comm/exact_sum.hpp"
#include "commands/commands.hpp"
#include "io/file.hpp"
#include "io/parameters.hpp"
#include "io/snapshot.hpp"

namespace grove {
namespace {

struct InfoOptions {
  std::string file, json;
  bool parameters = false;
};

/// A summary of the particles of all ranks together.
struct Summary {
  Vec3d low, high;  ///< bounds of the positions; not finite if a position is not
  std::vector<double> mass;
  ParticleId least_id, largest_id;
};

Summary summary_of(const Communicator& comm, const Particles& particles, Count total) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // Low and negated high bounds, so that one minimum serves both; what is not a number counts as infinite.
  std::array<double, 6> bounds;
  bounds.fill(infinity);
  for (const Vec3d& x : particles.position)
    for (int axis = 0; axis < 3; ++axis) {
      double& low = bounds[static_cast<std::size_t>(axis)];
      double& high = bounds[static_cast<std::size_t>(axis) + 3];
      low = std::isnan(x[axis]) ? -infinity : std::min(low, x[axis]);
      high = std::isnan(x[axis]) ? -infinity : std::min(high, -x[axis]);
    }
  comm.min(std::span<double>(bounds));
  std::vector<double> masses(particles.size() * particle_types, 0.0);
  for (std::size_t i = 0; i < particles.size(); ++i)
    masses[i * particle_types + particles.type[i]] = particles.mass[i];
  const auto [least, largest] = std::minmax_element(particles.id.begin(), particles.id.end());
  return {{bounds[0], bounds[1], bounds[2]},
          {-bounds[3], -bounds[4], -bounds[5]},
          exact_sums(comm, masses, particle_types, total),
          comm.min(particles.empty() ? ~ParticleId{0} : *least),
          comm.max(particles.empty() ? ParticleId{0} : *largest)};
}

std::string fields_of(const std::vector<StoredFieldInfo>& fields, int type) {
  std::string text;
  for (const StoredFieldInfo& field : fields)
    if (field.type == type)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", field.name, field.number);
  return text;
}

/// The units that the values of a file are shown in, as they stand. A file that states none has bare numbers.
class ShownValues {
 public:
  explicit ShownValues(const SnapshotHeader& header)
      : units_(header.file_units.value_or(Units::dimensionless())),
        over_h_(header.is_over_h() && !units_.name(dimension::length).empty() ? "/h" : "") {}

  std::string length(double value) const { return units_.text(value, dimension::length, 8) + over_h_; }
  std::string mass(double value, int digits) const {
    return units_.text(value, dimension::mass, digits) + over_h_;
  }
  std::string time(double value) const { return units_.text(value, dimension::time); }
  const char* over_h() const { return over_h_; }

 private:
  DisplayUnits units_;
  const char* over_h_;
};

std::string units_of(const SnapshotHeader& header, const ShownValues& shown) {
  if (!header.file_units) return "not stated by the file";
  const Units& units = *header.file_units;
  if (units.is_dimensionless()) return "dimensionless, G = 1";
  return fmt::format("{}{}, {}{}, {}, G = {:.6g}", units.name(dimension::length), shown.over_h(),
                     units.name(dimension::mass), shown.over_h(), units.name(dimension::velocity),
                     units.gravitational_constant);
}

/// As the file states it.
std::string box_of(const SnapshotHeader& header, const ShownValues& shown) {
  const auto edge = [&](int axis) { return shown.length(header.box_size[axis]); };
  const bool is_cube = header.box_size == Vec3d{1, 1, 1} * header.box_size.x;
  return (is_cube ? edge(0) : fmt::format("{} x {} x {}", edge(0), edge(1), edge(2))) +
         (header.is_periodic ? ", periodic" : "");
}

void print(const std::string& path, const SnapshotHeader& header, const Summary& summary) {
  fmt::print("file         {}\n", path);
  fmt::print("format       {}, {} byte order{}\n", name_of(header.format),
             header.format == SnapshotFormat::hdf5 ? "any"
             : header.byte_swapped                 ? "foreign"
                                                   : "native",
             header.files.size() > 1 ? fmt::format(", {} files", header.files.size()) : "");
  const ShownValues shown(header);
  fmt::print("units        {}\n", units_of(header, shown));
  // GADGET's time in expanding space; SWIFT's is one.
  if (header.is_over_h())
    fmt::print("scale factor {:.6g}\n", header.time);
  else
    fmt::print("time         {}\n", shown.time(header.time));
  fmt::print("redshift     {:.6g}\n", header.redshift);
  if (!header.comoving.empty())
    fmt::print("comoving     {}; positions, velocities and masses below are as they stand{}\n",
               header.comoving, header.is_over_h() ? ", lengths and masses over h" : "");
  fmt::print("particles    {}\n", header.count());
  for (int type = 0; type < particle_types; ++type) {
    const auto t = static_cast<std::size_t>(type);
    if (header.counts[t] == 0) continue;
    const std::string each = header.mass_table[t] > 0
                                 ? fmt::format(", each {} (mass table)", shown.mass(header.mass_table[t], 6))
                                 : "";
    fmt::print("  type {}     {}, mass {}{}\n", type, header.counts[t], shown.mass(summary.mass[t], 6), each);
    fmt::print("             {}\n", fields_of(header.fields, type));
  }
  if (header.has_ids)
    fmt::print("ids          {} to {}\n", summary.least_id, summary.largest_id);
  else
    fmt::print("ids          none; numbered 1 to {} in file order\n", header.count());
  double mass = 0;
  for (const double m : summary.mass) mass += m;
  fmt::print("total mass   {}\n", shown.mass(mass, 8));
  for (int axis = 0; axis < 3; ++axis)
    fmt::print("{} from {} to {}\n",
               axis == 0   ? "bounds       x"
               : axis == 1 ? "             y"
                           : "             z",
               shown.length(summary.low[axis]), shown.length(summary.high[axis]));
  if (header.box_size != Vec3d{}) fmt::print("box          {}\n", box_of(header, shown));
  if (header.leaf_size > 0) fmt::print("leaf size    {}\n", header.leaf_size);
}

nlohmann::json json_of(const std::string& path, const SnapshotHeader& header, const Summary& summary) {
  nlohmann::json json{{"file", path},
                      {"format", name_of(header.format)},
                      {"byte_swapped", header.byte_swapped},
                      {"files", header.files.size()},
                      {"n", header.count()},
                      {"counts", header.counts},
                      {"mass", summary.mass},
                      {"mass_table", header.mass_table},
                      {"time", header.time},
                      {"redshift", header.redshift},
                      {"comoving", !header.comoving.empty()},
                      {"over_h", header.is_over_h()},
                      {"has_ids", header.has_ids},
                      {"box", {header.box_size.x, header.box_size.y, header.box_size.z}},
                      {"periodic", header.is_periodic},
                      {"low", {summary.low.x, summary.low.y, summary.low.z}},
                      {"high", {summary.high.x, summary.high.y, summary.high.z}}};
  if (header.file_units)
    json["units"] = {{"length_cm", header.file_units->length_cm},
                     {"mass_g", header.file_units->mass_g},
                     {"velocity_cm_s", header.file_units->velocity_cm_s},
                     {"gravitational_constant", header.file_units->gravitational_constant}};
  for (const StoredFieldInfo& field : header.fields)
    json["fields"]["PartType" + std::to_string(field.type)][field.name] = field.number;
  return json;
}

void show(const Communicator& comm, const InfoOptions& options) {
  if (options.parameters) {
    if (comm.is_master()) fmt::print("{}", parameter_documentation());
    return;
  }
  comm.together([&] {
    if (comm.is_master()) require_output(options.json, {options.file});
  });
  const Snapshot snapshot = read_snapshot(comm, options.file, {.comoving = true});
  const Summary summary = summary_of(comm, snapshot.particles, snapshot.header.count());
  comm.together([&] {
    if (!comm.is_master()) return;
    print(options.file, snapshot.header, summary);
    if (!options.json.empty())
      write_text(options.json, json_of(options.file, snapshot.header, summary).dump(2) + "\n");
  });
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  CLI::App* info = app.add_subcommand("info", "What a file of particles holds");
  auto options = std::make_shared<InfoOptions>();
  CLI::Option* file = info->add_option("FILE", options->file, "A snapshot of any known format");
  CLI::Option* parameters =
      info->add_flag("--parameters", options->parameters, "Print the documentation of the parameter file");
  info->add_option("--json", options->json, "Write the answer to this file too");
  file->excludes(parameters);
  info->callback([options, &action] {
    if (options->file.empty() && !options->parameters) throw CLI::RequiredError("FILE");
    action = [options](const Communicator& comm) { show(comm, *options); };
  });
}

}  // namespace grove
