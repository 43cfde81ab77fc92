// Parameters as text: their values in a file, and what may be given, for messages and documentation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "io/schema.hpp"
#include "particles/field.hpp"

namespace grove::schema {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

std::string text_of_types(std::uint8_t mask) {
  std::vector<int> types;
  for (int t = 0; t < particle_types; ++t)
    if (mask >> t & 1) types.push_back(t);
  return fmt::format("[{}]", fmt::join(types, ", "));
}

std::string text_of_types(const TypeMap& map) {
  std::vector<std::string> entries;
  for (std::size_t t = 0; t < map.size(); ++t)
    if (map[t] != t) entries.push_back(fmt::format("{}: {}", t, map[t]));
  if (entries.empty()) return "";
  if (std::all_of(map.begin(), map.end(), [&](std::uint8_t type) { return type == map[0]; }))
    return fmt::format("{}", map[0]);
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string text_of_axes(const std::vector<int>& axes) {
  std::vector<std::string> names;
  for (const int axis : axes) names.emplace_back(1, static_cast<char>('x' + axis));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string text_of_centre(const Centre& centre, const View& view) {
  if (view.centre_on == CentreOn::fixed)
    return fmt::format("[{}, {}, {}]", view.centre.x, view.centre.y, view.centre.z);
  return centre.words[static_cast<std::size_t>(view.centre_on)];
}

/// given: the types that are in the map.
std::string text_of_lengths(const PerType& values, std::uint8_t given = all_types) {
  bool same = given == all_types;
  for (const double v : values) same = same && v == values[0];
  if (same) return fmt::format("{}", values[0]);
  std::vector<std::string> entries;
  for (std::size_t t = 0; t < values.size(); ++t)
    if (given >> t & 1) entries.push_back(fmt::format("{}: {}", t, values[t]));
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

/// A text as YAML takes it whatever it contains. Line ends and their like need escapes, which need double
/// quotes.
std::string yaml_text(const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    std::string escaped;
    for (const char c : text)
      escaped += is_control(c)           ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                 : c == '"' || c == '\\' ? fmt::format("\\{}", c)
                                         : std::string(1, c);
    return '"' + escaped + '"';
  }
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

}  // namespace

std::string Range::text() const {
  std::vector<std::string> parts;
  if (std::isfinite(low)) parts.push_back(fmt::format("{} {}", low_included ? "at least" : "above", low));
  if (std::isfinite(high)) parts.push_back(fmt::format("at most {}", high));
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string text_of(const Row& row, const Parameters& parameters) {
  // Slots give references for reading and writing; nothing is written here.
  Parameters& p = const_cast<Parameters&>(parameters);
  return std::visit(
      Overloaded{
          [&](const Slot<double>& slot) { return fmt::format("{}", slot(p)); },
          [&](const Slot<std::optional<double>>& slot) { return slot(p) ? fmt::format("{}", *slot(p)) : ""; },
          [&](const Slot<Count>& slot) { return fmt::format("{}", slot(p)); },
          [&](const Slot<std::uint64_t>& slot) { return fmt::format("{}", slot(p)); },
          [&](const Slot<std::optional<std::uint64_t>>& slot) {
            return slot(p) ? fmt::format("{}", *slot(p)) : "";
          },
          [&](const Slot<bool>& slot) { return std::string(slot(p) ? "true" : "false"); },
          [&](const Slot<std::string>& slot) { return slot(p).empty() ? "" : yaml_text(slot(p)); },
          [&](const Slot<Vec3d>& slot) {
            return fmt::format("[{}, {}, {}]", slot(p).x, slot(p).y, slot(p).z);
          },
          [&](const Slot<std::vector<double>>& slot) {
            return slot(p).empty() ? "" : fmt::format("[{}]", fmt::join(slot(p), ", "));
          },
          [&](const Slot<std::vector<std::string>>& slot) {
            return slot(p).empty() ? "" : fmt::format("[{}]", fmt::join(slot(p), ", "));
          },
          [&](const Slot<std::optional<Vec3d>>& slot) {
            return slot(p) ? fmt::format("[{}, {}, {}]", slot(p)->x, slot(p)->y, slot(p)->z) : "";
          },
          [&](const Slot<PerType>& slot) { return text_of_lengths(slot(p)); },
          [&](const MapOfTypes& map) { return text_of_lengths(map.values(p), map.given(p)); },
          [&](const Slot<TypeMap>& slot) { return text_of_types(slot(p)); },
          [&](const Angle& angle) { return fmt::format("{}", angle.slot(p)); },
          [&](const TypeMask& mask) { return text_of_types(mask.slot(p)); },
          [&](const Axes& axes) { return text_of_axes(axes.slot(p)); },
          [&](const Centre& centre) { return text_of_centre(centre, centre.slot(p)); },
          [&](const Choice& choice) { return choice.words[choice.get(p)]; },
          [&](const Word& word) { return word.slot(p); },
          [&](const List& list) {
            const std::size_t count = list.count(p);
            return count > 0 ? fmt::format("{}", count) : "";
          }},
      row.value);
}

std::string kind_of(const Row& row) {
  const std::string kind = std::visit(
      Overloaded{
          [](const Slot<double>&) { return std::string("number"); },
          [](const Slot<std::optional<double>>&) { return std::string("number"); },
          [](const Slot<Count>&) { return std::string("whole number"); },
          [](const Slot<std::uint64_t>&) { return std::string("whole number"); },
          [](const Slot<std::optional<std::uint64_t>>&) { return std::string("whole number"); },
          [](const Slot<bool>&) { return std::string("true or false"); },
          [](const Slot<std::string>&) { return std::string("text"); },
          [](const Slot<Vec3d>&) { return std::string("three numbers, [x, y, z]"); },
          [](const Slot<std::vector<double>>&) { return std::string("list of numbers"); },
          [](const Slot<std::vector<std::string>>&) { return std::string("list of names"); },
          [](const Slot<PerType>&) { return std::string("number or map from type to number"); },
          [](const MapOfTypes&) { return std::string("number or map from type to number"); },
          [](const Slot<std::optional<Vec3d>>&) { return std::string("three numbers, [x, y, z]"); },
          [](const Slot<TypeMap>&) { return std::string("type, 0 to 5, or map from type to type"); },
          [](const Angle&) { return std::string("number of degrees, or with deg or rad"); },
          [](const TypeMask&) { return std::string("list of types, 0 to 5"); },
          [](const Axes&) { return std::string("list of x, y, z"); },
          [](const Centre& centre) { return fmt::format("{} or [x, y, z]", fmt::join(centre.words, ", ")); },
          [](const Choice& choice) { return fmt::format("one of {}", fmt::join(choice.words, ", ")); },
          [](const Word& word) { return fmt::format("one of {}", fmt::join(word.words, ", ")); },
          [](const List&) { return std::string("list of maps"); }},
      row.value);
  const std::pair<Dimension, std::string_view> units[] = {
      {dimension::length, "unit of length"},
      {dimension::mass, "unit of mass"},
      {dimension::time, "unit of time"},
      {dimension::velocity, "unit of velocity"},
      {dimension::acceleration, "unit of acceleration"},
      {dimension::surface_density, "unit of mass over area"}};
  std::string result = kind;
  for (const auto& [dimension, name] : units)
    if (row.dimension == dimension) result += fmt::format(" with an optional {}", name);
  if (const std::string range = row.range.text(); !range.empty()) result += ", " + range;
  return result;
}

}  // namespace grove::schema
