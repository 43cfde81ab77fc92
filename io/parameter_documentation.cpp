#include <fmt/format.h>

#include <algorithm>

#include "io/parameters.hpp"
#include "io/schema.hpp"

namespace grove {
namespace {

using schema::Exclusion;
using schema::Row;

const Row& row_of(const std::string& name) {
  return *std::find_if(schema::rows().begin(), schema::rows().end(),
                       [&](const Row& row) { return row.name() == name; });
}

/// Whether a row's line would say nothing, or contradict a line that says something.
bool is_left_out(const Row& row, const Parameters& parameters) {
  if (schema::text_of(row, parameters).empty()) return true;
  return std::any_of(
      schema::exclusions().begin(), schema::exclusions().end(), [&](const Exclusion& exclusion) {
        if (row.name() == exclusion.first) return schema::is_unset(row, parameters);
        if (row.name() != exclusion.second) return false;
        return schema::is_unset(row, parameters) || !schema::is_unset(row_of(exclusion.first), parameters);
      });
}

std::string unit_of(const Row& row, const Units& units) {
  const Units own = row.units(units);
  if (row.dimension == dimension::none || own.is_dimensionless()) return "";
  return " [" + own.name(row.dimension) + "]";
}

std::string default_of(const Row& row) {
  if (row.required) return "must be given";
  const std::string text = schema::text_of(row, Parameters{});
  return text.empty() ? "unset" : "`" + text + "`";
}

}  // namespace

std::string used_parameters(const Parameters& parameters) {
  std::string text = "# Parameters of Grove, resolved: defaults filled in, values in the units of the run.\n";
  for (const schema::Section& section : schema::sections()) {
    text += fmt::format("\n# {}\n{}:\n", section.help, section.name);
    for (const Row& row : schema::rows())
      if (row.section == section.name && !is_left_out(row, parameters))
        text += fmt::format("  {}: {}  # {}{}\n", row.key, schema::text_of(row, parameters), row.help,
                            unit_of(row, parameters.units));
  }
  return text;
}

std::string parameter_documentation() {
  std::string text = R"(# Parameters

<!-- Made by `grove info --parameters` from the table in io/schema.cpp; do not edit. -->

`grove run PARAMETERS.yml` reads a YAML file of the sections below. `-P section.key=value` on the command line wins
over the file. A value that measures something may carry a unit (`16 pc`, `1e12 Msun`, `2 Gyr`, `220 km/s`); without
one it is in the units of the run. Every run writes what it used to `used-parameters.yml`, which can be run again.
An output folder that holds the results of an earlier run is refused; `grove run --resume auto` goes on with
them ([checkpoints.md](checkpoints.md)), `--overwrite` replaces them.
)";
  for (const schema::Section& section : schema::sections()) {
    text += fmt::format("\n## {}\n\n{}\n\n| key | value | default | meaning |\n|---|---|---|---|\n",
                        section.name, section.help);
    for (const Row& row : schema::rows())
      if (row.section == section.name)
        text += fmt::format("| `{}` | {} | {} | {} |\n", row.key, schema::kind_of(row), default_of(row),
                            row.help);
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
