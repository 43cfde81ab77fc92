#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "io/schema.hpp"

namespace grove {

/// One "section.key: value" of the input, or "section.key[1].key: value" of an element of a list of maps, and
/// where it stands.
struct Entry {
  std::string name;
  YAML::Node value;
  std::string where;  ///< "FILE:LINE" or "-P section.key=value", an option
};

/// Throws an InputError that says where the entry stands.
[[noreturn]] void fail(const Entry& entry, const std::string& what);

/// The parameter that an entry means, by its name alone: an element of a list need not be there. InputError
/// if there is none, with the nearest that there is.
schema::Row row_of(const Entry& entry);

/// A text as YAML; `where` stands for it in messages.
YAML::Node load_yaml(const std::string& text, const std::string& where);

/// All entries of a parameter file. A list of maps has an entry of its own and one for each key of each
/// element. InputError: no YAML, no sections and keys, or a key that is given twice.
std::vector<Entry> entries_of_file(const std::string& text, const std::string& name);

/// Adds "section.key=value" to the entries; each replaces those of the same name, of a list with its
/// elements.
void override_entries(std::vector<Entry>& entries, const std::vector<std::string>& overrides);

/// The entry of a name; null: there is none.
const Entry* find(const std::vector<Entry>& entries, const std::string& name);

}  // namespace grove
