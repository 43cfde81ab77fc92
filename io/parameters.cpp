#include "io/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "io/file.hpp"
#include "io/hdf5.hpp"
#include "io/parameter_entries.hpp"
#include "io/parameter_values.hpp"
#include "io/schema.hpp"
#include "io/snapshot_file.hpp"
#include "io/whole_number.hpp"
#include "io/words.hpp"
#include "kernels/math/tree_fault.hpp"
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

/// Softening takes the place of lengths that are not given.
void check_step_lengths(const Parameters& p, const std::vector<Entry>& entries) {
  if (p.time.steps == StepKind::shared || p.time.min_step > 0) return;
  for (std::size_t type = 0; type < particle_types; ++type)
    if (p.time.length[type] > 0 || p.gravity.softening[type] > 0) return;
  fail(*find(entries, "gravity.softening"),
       "without softening block time steps have no length to go by; give time.length, or time.min_step, or "
       "time.steps: shared");
}

void check_splitting(const Parameters& p, const std::vector<Entry>& entries) {
  if (p.gravity.critical_separation > 0 && !p.gravity.splits_groups())
    fail(*find(entries, "gravity.critical_separation"),
         "only groups that walk octrees are split; give gravity.tree: octree and gravity.walk: groups, or "
         "leave it out");
}

/// A setting of trees that the run has not got would be lost.
void check_tree(const Parameters& p, const std::vector<Entry>& entries) {
  const GravityParameters other;
  if (p.gravity.bucket != other.bucket && follows_from_counts(p.gravity.tree))
    fail(*find(entries, "gravity.bucket"),
         "bisections end at buckets of 8; give gravity.tree: octree or kd, or leave it out");
  if (p.gravity.split != other.split && p.gravity.tree != LocalTreeKind::kd)
    fail(*find(entries, "gravity.split"),
         "only kd-trees are cut by it; give gravity.tree: kd, or leave it out");
  if (const char* fault = fault_of_trees(p.gravity)) fail(*find(entries, "gravity.criterion"), fault);
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

/// Section `box`, and what it means for forces and the decomposition.
void complete_box(Parameters& p, const std::vector<Entry>& entries) {
  const Entry* const size = find(entries, "box.size");
  if (!p.box.periodic) {
    if (size) fail(*size, "is of a periodic box; give box.periodic: true as well, or leave it out");
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
  if (!p.box.size) fail(periodic, "needs box.size, the edge of the box");
  if (const Entry* centre = find(entries, "cosmology.centre"))
    fail(*centre, "is of spheres in open space, and the box is periodic");
  if (const Entry* potentials = find(entries, "potentials"); potentials && !p.potentials.empty())
    fail(*potentials, "are of open space, and the box is periodic");
  p.gravity.images = {*p.box.size};
  if (!p.gravity.softening_fits_box())
    fail(periodic,
         fmt::format("the softening {} is more than a sixteenth of the box",
                     p.shown.text(*std::max_element(p.gravity.softening.begin(), p.gravity.softening.end()),
                                  dimension::length)));
  p.decomposition.period = *p.box.size;
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

/// The particles must come from somewhere.
void check_sources(const InitialConditionsParameters& from, const std::vector<Entry>& entries,
                   const std::string& name) {
  const auto is_missing = [](const ParticleSource& source) {
    return source.file.empty() && source.model.model.empty();
  };
  if (const Entry* list = find(entries, "initial_conditions.components"); list && from.components.empty())
    fail(*list, "is empty; expected a list of maps, each with file or model");
  for (std::size_t i = 0; i < from.components.size(); ++i)
    if (is_missing(from.components[i]))
      throw InputError(
          fmt::format("{}: initial_conditions.components[{}]: give file (a snapshot) or model", name, i));
  if (from.components.empty() && is_missing(from))
    throw InputError(
        fmt::format("{}: give initial_conditions.file (a snapshot), initial_conditions.model, or "
                    "initial_conditions.components",
                    name));
}

/// Refuses keys that only the models of a universe take, and these models without the keys that they need.
void check_cosmological_model(const Parameters& p, const std::vector<Entry>& entries) {
  const InitialConditionsParameters& from = p.initial_conditions;
  if (is_cosmological(from.model.model)) {
    const Entry& model = *find(entries, "initial_conditions.model");
    if (!p.universe) fail(model, fmt::format("{} needs section cosmology", from.model.model));
    if (from.model.particles > 0)
      fail(*find(entries, "initial_conditions.n"),
           fmt::format("the number of particles of {} comes from sites", from.model.model));
    return;
  }
  if (from.cosmological == CosmologicalModelParameters{}) return;
  for (const std::string& key : cosmological_model_keys)
    if (const Entry* entry = find(entries, fmt::format("initial_conditions.{}", key)))
      fail(*entry, fmt::format("is of the models {} and {}", cosmological_box, cosmological_sphere));
}

/// Each kind of potential has keys of its own.
void check_potentials(const Parameters& p, const std::vector<Entry>& entries) {
  for (std::size_t i = 0; i < p.potentials.size(); ++i) {
    const std::string prefix = fmt::format("potentials[{}].", i);
    const Entry* const type = find(entries, prefix + "type");
    const char* const kind = word_of(p.potentials[i].kind);
    std::vector<std::string> names{"type", "position"};
    for (const PotentialKey& key : keys_of(p.potentials[i].kind)) {
      names.push_back(key.name);
      if (key.required && !find(entries, prefix + key.name))
        fail(*type, fmt::format("{} needs {}{} as well", kind, prefix, key.name));
    }
    for (const Entry& entry : entries)
      if (entry.name.starts_with(prefix) &&
          std::find(names.begin(), names.end(), entry.name.substr(prefix.size())) == names.end())
        fail(entry, fmt::format("{} has none; it takes {}", kind, fmt::join(names, ", ")));
  }
}

void check_pictures(const Parameters& p, const std::vector<Entry>& entries) {
  const View& view = p.output.view;
  if (view.pixels != 0 && view.pixels < View::fewest_pixels)
    fail(*find(entries, "output.render.pixels"),
         fmt::format("{} is out of range; expected 0, or at least {}", view.pixels, View::fewest_pixels));
  if (!view.limits.empty() && (view.limits.size() != 2 || view.limits[0] == view.limits[1]))
    fail(*find(entries, "output.render.limits"), "expected two different column densities, [low, high]");
}

/// Modes have numbers in a periodic box alone.
void check_spectra(const Parameters& p, const std::vector<Entry>& entries) {
  if (p.output.power && !p.box.periodic)
    fail(*find(entries, "output.power"),
         "a power spectrum is one of a periodic box; give box.periodic: true");
}

/// Audits compare the gravity of particles.
void check_audits(const Parameters& p, const std::vector<Entry>& entries) {
  if (!p.gravity.self_gravity && p.audit.every > 0)
    fail(*find(entries, "audit.every"),
         "with gravity.self_gravity: false there are no forces to check; leave it out");
}

/// Catalogues are made of snapshots, and need the linking length, or something that it follows from.
void check_halos(const Parameters& p, const std::vector<Entry>& entries) {
  if (const Entry* length = find(entries, "output.fof_length"); length && !p.output.fof)
    fail(*length, "there are no catalogues of halos; give output.fof: true");
  if (!p.output.fof) return;
  const Entry& fof = *find(entries, "output.fof");
  if (!p.output.fof_length && !p.box.periodic && !p.universe)
    fail(fof, "there is neither a periodic box nor section cosmology; give output.fof_length");
  for (const char* name : {"Coordinates", "Velocities", "Masses"})
    if (const auto& written = p.output.fields;
        !written.empty() && std::find(written.begin(), written.end(), name) == written.end())
      fail(fof, fmt::format("catalogues are made of snapshots, so output.fields must have {}", name));
}

/// Refuses keys that static space alone takes, or expanding space alone, in the other one.
void check_expansion(const Parameters& p, const std::vector<Entry>& entries) {
  if (!p.universe) {
    if (const Entry* step = find(entries, "time.step_ln_a"))
      fail(*step, "space is static; give section cosmology, or time.step");
    const auto& softening = p.max_physical_softening;  // used-parameters.yml has it, as 0
    const bool is_limited =
        std::any_of(softening.begin(), softening.end(), [](double most) { return most > 0; });
    if (const Entry* most = find(entries, "gravity.max_physical_softening"); most && is_limited)
      fail(*most,
           "space is static, where gravity.softening is physical; give section cosmology, or leave it out");
    return;
  }
  if (p.time.integrator != Integrator::leapfrog)
    fail(*find(entries, "time.integrator"), "particles in expanding space go by leapfrog alone");
  if (!p.potentials.empty())
    fail(*find(entries, "potentials"), "potentials stand still, and a universe with a cosmology expands");
}

void check_together(const Parameters& p, const std::vector<Entry>& entries, const std::string& name) {
  for (const schema::Exclusion& exclusion : schema::exclusions_of(p)) {
    const Entry *first = find(entries, exclusion.first), *second = find(entries, exclusion.second);
    if (first && second)
      fail(*second, fmt::format("contradicts {} ({}): {}; give one of them", first->name, first->where,
                                exclusion.reason));
  }
  for (const Row& row : schema::rows_of(p))
    if (row.required && !find(entries, row.name()) &&
        !(row.name() == "time.step" && find(entries, "time.step_ln_a")))
      throw InputError(
          fmt::format("{}: {} must be given: {} ({})", name, row.name(), row.help, schema::kind_of(row)));
  check_sources(p.initial_conditions, entries, name);
  check_cosmological_model(p, entries);
  if (p.time.begin && *p.time.begin > p.time.end)
    fail(*find(entries, "time.end"),
         fmt::format("{} lies before time.begin, {}", p.shown.text(p.time.end, dimension::time),
                     p.shown.text(*p.time.begin, dimension::time)));
  check_expansion(p, entries);
  check_step_lengths(p, entries);
  check_splitting(p, entries);
  check_tree(p, entries);
  check_potentials(p, entries);
  check_spectra(p, entries);
  check_audits(p, entries);
  check_pictures(p, entries);
  check_halos(p, entries);
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
                            const std::vector<std::string>& overrides) {
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
  complete_box(p, entries);
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

Parameters read_parameters(const Communicator& comm, const std::string& path,
                           const std::vector<std::string>& overrides) {
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
  text = comm.broadcast(text);
  Parameters result;
  comm.together([&] { result = parse_parameters(text, path, overrides); });
  return result;
}

}  // namespace grove
