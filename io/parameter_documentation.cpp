#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <vector>

#include "io/parameters.hpp"
#include "io/schema.hpp"

namespace grove {
namespace {

using schema::Exclusion;
using schema::Row;

std::string unit_of(const Row& row, const Units& units) {
  const Units own = row.units(units);
  if (row.dimension == dimension::none || own.is_dimensionless()) return "";
  return " [" + own.name(row.dimension) + "]";
}

/// In the unit that the user knows, "2 Myr", where that gives the same number to the last bit; else bare.
std::string value_of(const Row& row, const Parameters& parameters) {
  std::string bare = schema::text_of(row, parameters);
  double number = 0;
  const char* const end = bare.data() + bare.size();
  if (row.dimension == dimension::none || parameters.units.is_dimensionless() ||
      row.units(parameters.units) != parameters.units ||
      std::from_chars(bare.data(), end, number).ptr != end || number == 0)
    return bare;
  const std::string text = parameters.shown.text(number, row.dimension, 15);
  return unit_of_value(text) && parameters.units.parse(text, row.dimension) == number ? text : bare;
}

/// "key: value  # meaning [unit of bare numbers]"
std::string line_of(const Row& row, const Parameters& parameters) {
  return fmt::format("{}: {}  # {}{}\n", row.key, value_of(row, parameters), row.help,
                     unit_of(row, parameters.units));
}

/// The elements of a list of maps, each in lines of its own; below its key, unless it is a whole section.
std::string block_of(const Row& row, const schema::List& list, const Parameters& parameters,
                     const std::set<std::string>& left_out) {
  std::string text = row.key.empty() ? "" : fmt::format("  {}:  # {}\n", row.key, row.help);
  for (std::size_t i = 0; i < list.count(parameters); ++i) {
    std::string lines;
    for (const Row& own : list.rows(i))
      if (!left_out.contains(own.name()))
        lines += (lines.empty() ? "    - " : "      ") + line_of(own, parameters);
    text += lines.empty() ? "    - {}\n" : lines;
  }
  return text;
}

/// fresh: before anything is given, with the element that the row may be of.
std::string default_of(const Row& row, const Parameters& fresh) {
  if (row.required) return "must be given";
  const std::string text = schema::text_of(row, fresh);
  return text.empty() ? "unset" : "`" + text + "`";
}

std::string table_of(const std::vector<Row>& rows, const Parameters& fresh) {
  std::string text = "\n| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const Row& row : rows)
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.key, schema::kind_of(row), default_of(row, fresh),
                        row.help);
  return text;
}

/// The keys that an element of a list of maps may have. section: the rows of its section, which are not
/// explained again.
std::string table_of_list(const Row& row, const schema::List& list, const std::vector<Row>& section) {
  Parameters with_one;
  list.resize(with_one, 1);
  std::vector<Row> own;
  std::vector<std::string> shared;
  for (const Row& key : list.rows(0)) {
    const bool is_known =
        std::any_of(section.begin(), section.end(), [&](const Row& other) { return other.key == key.key; });
    is_known ? shared.push_back("`" + key.key + "`") : own.push_back(key);
  }
  if (row.key.empty()) return table_of(own, with_one);
  std::string text = fmt::format("\n### {}\n\nA list of maps, with these keys in each", row.name());
  if (!shared.empty()) text += fmt::format(" and, as they are explained above, {}", fmt::join(shared, ", "));
  return text + ".\n" + table_of(own, with_one);
}

std::string tables_of_lists(const std::vector<Row>& section) {
  std::string text;
  for (const Row& row : section)
    if (const auto* list = std::get_if<schema::List>(&row.value)) text += table_of_list(row, *list, section);
  return text;
}

}  // namespace

std::string used_parameters(const Parameters& parameters) {
  std::string text =
      "# Parameters of Grove, resolved: defaults filled in, bare numbers in the units of the run.\n";
  const std::set<std::string> left_out = schema::left_out(parameters);
  for (const schema::Section& section : schema::sections()) {
    text += section.name.empty() ? "\n" : fmt::format("\n# {}\n{}:\n", section.help, section.name);
    const char* indent = section.name.empty() ? "" : "  ";
    for (const Row& row : schema::rows()) {
      if (row.section != section.name || left_out.contains(row.name())) continue;
      const auto* list = std::get_if<schema::List>(&row.value);
      text += list ? block_of(row, *list, parameters, left_out) : indent + line_of(row, parameters);
    }
  }
  return text;
}

std::string parameter_documentation() {
  std::string text = R"(# Parameters

<!-- Made by `grove info --parameters` from the table in io/schema.hpp; do not edit. -->

`grove run PARAMETERS.yml` reads a YAML file of the sections below. `-P section.key=value` on the command line wins
over the file. A value that measures something may carry a unit (`16 pc`, `1e12 Msun`, `2 Gyr`, `220 km/s`); without
one it is in the units of the run. Every run writes what it used to `used-parameters.yml`, which can be run again.
An output folder that holds the results of an earlier run is refused; `grove run --resume auto` goes on with
them ([checkpoints.md](checkpoints.md)), `--overwrite` replaces them.
)";
  for (const schema::Section& section : schema::sections()) {
    std::vector<Row> rows;
    for (const Row& row : schema::rows())
      if (row.section == section.name) rows.push_back(row);
    const bool is_list = schema::is_list_of_maps(section.name);
    if (!section.name.empty()) text += fmt::format("\n## {}\n", section.name);
    text += fmt::format("\n{}\n{}{}", section.help, is_list ? "" : table_of(rows, {}), tables_of_lists(rows));
  }
  text += "\n## What must not be given together\n";
  std::string last;
  for (const Exclusion& exclusion : schema::exclusions()) {
    if (exclusion.first != last)
      text += fmt::format("\n- {}: `{}` and `{}`", exclusion.reason, exclusion.first, exclusion.second);
    else
      text += fmt::format(", `{}`", exclusion.second);
    last = exclusion.first;
  }
  return text + "\n";
}

}  // namespace grove
