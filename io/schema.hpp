#pragma once

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/units.hpp"
#include "io/parameters.hpp"

/// The one table of parameters. Reading, checks, documentation and used-parameters.yml are all derived from
/// it.
namespace grove::schema {

/// The place of a parameter.
template <class T>
using Slot = std::function<T&(Parameters&)>;

/// One of several words, stored as an enumeration.
struct Choice {
  std::vector<std::string> words;
  std::function<std::size_t(const Parameters&)> get;
  std::function<void(Parameters&, std::size_t)> set;
};

/// One of several words, stored as a word.
struct Word {
  std::vector<std::string> words;
  Slot<std::string> slot;
};

/// A bit mask of particle types, given as a list of their numbers.
struct TypeMask {
  Slot<std::uint8_t> slot;
};

/// Lines of sight of pictures: a list of x, y, z.
struct Axes {
  Slot<std::vector<int>> slot;
};

/// The middle of pictures: a word, or a place.
struct Centre {
  std::vector<std::string> words;  ///< by CentreOn
  Slot<View> slot;
};

using PerType = std::array<double, particle_types>;

/// Degrees; with a unit, deg or rad, in any units of the run.
struct Angle {
  Slot<double> slot;
};

struct Row;

/// Two parameters that must not both be given.
struct Exclusion {
  std::string first, second, reason;
};

/// Lengths by type, of which a map may leave out those of types that are not there.
struct MapOfTypes {
  Slot<PerType> values;
  Slot<std::uint8_t> given;  ///< bit t set: type t is in the map
};

/// A list of maps: any number of elements, each with parameters of its own.
struct List {
  std::function<std::size_t(const Parameters&)> count;
  std::function<void(Parameters&, std::size_t)> resize;  ///< new elements have their defaults
  /// Parameters of an element, in the section "name[index]". Their slots ask for an element that is
  /// there.
  std::function<std::vector<Row>(std::size_t)> rows;
  std::vector<Exclusion> exclusions;  ///< among keys of one element
};

using Value =
    std::variant<Slot<double>, Slot<std::optional<double>>, Slot<Count>, Slot<std::uint64_t>,
                 Slot<std::optional<std::uint64_t>>, Slot<bool>, Slot<std::string>, Slot<Vec3d>,
                 Slot<std::optional<Vec3d>>, Slot<std::vector<double>>, Slot<std::vector<std::string>>,
                 Slot<PerType>, Slot<TypeMap>, MapOfTypes, Angle, TypeMask, Axes, Centre, Choice, Word, List>;

/// Which numbers a parameter may have.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_included = true;

  bool holds(double value) const { return (low_included ? value >= low : value > low) && value <= high; }
  /// "at least 0", "above 0 and at most 2"; empty if every number is fine.
  std::string text() const;
};

/// Ranges and flags of rows.
inline constexpr Range any{};
inline constexpr Range positive{0, std::numeric_limits<double>::infinity(), false};
inline constexpr Range not_negative{0};
inline constexpr bool required = true, optional = false;

/// One parameter. section: empty, if it stands in none.
struct Row {
  std::string section, key;  ///< key: empty if the section as a whole is a list of maps
  Value value;
  Dimension dimension;
  Range range;
  bool required;
  std::string help;

  std::string name() const { return section.empty() || key.empty() ? section + key : section + "." + key; }
  /// The unit of a bare number of it: sizes of units in CGS and times of the machine in seconds, whatever the
  /// units of the run, which all else is in.
  Units units(const Units& of_run) const {
    return section == "units" || section == "checkpoint" || section == "limits" ? Units::of(1, 1, 1) : of_run;
  }
};

struct Section {
  std::string name, help;
};

const std::vector<Section>& sections();
/// The parameters of all sections, and those of them that must not both be given; lists without elements.
const std::vector<Row>& rows();
const std::vector<Exclusion>& exclusions();
/// Rows of one element of the list `potentials`.
std::vector<Row> potential_rows(std::size_t index);

/// Those of section `initial_conditions`, and what of them must not both be given.
std::vector<Row> initial_conditions_rows();
std::vector<Exclusion> initial_conditions_exclusions();
/// Those of the sections of these names; output_rows(): also of `audit`, `checkpoint` and `limits`.
std::vector<Row> box_rows();
std::vector<Row> cosmology_rows();
std::vector<Row> gas_rows();
std::vector<Row> gravity_rows();
std::vector<Row> decomposition_rows();
std::vector<Row> tuning_rows();
std::vector<Row> time_rows();
std::vector<Row> output_rows();

/// The same with those of the elements that lists have in these parameters, behind the others.
std::vector<Row> rows_of(const Parameters& parameters);
std::vector<Exclusion> exclusions_of(const Parameters& parameters);

/// True if a parameter of the table, not of an element of a list, has this name.
bool is_known(const std::string& name);
bool is_list_of_maps(const std::string& name);

/// The element that "section.key[1].key" or "section[1].key" names, whether it is there or not; unset: no
/// list has this name.
struct Element {
  List list;
  std::string name;  ///< of the list
  std::size_t index;
};
std::optional<Element> element_of(const std::string& name);

/// True if it says where a component of the initial conditions is put, not where its particles come from.
bool is_of_placement(const Row& row);

/// Names of the parameters of which a file of these has no line: it would say nothing, or contradict one that
/// says something.
std::set<std::string> left_out(const Parameters& parameters);

/// A parameter's value as it stands in a parameter file; empty if it is unset. A list of maps: how many
/// there are.
std::string text_of(const Row& row, const Parameters& parameters);

/// The values that may be given: "number, unit of length, above 0", "one of middle, halves", ...
std::string kind_of(const Row& row);

}  // namespace grove::schema
