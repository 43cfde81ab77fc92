#include "io/schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "io/whole_number.hpp"
#include "io/words.hpp"
#include "particles/particles.hpp"

namespace grove::schema {
namespace {

template <class Section, class T>
Slot<T> at(Section Parameters::*section, T Section::*member) {
  return [=](Parameters& p) -> T& { return p.*section.*member; };
}

template <class T>
Slot<T> of_view(T View::*member) {
  return [=](Parameters& p) -> T& { return p.output.view.*member; };
}

template <class Section, class Enum>
Choice choice(Section Parameters::*section, Enum Section::*member) {
  return {{words<Enum>.begin(), words<Enum>.end()},
          [=](const Parameters& p) { return static_cast<std::size_t>(p.*section.*member); },
          [=](Parameters& p, std::size_t index) { p.*section.*member = static_cast<Enum>(index); }};
}

/// Names of the datasets a snapshot may hold.
std::string output_field_names(bool by_default) {
  std::vector<std::string_view> names;
  for_each_field([&](const auto& field) {
    if (field.info.output && (field.info.output_by_default || !by_default)) names.push_back(field.info.name);
  });
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Parameters without a section.
std::vector<Row> top_rows() {
  std::string numbers;
  for (std::size_t i = 0; i < words<Accuracy>.size(); ++i) {
    const AccuracyOf of = accuracy_of(static_cast<Accuracy>(i));
    numbers += fmt::format("{}`{}` {} and {}", i > 0 ? ", " : "", words<Accuracy>[i], of.delta, of.eta);
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

std::vector<Row> gravity_rows() {
  using G = GravityParameters;
  constexpr auto in = &Parameters::gravity;
  return {
      {"gravity", "criterion", choice(in, &G::criterion), dimension::none, any, optional,
       "when a node may stand for its particles: opening angle with the edge of the node's box "
       "(`opening_edge`) or of the octree's cell (`opening_cell`, of octrees) or with its radius, or an "
       "error "
       "relative to the median acceleration (`multipole`) or to the particle's own (`acceleration`; "
       "with the edge of the node's box `relative_edge`)"},
      {"gravity", "theta", at(in, &G::theta), dimension::none, Range{0, 2}, optional,
       "opening angle; of the first evaluation also where the criterion is an accuracy"},
      {"gravity", "delta", at(in, &G::delta), dimension::none, Range{0, 1, false}, optional,
       "accuracy of `multipole`, `acceleration` and `relative_edge`; unset: as `accuracy` says"},
      {"gravity", "first", choice(in, &G::first), dimension::none, any, optional,
       "forces from which a criterion that needs an acceleration has its first one: by the opening angle "
       "`theta` "
       "(`angle`), or direct sums"},
      {"gravity", "order", choice(in, &G::order), dimension::none, any, optional,
       "terms of the expansion of a node's force"},
      {"gravity", "kernel", choice(in, &G::kernel), dimension::none, any, optional,
       "shape of softened particles"},
      {"gravity", "tree", choice(in, &G::tree), dimension::none, any, optional,
       "what stands in each leaf of the decomposition: its bisection continued, an octree, or a kd-tree "
       "(`kd`). With `decomposition.rule: centre` octrees are the global one, as in one leaf "
       "that "
       "holds all particles (`decomposition.leaf_size`)"},
      {"gravity", "curve", choice(in, &G::curve), dimension::none, any, optional,
       "order of an octree's cells and of the particles in its leaves"},
      {"gravity", "split", choice(in, &G::split), dimension::none, any, optional,
       "where a kd-tree cuts nodes of fewer than 256 particles: where volume times mass of both parts is "
       "least, "
       "in the box that the cuts above leave (`vmh`) or in the particles' tight box (`vmh-tight`), in the "
       "spatial middle, or at the median"},
      {"gravity", "bucket", at(in, &G::bucket), dimension::none, Range{1, group_size}, optional,
       "largest number of particles of a node that an octree or a kd-tree does not divide"},
      {"gravity", "walk", choice(in, &G::walk), dimension::none, any, optional,
       "what goes through the trees: groups of particles, or each particle along the links of the nodes "
       "(`rope`), which tests it at its own place and is several times as slow"},
      {"gravity", "critical_separation", at(in, &G::critical_separation), dimension::length, not_negative,
       optional,
       "groups of particles that walk octrees are split into parts that reach no farther than this; 0: what "
       "costs least"},
      {"gravity", "direct_below", at(in, &G::direct_below), dimension::none, Range{0, 1e9}, optional,
       "fewer particles than this attract each other directly, without a tree; 0: never. docs/performance.md "
       "says where that is faster"},
      {"gravity", "softening",
       MapOfTypes{at(in, &G::softening), [](Parameters& p) -> std::uint8_t& { return p.softened; }},
       dimension::length, not_negative, required,
       "Plummer-equivalent softening length, one for all types or a map from type to length, with a length "
       "for each type that there are particles of"},
  };
}

std::vector<Row> potentials_rows() {
  const List potentials{.count = [](const Parameters& p) { return p.potentials.size(); },
                        .resize = [](Parameters& p, std::size_t n) { p.potentials.resize(n); },
                        .rows = potential_rows,
                        .exclusions = {}};
  return {{"potentials", "", potentials, dimension::none, any, optional, ""}};
}

std::vector<Row> decomposition_rows() {
  using D = DecompositionParameters;
  constexpr auto in = &Parameters::decomposition;
  const std::string s = "decomposition";
  return {
      {s, "rule", choice(in, &D::rule), dimension::none, any, optional,
       "where cells are cut: near the middle of their box (`middle`), into equal weights (`halves`), or as "
       "the "
       "root cube is halved (`centre`, for octrees)"},
      {s, "leaf_size", at(in, &D::leaf_size), dimension::none, Range{0, 1 << 30}, optional,
       "the most particles in a leaf; 0: 4096, fewer for few particles"},
      {s, "leaves", at(in, &D::leaves), dimension::none, Range{0, 1 << 30}, optional,
       "number of leaves; 0: follows from the leaf size; under `centre` there are more than these"},
      {s, "method", choice(in, &D::method), dimension::none, any, optional,
       "how cuts are searched; the cuts are the same"},
      {s, "schedule", choice(in, &D::schedule), dimension::none, any, optional,
       "which cells all ranks cut together; the cuts are the same"},
      {s, "transport", choice(in, &D::transport), dimension::none, any, optional,
       "how services travel over the ranks; the cuts are the same"},
  };
}

std::vector<Row> time_and_output_rows() {
  using T = TimeParameters;
  using O = OutputParameters;
  using A = AuditParameters;
  constexpr auto time = &Parameters::time;
  constexpr auto out = &Parameters::output;
  constexpr auto audit = &Parameters::audit;
  return {
      {"time", "begin", at(time, &T::begin), dimension::time, any, optional,
       "time at the start; unset: that of the initial conditions"},
      {"time", "end", at(time, &T::end), dimension::time, any, required, "time at which the run is done"},
      {"time", "step", at(time, &T::step), dimension::time, positive, required,
       "longest time step; shortened so that whole steps lead from begin to end"},
      {"time", "steps", choice(time, &T::steps), dimension::none, any, optional,
       "`block`: each particle's steps are the longest one halved as often as its acceleration asks for; "
       "`shared`: all particles take the longest step"},
      {"time", "eta", at(time, &T::eta), dimension::none, positive, optional,
       "accuracy of `block`: a step is at most the square root of length over acceleration, times eta; "
       "unset: "
       "as `accuracy` says. GADGET's ErrTolIntAccuracy x is eta = sqrt(2 x): its usual 0.025 is 0.22"},
      {"time", "length", at(time, &T::length), dimension::length, not_negative, optional,
       "length in that criterion, one for all types or a map from type to length; 0: the softening"},
      {"time", "min_step", at(time, &T::min_step), dimension::time, not_negative, optional,
       "no particle gets a shorter step than this"},
      {"time", "integrator", choice(time, &T::integrator), dimension::none, any, optional,
       "where particles are inside of their steps: on straight lines (`leapfrog`), or on parabolas "
       "(`predictor_corrector`)"},
      {"tuning", "rebuild_interval", at(&Parameters::tuning, &TuningParameters::rebuild_interval),
       dimension::none, Range{0, 1e6}, optional,
       "steps from one decomposition and growth of trees to the next; between them trees are refitted; 0: "
       "what "
       "costs least, see `tuning.cost`"},
      {"tuning", "rebuild_above", at(&Parameters::tuning, &TuningParameters::rebuild_above), dimension::none,
       positive, optional,
       "new cuts and trees when the walk takes more than 1 + this times the interactions per active particle "
       "that it took after the last ones; between them trees are refitted; 0.2 is the rule of the published "
       "kd-tree"},
      {"tuning", "cost", choice(&Parameters::tuning, &TuningParameters::cost), dimension::none, any, optional,
       "what new trees and cuts cost there: as many interactions as on a reference machine (`counted`), or "
       "as "
       "the walks of this run make in that time (`measured`): then another run may renew its trees at other "
       "steps, so that results differ, within the accuracy of the forces"},
      {"output", "folder", at(out, &O::folder), dimension::none, any, optional,
       "where all output goes; made if missing"},
      {"output", "every", at(out, &O::every), dimension::time, positive, optional, "time between snapshots"},
      {"output", "times", at(out, &O::times), dimension::time, any, optional,
       "times of the snapshots, a list; between steps, positions and velocities are "
       "extrapolated to them, other fields are those of each particle's last step"},
      {"output", "fields", at(out, &O::fields), dimension::none, any, optional,
       "datasets to write, a list; unset: " + output_field_names(true) +
           "; possible: " + output_field_names(false)},
      {"output", "types", TypeMask{at(out, &O::types)}, dimension::none, any, optional,
       "types to write, a list"},
      {"output", "render", at(out, &O::render), dimension::none, any, optional,
       "a picture of each snapshot; or a map of what it shows, with the keys that follow"},
      {"output", "files", at(out, &O::files), dimension::none, Range{1, 1 << 20}, optional,
       "files that a snapshot is divided into"},
      {"audit", "every", at(audit, &A::every), dimension::none, not_negative, optional,
       "longest steps between checks of the forces against direct summation, which come at their ends and "
       "inside of "
       "them in turn; 0: once, when the run is done"},
      {"audit", "particles", at(audit, &A::particles), dimension::none, Range{1, 1 << 30}, optional,
       "particles to check"},
  };
}

std::vector<Row> render_rows() {
  using V = View;
  return {
      {"output", "render.axes", Axes{of_view(&V::axes)}, dimension::none, any, optional,
       "lines of sight, one panel for each"},
      {"output", "render.pixels", of_view(&V::pixels), dimension::none, Range{0, V::most_pixels}, optional,
       fmt::format("of a panel's side, at least {}; 0: {} of one panel, {} of several", V::fewest_pixels,
                   V::single_panel_pixels, V::several_panels_pixels)},
      {"output", "render.types", TypeMask{of_view(&V::types)}, dimension::none, any, optional,
       "types to show, a list; empty: stars (2, 3, 4) if there are any, else all"},
      {"output", "render.centre",
       Centre{{words<CentreOn>.begin(), words<CentreOn>.end()},
              [](Parameters& p) -> View& { return p.output.view; }},
       dimension::length, any, optional,
       "middle of the picture: of the particles in the first one, chosen anew once a quarter of them has "
       "left "
       "it (`middle`); their centre of mass (`mass`) or the densest place (`densest`) in each; or a place"},
      {"output", "render.width", of_view(&V::width), dimension::length, positive, optional,
       "of a panel; unset: twice what holds 90 % of the particles in the first picture, and more once a "
       "quarter of them has left it"},
      {"output", "render.limits", of_view(&V::limits), dimension::surface_density, positive, optional,
       "column densities of the dark and the bright end of the colours, [low, high]; unset: what suits the "
       "first "
       "picture"},
  };
}

std::vector<Row> checkpoint_rows() {
  using C = CheckpointParameters;
  return {
      {"checkpoint", "every", at(&Parameters::checkpoint, &C::every), dimension::time, not_negative, optional,
       "time from one checkpoint to the next, a bare number in seconds; the last two are kept; 0: only when "
       "the run ends or is stopped"},
  };
}

std::vector<Row> limits_rows() {
  using L = LimitsParameters;
  constexpr auto in = &Parameters::limits;
  return {
      {"limits", "hang", at(in, &L::hang), dimension::time, Range{1, 1e9}, optional,
       "a rank that makes no progress for this long, and 20 times what is predicted, ends the run; a bare "
       "number is "
       "in seconds"},
      {"limits", "wall_clock", at(in, &L::wall_clock), dimension::time, not_negative, optional,
       "time, from its start, after which the run must have ended; it stops so early that a step and a "
       "checkpoint "
       "have room; a bare number is in seconds; 0: no limit but that of the job"},
  };
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (auto part :
       {top_rows(), units_rows(), initial_conditions_rows(), gravity_rows(), potentials_rows(),
        decomposition_rows(), time_and_output_rows(), render_rows(), checkpoint_rows(), limits_rows()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

const std::vector<Section>& sections() {
  static const std::vector<Section> all = {
      {"", "Beside all sections:"},
      {"units", "The units of the run; bare numbers elsewhere are in them."},
      {"initial_conditions", "The particles: from a file, of a model, or several of these put together."},
      {"gravity", "How forces are computed, and how accurately."},
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
  return left;
}

}  // namespace grove::schema
