#include "io/parameter_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "io/whole_number.hpp"
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
    if (!YAML::convert<bool>::decode(YAML::Node(text), slot(p_)))
      fail(entry_, fmt::format("'{}' is not true or false", text));
  }
  void operator()(const Slot<std::string>& slot) const { slot(p_) = scalar(entry_, entry_.value, row_); }
  void operator()(const Slot<std::vector<double>>& slot) const {
    slot(p_).clear();
    for (const YAML::Node& node : elements(entry_, row_))
      slot(p_).push_back(number(entry_, node, row_, units_));
    if (!std::is_sorted(slot(p_).begin(), slot(p_).end()))
      fail(entry_, row_.dimension == dimension::time ? "the times must increase, so redshifts decrease"
                                                     : "the values must increase");
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

}  // namespace

void store(Parameters& parameters, const Entry& entry, const Row& row, const Units& units) {
  std::visit(Store(parameters, entry, row, units), row.value);
}

}  // namespace grove
