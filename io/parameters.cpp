#include "io/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/errors.hpp"
#include "io/file.hpp"
#include "io/hdf5.hpp"
#include "io/parameter_entries.hpp"
#include "io/schema.hpp"
#include "io/snapshot_file.hpp"
#include "io/whole_number.hpp"
#include "io/words.hpp"
#include "particles/particles.hpp"

namespace grove {
namespace {

using schema::PerType;
using schema::Row;
using schema::Slot;

std::string scalar(const Entry& entry, const YAML::Node& node, const Row& row) {
  if (!node.IsScalar() || node.Scalar().empty())
    fail(entry, fmt::format("expected {}", schema::kind_of(row)));
  return node.Scalar();
}

/// The elements of a list; a single value is a list of one.
std::vector<YAML::Node> elements(const Entry& entry, const Row& row) {
  if (entry.value.IsScalar()) return {entry.value};
  if (!entry.value.IsSequence()) fail(entry, fmt::format("expected {}", schema::kind_of(row)));
  return {entry.value.begin(), entry.value.end()};
}

double number(const Entry& entry, const YAML::Node& node, const Row& row, const Units& units) {
  const std::string text = scalar(entry, node, row);
  double value = 0;
  try {
    value = units.parse(text, row.dimension);
  } catch (const InputError& error) {
    fail(entry, fmt::format("{}; expected {}", error.what(), schema::kind_of(row)));
  }
  if (!row.range.holds(value))
    fail(entry, fmt::format("{} is out of range; expected {}", text, schema::kind_of(row)));
  return value;
}

template <class T>
T whole(const Entry& entry, const YAML::Node& node, const Row& row) {
  const std::string text = scalar(entry, node, row);
  const std::optional<T> value = whole_number<T>(text);
  if (!value) {
    number(entry, node, row, Units::dimensionless());  // says so if it is no number at all
    fail(entry, fmt::format("{} is not a whole number; expected {}", text, schema::kind_of(row)));
  }
  if (!row.range.holds(static_cast<double>(*value)))
    fail(entry, fmt::format("{} is out of range; expected {}", text, schema::kind_of(row)));
  return *value;
}

std::size_t word(const Entry& entry, const Row& row, const std::vector<std::string>& words) {
  const std::string text = scalar(entry, entry.value, row);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) fail(entry, fmt::format("'{}' is not {}", text, schema::kind_of(row)));
  return static_cast<std::size_t>(found - words.begin());
}

std::size_t particle_type(const Entry& entry, const YAML::Node& node, const Row& row) {
  const std::string text = scalar(entry, node, row);
  if (text.size() != 1 || text[0] < '0' || text[0] >= '0' + particle_types)
    fail(entry, fmt::format("'{}' is not a particle type, 0 to {}", text, particle_types - 1));
  return static_cast<std::size_t>(text[0] - '0');
}

/// "x, y, z" is taken as [x, y, z]; a unit, or none, stands behind each number.
Vec3d vector(const Entry& entry, const Row& row, const Units& units) {
  std::vector<YAML::Node> parts;
  if (entry.value.IsSequence()) {
    parts = elements(entry, row);
  } else {
    const std::string text = scalar(entry, entry.value, row);
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      parts.emplace_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (parts.size() != 3)
    fail(entry, fmt::format("{} given; expected {}", parts.size(), schema::kind_of(row)));
  return {number(entry, parts[0], row, units), number(entry, parts[1], row, units),
          number(entry, parts[2], row, units)};
}

double degrees(const Entry& entry, const Row& row) {
  std::string text = scalar(entry, entry.value, row);
  double unit = 1;
  for (const auto& [name, size] : {std::pair("deg", 1.0), std::pair("rad", 180 / std::numbers::pi)})
    if (text.ends_with(name)) text.resize(text.size() - 3), unit = size;
  return unit * number(entry, YAML::Node(text), row, Units::dimensionless());
}

/// The items of a map whose keys are types.
std::vector<std::pair<std::size_t, YAML::Node>> items_by_type(const Entry& entry, const Row& row) {
  std::vector<std::pair<std::size_t, YAML::Node>> items;
  for (const auto& item : entry.value) {
    // YAML takes {1:0.01} for a key without a value.
    if (item.second.IsNull() && item.first.IsScalar() && item.first.Scalar().find(':') != std::string::npos)
      fail(entry, fmt::format("'{}' needs a space after the colon, as in {{1: 0.01}}", item.first.Scalar()));
    items.emplace_back(particle_type(entry, item.first, row), item.second);
  }
  return items;
}

/// Stores the value of an entry in the place that its row names.
class Store {
 public:
  Store(Parameters& parameters, const Entry& entry, const Row& row, const Units& units)
      : p_(parameters), entry_(entry), row_(row), units_(units) {}

  void operator()(const Slot<double>& slot) const { slot(p_) = number(entry_, entry_.value, row_, units_); }
  void operator()(const Slot<std::optional<double>>& slot) const {
    slot(p_) = number(entry_, entry_.value, row_, units_);
  }
  void operator()(const Slot<Count>& slot) const { slot(p_) = whole<Count>(entry_, entry_.value, row_); }
  void operator()(const Slot<std::uint64_t>& slot) const {
    slot(p_) = whole<std::uint64_t>(entry_, entry_.value, row_);
  }
  void operator()(const Slot<std::optional<std::uint64_t>>& slot) const {
    slot(p_) = whole<std::uint64_t>(entry_, entry_.value, row_);
  }
  void operator()(const Slot<Vec3d>& slot) const { slot(p_) = vector(entry_, row_, units_); }
  void operator()(const Slot<std::optional<Vec3d>>& slot) const { slot(p_) = vector(entry_, row_, units_); }
  void operator()(const Slot<bool>& slot) const {
    const std::string text = scalar(entry_, entry_.value, row_);
    const bool yes = text == "true" || text == "yes" || text == "on";
    if (!yes && text != "false" && text != "no" && text != "off")
      fail(entry_, fmt::format("'{}' is not true or false", text));
    slot(p_) = yes;
  }
  void operator()(const Slot<std::string>& slot) const { slot(p_) = scalar(entry_, entry_.value, row_); }
  void operator()(const Slot<std::vector<double>>& slot) const {
    slot(p_).clear();
    for (const YAML::Node& node : elements(entry_, row_))
      slot(p_).push_back(number(entry_, node, row_, units_));
    if (!std::is_sorted(slot(p_).begin(), slot(p_).end())) fail(entry_, "the values must increase");
  }
  void operator()(const Slot<std::vector<std::string>>& slot) const {
    slot(p_).clear();
    for (const YAML::Node& node : elements(entry_, row_))
      slot(p_).push_back(dataset(scalar(entry_, node, row_)));
  }
  void operator()(const Slot<PerType>& slot) const { store_lengths(slot(p_)); }
  void operator()(const schema::MapOfTypes& map) const { map.given(p_) = store_lengths(map.values(p_)); }
  void operator()(const Slot<TypeMap>& slot) const {
    const auto type = [&](const YAML::Node& node) {
      return static_cast<std::uint8_t>(particle_type(entry_, node, row_));
    };
    slot(p_) = Placement{}.type;
    if (!entry_.value.IsMap()) return slot(p_).fill(type(entry_.value));
    for (const auto& [from, node] : items_by_type(entry_, row_)) slot(p_)[from] = type(node);
  }
  void operator()(const schema::Angle& angle) const { angle.slot(p_) = degrees(entry_, row_); }
  void operator()(const schema::TypeMask& mask) const {
    mask.slot(p_) = 0;
    for (const YAML::Node& node : elements(entry_, row_))
      mask.slot(p_) = static_cast<std::uint8_t>(mask.slot(p_) | 1 << particle_type(entry_, node, row_));
  }
  void operator()(const schema::Axes& axes) const {
    std::vector<int>& chosen = axes.slot(p_);
    chosen.clear();
    for (const YAML::Node& node : elements(entry_, row_)) {
      const std::string text = scalar(entry_, node, row_);
      if (text != "x" && text != "y" && text != "z")
        fail(entry_, fmt::format("'{}' is not one of x, y, z", text));
      const int axis = text[0] - 'x';
      if (std::find(chosen.begin(), chosen.end(), axis) != chosen.end())
        fail(entry_, fmt::format("{} is there twice", text));
      chosen.push_back(axis);
    }
    if (chosen.empty()) fail(entry_, fmt::format("expected {}", schema::kind_of(row_)));
  }
  void operator()(const schema::Centre& centre) const {
    View& view = centre.slot(p_);
    if (entry_.value.IsScalar()) {
      view.centre_on = static_cast<CentreOn>(word(entry_, row_, centre.words));
      return;
    }
    const std::vector<YAML::Node> place = elements(entry_, row_);
    if (place.size() != 3) fail(entry_, fmt::format("expected {}", schema::kind_of(row_)));
    for (int axis = 0; axis < 3; ++axis)
      view.centre[axis] = number(entry_, place[static_cast<std::size_t>(axis)], row_, units_);
    view.centre_on = CentreOn::fixed;
  }
  void operator()(const schema::Choice& choice) const { choice.set(p_, word(entry_, row_, choice.words)); }
  void operator()(const schema::Word& choice) const {
    choice.slot(p_) = choice.words[word(entry_, row_, choice.words)];
  }
  void operator()(const schema::List& list) const {
    list.resize(p_, 0);
    list.resize(p_, entry_.value.IsSequence() ? entry_.value.size() : 0);
  }

 private:
  /// Stores a length for all types, or those of a map, with 0 for the others. Returns the types that got one.
  std::uint8_t store_lengths(PerType& by_type) const {
    if (!entry_.value.IsMap()) {
      by_type.fill(number(entry_, entry_.value, row_, units_));
      return all_types;
    }
    by_type.fill(0);
    unsigned given = 0;
    for (const auto& [type, node] : items_by_type(entry_, row_)) {
      by_type[type] = number(entry_, node, row_, units_);
      given |= 1u << type;
    }
    return static_cast<std::uint8_t>(given);
  }
  std::string dataset(const std::string& name) const {
    std::vector<std::string_view> known;
    for_each_field([&](const auto& field) {
      if (field.info.output) known.push_back(field.info.name);
    });
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail(entry_, fmt::format("'{}' is not a dataset; possible: {}", name, fmt::join(known, ", ")));
    return name;
  }

  Parameters& p_;
  const Entry& entry_;
  const Row& row_;
  const Units& units_;
};

/// Stores section `units` and resolves it; the values of the other sections are read in these units.
void store_units(Parameters& p, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries)
    if (const Row& row = row_of(entry); row.section == "units")
      std::visit(Store(p, entry, row, row.units(p.units)), row.value);
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

/// What values of the run are shown in: units as they are written of the particles, else of external
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
    std::visit(Store(p, entry, row, row.units(p.units)), row.value);
  }
}

/// What `accuracy` stands for, where it is not given.
void complete_accuracy(Parameters& p, const std::vector<Entry>& entries) {
  static_assert(GravityParameters{}.delta == accuracy_of(Accuracy::standard).delta);
  if (!find(entries, "gravity.delta")) p.gravity.delta = accuracy_of(p.accuracy).delta;
  if (!find(entries, "time.eta")) p.time.eta = accuracy_of(p.accuracy).eta;
}

/// What follows for the models from the rest.
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

void check_together(const Parameters& p, const std::vector<Entry>& entries, const std::string& name) {
  for (const schema::Exclusion& exclusion : schema::exclusions_of(p)) {
    const Entry *first = find(entries, exclusion.first), *second = find(entries, exclusion.second);
    if (first && second)
      fail(*second, fmt::format("contradicts {} ({}): {}; give one of them", first->name, first->where,
                                exclusion.reason));
  }
  for (const Row& row : schema::rows_of(p))
    if (row.required && !find(entries, row.name()))
      throw InputError(
          fmt::format("{}: {} must be given: {} ({})", name, row.name(), row.help, schema::kind_of(row)));
  check_sources(p.initial_conditions, entries, name);
  if (p.time.begin && *p.time.begin > p.time.end)
    fail(*find(entries, "time.end"),
         fmt::format("{} lies before time.begin, {}", p.shown.text(p.time.end, dimension::time),
                     p.shown.text(*p.time.begin, dimension::time)));
  check_step_lengths(p, entries);
  check_splitting(p, entries);
  check_potentials(p, entries);
  check_pictures(p, entries);
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

StepRule TimeParameters::rule(double longest, const std::array<double, particle_types>& softening) const {
  StepRule rule{.eta = eta, .longest = longest, .length = {}, .deepest = 0};
  for (std::size_t type = 0; type < particle_types; ++type)
    rule.length[type] = length[type] > 0 ? length[type] : softening[type];
  if (steps == StepKind::shared) return rule;
  rule.deepest = deepest_level;
  while (rule.deepest > 0 && std::ldexp(longest, -rule.deepest) < min_step * (1 - 1e-12)) --rule.deepest;
  return rule;
}

Parameters parse_parameters(const std::string& text, const std::string& name,
                            const std::vector<std::string>& overrides) {
  std::vector<Entry> entries = entries_of_file(text, name);
  override_entries(entries, overrides);
  Parameters p;
  store_units(p, entries);
  store_values(p, entries);
  complete_accuracy(p, entries);
  p.typed = typed_units(entries);
  p.shown = DisplayUnits(p.units, p.typed);
  check_together(p, entries, name);
  p.gravity.gravitational_constant = p.units.gravitational_constant;
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
    std::visit(Store(p, entry, row, units), row.value);
  }
  return std::move(p.initial_conditions.components);
}

Softening parse_softening(const std::string& text, const std::string& option, const Units& units) {
  const Entry entry{"gravity.softening", load_yaml(text, option), fmt::format("{} {}", option, text)};
  const Row row = row_of(entry);
  Parameters p;
  std::visit(Store(p, entry, row, units), row.value);
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
