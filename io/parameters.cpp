#include "io/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "io/file.hpp"
#include "io/hdf5.hpp"
#include "io/parameter_checks.hpp"
#include "io/parameter_entries.hpp"
#include "io/parameter_values.hpp"
#include "io/schema.hpp"
#include "io/snapshot.hpp"
#include "io/snapshot_file.hpp"
#include "io/whole_number.hpp"
#include "particles/models/model.hpp"
#include "particles/particles.hpp"

namespace grove {
namespace {

using schema::Row;

/// Stores section `units` and resolves it; the values of the other sections are read in these units.
void store_units(Parameters& p, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries)
    if (const Row& row = row_of(entry); row.section == "units") store(p, entry, row, row.units(p.units));
  UnitsParameters& units = p.unit_choice;
  const Entry* system = find(entries, "units.system");
  for (const char* key : {"units.length", "units.mass", "units.velocity"})
    if (const Entry* size = find(entries, key)) {
      if (system && units.system != "custom")
        fail(*size, fmt::format("contradicts units.system: {} ({}); sizes need 'custom'", units.system,
                                system->where));
      if (!units.length_cm || !units.mass_g || !units.velocity_cm_s)
        fail(*size, "custom units need all of units.length, units.mass and units.velocity");
      units.system = "custom";
    }
  if (units.system == "custom" && !units.length_cm)
    fail(*system, "custom units need all of units.length, units.mass and units.velocity");
  p.units = units.system == "galactic" ? Units::galactic()
            : units.system == "none"   ? Units::dimensionless()
                                       : Units::of(*units.length_cm, *units.mass_g, *units.velocity_cm_s);
}

/// Stores section `cosmology`, if anything is given of it, and resolves it.
void store_cosmology(Parameters& p, const std::vector<Entry>& entries) {
  const Entry* first = nullptr;
  for (const Entry& entry : entries)
    if (const Row row = row_of(entry); row.section == "cosmology") {
      store(p, entry, row, row.units(p.units));
      if (!first) first = &entry;
    }
  if (!first) return;
  try {
    complete(p.cosmology);
    p.universe = cosmology_of(p.cosmology, p.units);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", first->where, error.what()));
  }
}

/// The time of "z=49" or "a=0.02"; other texts stay.
YAML::Node cosmic_time(const Entry& entry, const YAML::Node& value, const Parameters& p) {
  if (!value.IsScalar()) return value;
  std::string text = value.Scalar();
  std::erase(text, ' ');
  if (!text.starts_with("z=") && !text.starts_with("a=")) return value;
  if (!p.universe)
    fail(entry, fmt::format("{} is of an expanding universe; give section cosmology, or a time", text));
  double number = 0;
  try {
    number = Units::dimensionless().parse(text.substr(2), dimension::none);
  } catch (const InputError& error) {
    fail(entry, error.what());
  }
  const double a = text[0] == 'z' ? 1 / (1 + number) : number;
  if (!(a > 0 && a <= largest_scale_factor))
    fail(entry, fmt::format("{} is out of range; expected a scale factor above 0 and at most {}", text,
                            largest_scale_factor));
  return YAML::Node(fmt::format("{:.17g}", Expansion(*p.universe, a).time(a)));
}

/// Redshifts and scale factors become times.
void resolve_cosmic_times(const Parameters& p, std::vector<Entry>& entries) {
  for (Entry& entry : entries) {
    if (entry.name == "time.begin" || entry.name == "time.end")
      entry.value = cosmic_time(entry, entry.value, p);
    if (entry.name != "output.times" || !entry.value.IsSequence()) continue;
    YAML::Node times(YAML::NodeType::Sequence);  // also of none
    for (const auto& time : entry.value) times.push_back(cosmic_time(entry, time, p));
    entry.value = times;
  }
}

/// The first unit of a kind in this value, and what is in it.
std::string unit_within(const YAML::Node& node, const Dimension& dimension) {
  if (node.IsScalar()) {
    const auto unit = unit_of_value(node.Scalar());
    return unit && unit->dimension == dimension ? std::string(unit->name) : "";
  }
  if (!node.IsMap() && !node.IsSequence()) return "";
  for (const auto& item : node)
    if (std::string name = unit_within(node.IsMap() ? item.second : YAML::Node(item), dimension);
        !name.empty())
      return name;
  return "";
}

/// The unit of a kind that the user wrote first, in the first of these sections, or keys, that has one.
std::string unit_written(const std::vector<Entry>& entries, const std::vector<std::string>& places,
                         const Dimension& dimension) {
  for (const std::string& place : places)
    for (const Entry& entry : entries)
      if (entry.name == place || entry.name.starts_with(place + "."))
        if (std::string name = unit_within(entry.value, dimension); !name.empty()) return name;
  return "";
}

/// The units that values of the run are shown in: as they are written of the particles, else of external
/// potentials, and of the run's time.
/// Softening, tiny beside what it softens, says nothing of them, nor do times of the machine.
UnitNames typed_units(const std::vector<Entry>& entries) {
  const auto written = [&](const std::vector<std::string>& places, const Dimension& dimension) {
    return unit_written(entries, places, dimension);
  };
  const std::vector<std::string> sizes{"initial_conditions", "units", "potentials"};
  return {.length = written(sizes, dimension::length),
          .mass = written(sizes, dimension::mass),
          .velocity = written(sizes, dimension::velocity),
          .time = written({"time.end", "time", "output"}, dimension::time)};
}

/// InputError if a list that is there has not got the element of which the entry is a key.
void require_element(const Entry& entry, const Parameters& p) {
  const auto element = schema::element_of(entry.name);
  if (!element) return;
  if (const std::size_t count = element->list.count(p); element->index >= count)
    fail(entry, fmt::format("there is no such element: {} has {}, numbered from 0", element->name, count));
}

/// Puts the values of the entries, units apart, where they belong.
void store_values(Parameters& p, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    const Row row = row_of(entry);
    if (row.section == "units") continue;
    require_element(entry, p);
    store(p, entry, row, row.units(p.units));
  }
}

/// Values that follow from `accuracy`, where they are not given.
void complete_accuracy(Parameters& p, const std::vector<Entry>& entries) {
  const AccuracyOf of = accuracy_of(p.accuracy, p.universe.has_value());
  static_assert(GravityParameters{}.delta == accuracy_of(Accuracy::standard, false).delta);
  if (!find(entries, "gravity.delta")) p.gravity.delta = of.delta_in(p.box.periodic);
  if (!find(entries, "time.eta")) p.time.eta = of.eta;
}

/// The edge of the box that the file of the particles states. By this rank alone.
double stated_edge(const Parameters& p) {
  const std::string& file = p.initial_conditions.file;
  ReadOptions options{.unstated = p.units, .convert_to = p.units};
  if (p.universe) options.h = p.cosmology.h;
  const Vec3d box = stated_box(file, options);
  if (std::isnan(box.x + box.y + box.z)) return 0;  // as if it stated none
  const auto text = [&](double edge) { return p.shown.text(edge, dimension::length); };
  if (box != Vec3d{1, 1, 1} * box.x)
    throw InputError(fmt::format("{}: states a box of {} x {} x {}, which is no cube", file, text(box.x),
                                 text(box.y), text(box.z)));
  return box.x;
}

/// Empty: all particles are of models.
std::string first_file(const InitialConditionsParameters& from) {
  for (const ComponentParameters& part : from.parts())
    if (!part.file.empty()) return part.file;
  return {};
}

/// The edge of a periodic box without box.size, which only a single file of particles tells.
double edge_without_size(const Parameters& p, const Entry& periodic, const EdgeOfBox& edge_of_box) {
  const std::string needed = "needs box.size, the edge of the box", file = first_file(p.initial_conditions);
  if (file.empty()) fail(periodic, needed);
  if (p.initial_conditions.file.empty() || !edge_of_box)
    fail(periodic,
         fmt::format("{}; `grove info {}` shows what the file states (GADGET's comoving files over h)",
                     needed, file));
  double edge = 0;
  try {
    edge = edge_of_box(p);
  } catch (const InputError& error) {
    fail(periodic, fmt::format("without box.size the edge of the box is the file's, and {}", error.what()));
  }
  if (!(std::isfinite(edge) && edge > 0)) fail(periodic, fmt::format("{}: {} states none", needed, file));
  return edge;
}

/// Section `box`, and what it means for forces and the decomposition.
void complete_box(Parameters& p, const std::vector<Entry>& entries, const EdgeOfBox& edge_of_box) {
  const Entry* const size = find(entries, "box.size");
  if (!p.box.periodic) {
    if (size) fail(*size, "is of a periodic box; give box.periodic: true as well, or leave it out");
    if (p.initial_conditions.model.model == cosmological_box)
      fail(*find(entries, "initial_conditions.model"),
           fmt::format(
               "{} fills a periodic box: give box: {{periodic: true}} as well; a sphere in open space is {}",
               cosmological_box, cosmological_sphere));
    return;
  }
  const Entry& periodic = *find(entries, "box.periodic");
  const InitialConditionsParameters& from = p.initial_conditions;
  if (from.model.model == cosmological_sphere)
    fail(periodic, fmt::format("{} is a sphere in open space; {} fills the box", cosmological_sphere,
                               cosmological_box));
  if (from.model.model == cosmological_box) {
    if (size && from.cosmological.box_size && *p.box.size != *from.cosmological.box_size)
      fail(*size, "is not initial_conditions.box_size; leave one of them out");
    if (!p.box.size) p.box.size = from.cosmological.box_size;
  }
  if (const ModelInfo* const model = from.only_model(); model && model->fills_box) {
    if (!p.box.size) p.box.size = from.model.scale;
    if (std::abs(*p.box.size / from.model.scale - 1) > 1e-6)
      fail(*size,
           fmt::format("is not the edge of the cube that the model {} fills, initial_conditions.scale = {}; "
                       "give the same, or leave it out",
                       model->name, p.shown.text(from.model.scale, dimension::length)));
  }
  if (!p.box.size) p.box.size = edge_without_size(p, periodic, edge_of_box);
  if (const Entry* centre = find(entries, "cosmology.centre"))
    fail(*centre, "is of spheres in open space, and the box is periodic");
  if (const Entry* potentials = find(entries, "potentials"); potentials && !p.potentials.empty())
    fail(*potentials, "are of open space, and the box is periodic");
  p.gravity.images = {*p.box.size};
  if (!find(entries, "gravity.order")) p.gravity.order = p.gravity.usual_order();
  if (!p.gravity.softening_fits_box())
    fail(size ? *size : periodic,
         fmt::format(
             "a box of {} is less than 16 times the largest softening, {}: give a larger box, or a smaller "
             "gravity.softening",
             p.shown.text(*p.box.size, dimension::length),
             p.shown.text(*std::max_element(p.gravity.softening.begin(), p.gravity.softening.end()),
                          dimension::length)));
  p.decomposition.period = *p.box.size;
  View& view = p.output.view;
  view.images = p.gravity.images;
  if (view.width && *view.width > View::most_edges * *p.box.size)
    fail(*find(entries, "output.render.width"),
         fmt::format("is more than {:g} times the edge of the periodic box", View::most_edges));
}

/// Values of the models that follow from the rest.
void complete_models(Parameters& p, const std::vector<Entry>& entries) {
  InitialConditionsParameters& from = p.initial_conditions;
  from.model.gravitational_constant = p.units.gravitational_constant;
  for (std::size_t i = 0; i < from.components.size(); ++i) {
    ModelParameters& model = from.components[i].model;
    model.gravitational_constant = p.units.gravitational_constant;
    // The same seed would make the same particles of the same model.
    if (from.components[i].file.empty() &&
        !find(entries, fmt::format("initial_conditions.components[{}].seed", i)))
      model.seed = from.model.seed + i;
  }
}

bool is_snapshot(const std::string& path) {
  if (hdf5::is_hdf5(path)) return true;
  try {
    open_snapshot_file(path);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

std::array<double, particle_types> Parameters::softening(double scale_factor) const {
  std::array<double, particle_types> lengths = gravity.softening;
  for (std::size_t type = 0; type < particle_types; ++type)
    if (const double most = max_physical_softening[type]; most > 0)
      lengths[type] = std::min(lengths[type], most / scale_factor);
  return lengths;
}

const ModelInfo* InitialConditionsParameters::only_model() const {
  return components.empty() && file.empty() ? find_model_info(model.model) : nullptr;
}

StepRule TimeParameters::rule(double longest, const std::array<double, particle_types>& softening) const {
  StepRule rule{.eta = eta, .longest = longest, .length = {}, .deepest = 0};
  for (std::size_t type = 0; type < particle_types; ++type)
    rule.length[type] = length[type] > 0 ? length[type] : softening[type];
  if (steps == StepKind::shared) return rule;
  rule.deepest = deepest_rung;
  while (rule.deepest > 0 && std::ldexp(longest, -rule.deepest) < min_step * (1 - 1e-12)) --rule.deepest;
  return rule;
}

Parameters parse_parameters(const std::string& text, const std::string& name,
                            const std::vector<std::string>& overrides, const EdgeOfBox& edge_of_box) {
  std::vector<Entry> entries = entries_of_file(text, name);
  override_entries(entries, overrides);
  Parameters p;
  store_units(p, entries);
  store_cosmology(p, entries);
  resolve_cosmic_times(p, entries);
  store_values(p, entries);
  complete_accuracy(p, entries);
  p.typed = typed_units(entries);
  p.shown = DisplayUnits(p.units, p.typed);
  check_together(p, entries, name);
  p.gravity.gravitational_constant = p.units.gravitational_constant;
  complete_box(p, entries, edge_of_box);
  complete_models(p, entries);
  return p;
}

std::vector<ComponentParameters> placed_files(const std::vector<std::string>& files,
                                              const std::vector<std::string>& settings, const Units& units) {
  Parameters p;
  p.units = units;
  for (const std::string& file : files) p.initial_conditions.components.emplace_back().file = file;
  for (const std::string& text : settings) {
    const std::string where = "-C " + text;
    const std::size_t dot = text.find('.'), equals = text.find('=');
    if (dot == std::string::npos || equals == std::string::npos || dot > equals ||
        !whole_number<std::uint32_t>(text.substr(0, dot)))
      throw InputError(
          fmt::format("{}: expected a file's place, from 0, a key and a value, as in "
                      "1.position='50 kpc, 0, 0'",
                      where));
    const Entry entry{fmt::format("initial_conditions.components[{}].{}", text.substr(0, dot),
                                  text.substr(dot + 1, equals - dot - 1)),
                      load_yaml(text.substr(equals + 1), where), where};
    const Row row = row_of(entry);
    if (!schema::is_of_placement(row)) fail(entry, "is of a model, not of a file");
    require_element(entry, p);
    store(p, entry, row, units);
  }
  return std::move(p.initial_conditions.components);
}

Softening parse_softening(const std::string& text, const std::string& option, const Units& units) {
  const Entry entry{"gravity.softening", load_yaml(text, option), fmt::format("{} {}", option, text)};
  const Row row = row_of(entry);
  Parameters p;
  store(p, entry, row, units);
  return {p.gravity.softening, p.softened};
}

Parameters resolve_parameters(const Communicator& comm, const std::string& text, const std::string& name,
                              const std::vector<std::string>& overrides, const EdgeOfBox& known_edge) {
  Parameters result;
  double edge = 0;  // of the box, for which the master alone opens files
  comm.together([&] {
    if (!comm.is_master()) return;
    result = parse_parameters(text, name, overrides, [&](const Parameters& p) {
      if (known_edge) edge = known_edge(p);
      return edge > 0 ? edge : edge = stated_edge(p);
    });
  });
  edge = comm.broadcast(edge);
  comm.together([&] {
    if (!comm.is_master())
      result = parse_parameters(text, name, overrides, [&](const Parameters&) { return edge; });
  });
  return result;
}

Parameters read_parameters(const Communicator& comm, const std::string& path,
                           const std::vector<std::string>& overrides, const EdgeOfBox& known_edge) {
  std::string text;
  comm.together([&] {
    if (!comm.is_master()) return;
    if (is_snapshot(path))
      throw InputError(
          fmt::format("{}: is a snapshot, not a parameter file; a run from it needs a parameter file with "
                      "initial_conditions: {{file: {}}}",
                      path, path));
    text = read_text(path);
  });
  return resolve_parameters(comm, comm.broadcast(text), path, overrides, known_edge);
}

}  // namespace grove
