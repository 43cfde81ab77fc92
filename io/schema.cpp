#include "io/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/schema_slots.hpp"
#include "io/whole_number.hpp"
#include "io/words.hpp"

namespace grove::schema {
namespace {

/// Parameters without a section.
std::vector<Row> top_rows() {
  std::string numbers;
  for (std::size_t i = 0; i < words<Accuracy>.size(); ++i) {
    const auto accuracy = static_cast<Accuracy>(i);
    const AccuracyOf of = accuracy_of(accuracy, false);
    const std::string periodic =
        of.periodic_delta == of.delta ? "" : fmt::format(" (in a periodic box {:.5f})", of.periodic_delta);
    numbers += fmt::format("{}`{}` {}{} and {} (in expanding space {})", i > 0 ? ", " : "",
                           words<Accuracy>[i], of.delta, periodic, of.eta, accuracy_of(accuracy, true).eta);
  }
  const Choice accuracy{{words<Accuracy>.begin(), words<Accuracy>.end()},
                        [](const Parameters& p) { return static_cast<std::size_t>(p.accuracy); },
                        [](Parameters& p, std::size_t index) { p.accuracy = static_cast<Accuracy>(index); }};
  return {
      {"", "accuracy", accuracy, dimension::none, any, optional,
       "accuracy of forces and steps together: `gravity.delta` and `time.eta`, each unless it is given: " +
           numbers + "; what that means: docs/performance.md"}};
}

std::vector<Row> units_rows() {
  using U = UnitsParameters;
  constexpr auto in = &Parameters::unit_choice;
  return {
      {"units", "system", Word{{"galactic", "none", "custom"}, at(in, &U::system)}, dimension::none, any,
       optional,
       "`galactic`: kpc, 1e10 Msun, km/s, so a unit of time of 0.978 Gyr; `none`: G = 1 and values without "
       "units; `custom`: the three sizes below"},
      {"units", "length", at(in, &U::length_cm), dimension::length, positive, optional,
       "size of the unit of length; a bare number is in cm"},
      {"units", "mass", at(in, &U::mass_g), dimension::mass, positive, optional,
       "size of the unit of mass; a bare number is in g"},
      {"units", "velocity", at(in, &U::velocity_cm_s), dimension::velocity, positive, optional,
       "size of the unit of velocity; a bare number is in cm/s"},
  };
}

std::vector<Row> potentials_rows() {
  const List potentials{.count = [](const Parameters& p) { return p.potentials.size(); },
                        .resize = [](Parameters& p, std::size_t n) { p.potentials.resize(n); },
                        .rows = potential_rows,
                        .exclusions = {}};
  return {{"potentials", "", potentials, dimension::none, any, optional, ""}};
}

std::vector<Row> all_rows() {
  return together({top_rows(), units_rows(), initial_conditions_rows(), cosmology_rows(), box_rows(),
                   gravity_rows(), gas_rows(), potentials_rows(), decomposition_rows(), time_rows(),
                   tuning_rows(), output_rows()});
}

}  // namespace

const std::vector<Section>& sections() {
  static const std::vector<Section> all = {
      {"", "Beside all sections:"},
      {"units", "The units of the run; bare numbers elsewhere are in them."},
      {"initial_conditions", "The particles: from a file, of a model, or several of these put together."},
      {"cosmology",
       "Space that expands: places are comoving, velocities of snapshots as in GADGET, and times may be "
       "given as "
       "redshifts, `z=49`, or scale factors, `a=0.02`. None of these: space is static."},
      {"box", "Space that repeats itself: docs/cosmology.md. None of these: it is open."},
      {"gravity", "How forces are computed, and how accurately."},
      {"gas",
       "Smoothed particle hydrodynamics of particles of type 0 that have internal energies: docs/gas.md."},
      {"potentials",
       "Fixed fields that act on all particles beside their own gravity, any number, a list of maps: "
       "docs/potentials.md."},
      {"decomposition",
       "How space is divided over leaves and ranks. No result depends on the number of ranks."},
      {"time", "The span of time and its steps."},
      {"tuning", "How trees follow the particles as they move."},
      {"output", "What is written, where and when."},
      {"audit", "Checks of the forces against direct summation."},
      {"checkpoint", "How often the run is saved, by the clock on the wall, in s, min, h or d."},
      {"limits", "How long the run may take, by the clock on the wall, in s, min, h or d."},
  };
  return all;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = all_rows();
  return all;
}

const std::vector<Exclusion>& exclusions() {
  static const std::vector<Exclusion> all = [] {
    std::vector<Exclusion> list = {
        {"output.every", "output.times", "snapshots come at regular times or at listed ones"},
        {"decomposition.leaf_size", "decomposition.leaves", "one follows from the other"},
        {"tuning.rebuild_interval", "tuning.rebuild_above", "trees are renewed by one rule"},
        {"time.step", "time.step_ln_a", "steps are even in one of them"},
    };
    for (const Exclusion& exclusion : initial_conditions_exclusions()) list.push_back(exclusion);
    return list;
  }();
  return all;
}

std::vector<Row> rows_of(const Parameters& parameters) {
  std::vector<Row> all = rows();
  for (const Row& row : rows())
    if (const List* list = std::get_if<List>(&row.value))
      for (std::size_t i = 0; i < list->count(parameters); ++i)
        for (const Row& own : list->rows(i)) all.push_back(own);
  return all;
}

std::vector<Exclusion> exclusions_of(const Parameters& parameters) {
  std::vector<Exclusion> all = exclusions();
  for (const Row& row : rows())
    if (const List* list = std::get_if<List>(&row.value))
      for (std::size_t i = 0; i < list->count(parameters); ++i)
        for (const Exclusion& own : list->exclusions) {
          const auto name = [&](const std::string& key) {
            return fmt::format("{}[{}].{}", row.name(), i, key);
          };
          all.push_back({name(own.first), name(own.second), own.reason});
        }
  return all;
}

bool is_known(const std::string& name) {
  return std::any_of(rows().begin(), rows().end(), [&](const Row& row) { return row.name() == name; });
}

bool is_list_of_maps(const std::string& name) {
  return std::any_of(rows().begin(), rows().end(), [&](const Row& row) {
    return std::holds_alternative<List>(row.value) && row.name() == name;
  });
}

std::optional<Element> element_of(const std::string& name) {
  for (const Row& row : rows()) {
    const List* list = std::get_if<List>(&row.value);
    if (!list || !name.starts_with(row.name() + "[")) continue;
    const std::size_t digits = row.name().size() + 1, end = name.find("].", digits);
    if (end == std::string::npos) return std::nullopt;
    const auto index = whole_number<std::uint32_t>(name.substr(digits, end - digits));
    if (!index) return std::nullopt;
    return Element{*list, row.name(), *index};
  }
  return std::nullopt;
}

std::set<std::string> left_out(const Parameters& parameters) {
  Parameters fresh;
  for (const Row& row : rows())
    if (const List* list = std::get_if<List>(&row.value)) list->resize(fresh, list->count(parameters));
  std::set<std::string> left, unset;
  for (const Row& row : rows_of(parameters)) {
    const std::string text = text_of(row, parameters), name = row.name();
    if (text.empty()) left.insert(name);
    // A zero that is the default means "choose".
    if (text.empty() || (text == "0" && text_of(row, fresh) == text)) unset.insert(name);
  }
  for (const Exclusion& exclusion : exclusions_of(parameters)) {
    if (unset.contains(exclusion.first)) left.insert(exclusion.first);
    if (unset.contains(exclusion.second) || !unset.contains(exclusion.first)) left.insert(exclusion.second);
  }
  if (!is_cosmological(parameters.initial_conditions.model.model))
    for (const std::string& key : cosmological_model_keys) left.insert("initial_conditions." + key);
  return left;
}

}  // namespace grove::schema
