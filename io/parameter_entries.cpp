#include "io/parameter_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"

namespace grove {
namespace {

using schema::Row;

/// Edits that turn one text into the other (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// A parameter's key, without its section.
std::string key_of_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

/// The parameters that a name may mean: those of the table, and those of the element of a list that it names.
std::vector<Row> candidates(const std::string& name) {
  std::vector<Row> rows = schema::rows();
  if (const auto element = schema::element_of(name)) {
    const std::vector<Row> own = element->list.rows(element->index);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

/// True if a text has it as a word, in capitals or not.
bool has_word(const std::string& text, const std::string& word) {
  const auto lower = [](unsigned char c) { return static_cast<char>(std::tolower(c)); };
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto is_same = [&](char a, char b) { return lower(a) == lower(b); };
  for (auto from = text.begin();; ++from) {
    from = std::search(from, text.end(), word.begin(), word.end(), is_same);
    if (from == text.end()) return false;
    const auto behind = from + static_cast<std::ptrdiff_t>(word.size());
    if ((from == text.begin() || !is_letter(from[-1])) && (behind == text.end() || !is_letter(*behind)))
      return true;
  }
}

/// The known key that an unknown one most likely means: a slip of the pen in the name, or the wrong section;
/// else one of its section, best one whose description has that word.
std::string nearest(const std::string& name, const std::vector<Row>& rows) {
  const std::string key = key_of_name(name), section = name.substr(0, name.size() - key.size());
  const std::size_t slip = 2 + key.size() / 4;
  std::string best;
  std::pair<int, std::size_t> least{4, 0};
  for (const Row& row : rows) {
    const std::size_t edits = std::min(distance(name, row.name()), distance(key, row.key) + 1);
    const bool is_of_section = section + row.key == row.name();
    const int unlikely = edits <= slip                              ? 0
                         : is_of_section && has_word(row.help, key) ? 1
                         : is_of_section                            ? 2
                                                                    : 3;
    if (const std::pair rank{unlikely, edits}; rank < least) least = rank, best = row.name();
  }
  return best;
}

/// A key of the file as a name.
std::string key_of_node(const YAML::Node& node, const std::string& where) {
  if (!node.IsScalar() || node.Scalar().empty())
    throw InputError(fmt::format("{}: a key must be a single word, like 'gravity:'; this is {}", where,
                                 node.IsSequence() ? "a list"
                                 : node.IsMap()    ? "a map"
                                                   : "empty"));
  return node.Scalar();
}

std::string place_of(const std::string& file, const YAML::Node& node) {
  return fmt::format("{}:{}", file, node.Mark().line + 1);
}

/// True if a map may stand there for keys that have rows of their own, as in output.render.
bool has_keys(const std::string& name) {
  return std::any_of(schema::rows().begin(), schema::rows().end(),
                     [&](const Row& row) { return row.name().starts_with(name + "."); });
}

/// Adds an entry; of a map of keys these in its place; of a list of maps also the keys of its elements.
/// place(node): where one stands.
template <class Place>
void add(std::vector<Entry>& entries, const Entry& entry, const Place& place) {
  if (entry.value.IsMap() && has_keys(entry.name)) {
    for (const auto& item : entry.value)
      add(entries,
          {entry.name + "." + key_of_node(item.first, place(item.first)), item.second, place(item.first)},
          place);
    return;
  }
  entries.push_back(entry);
  if (!schema::is_list_of_maps(entry.name) || entry.value.IsNull()) return;
  const auto fail_shape = [&](const YAML::Node& node) {
    fail({entry.name, node, place(node)}, "expected a list of maps, like '[{key: value}, {key: value}]'");
  };
  if (!entry.value.IsSequence()) fail_shape(entry.value);
  std::size_t index = 0;
  for (const YAML::Node& element : entry.value) {
    if (!element.IsMap()) fail_shape(element);
    for (const auto& item : element)
      entries.push_back(
          {fmt::format("{}[{}].{}", entry.name, index, key_of_node(item.first, place(item.first))),
           item.second, place(item.first)});
    ++index;
  }
}

void require_each_once(const std::vector<Entry>& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (entries[i].name == entries[j].name)
        fail(entries[i], fmt::format("given already at {}; give it once", entries[j].where));
}

}  // namespace

void fail(const Entry& entry, const std::string& what) {
  // Words of the command line say their name themselves, but for elements of a list.
  if (entry.where.starts_with("-C ") || entry.where.starts_with("--") ||
      entry.where.starts_with("-P " + entry.name + "="))
    throw InputError(fmt::format("{}: {}", entry.where, what));
  throw InputError(fmt::format("{}: {}: {}", entry.where, entry.name, what));
}

Row row_of(const Entry& entry) {
  const std::vector<Row> rows = candidates(entry.name);
  for (const Row& row : rows)
    if (row.name() == entry.name) return row;
  throw InputError(fmt::format("{}: unknown key '{}'; did you mean '{}'?", entry.where, entry.name,
                               nearest(entry.name, rows)));
}

YAML::Node load_yaml(const std::string& text, const std::string& where) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    if (error.mark.is_null()) throw InputError(fmt::format("{}: {}", where, error.msg));
    const std::string hint =
        text.find('\t') == std::string::npos ? "" : " (there is a tab: YAML indents with spaces)";
    throw InputError(fmt::format("{}:{}: {}{}", where, error.mark.line + 1, error.msg, hint));
  }
}

std::vector<Entry> entries_of_file(const std::string& text, const std::string& name) {
  const auto place = [&](const YAML::Node& node) { return place_of(name, node); };
  std::vector<Entry> entries;
  const YAML::Node root = load_yaml(text, name);
  if (root.IsNull()) return entries;
  if (!root.IsMap()) throw InputError(fmt::format("{}: expected sections, like 'gravity:'", place(root)));
  for (const auto& section : root) {
    const std::string where = place(section.first), section_name = key_of_node(section.first, where);
    if (section.second.IsNull()) continue;
    const Entry entry{section_name, section.second, where};
    if (schema::is_list_of_maps(section_name)) {
      add(entries, entry, place);
      continue;
    }
    if (!section.second.IsMap()) {
      if (schema::is_known(section_name)) {
        entries.push_back(entry);
        continue;
      }
      for (const schema::Section& known : schema::sections())
        if (known.name == section_name)
          throw InputError(fmt::format("{}: expected keys, like '{}: {{key: value}}'", where, section_name));
      row_of(entry);
    }
    for (const auto& item : section.second)
      add(entries,
          {section_name + "." + key_of_node(item.first, place(item.first)), item.second, place(item.first)},
          place);
  }
  require_each_once(entries);
  return entries;
}

void override_entries(std::vector<Entry>& entries, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) {
    const std::string where = "-P " + text;
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || (name.find('.') == std::string::npos && !schema::is_known(name)))
      throw InputError(fmt::format("{}: expected section.key=value", where));
    std::vector<Entry> added;
    add(added, {name, load_yaml(text.substr(equals + 1), where), where},
        [&](const YAML::Node&) { return where; });
    // Nodes of yaml-cpp are references that an assignment writes through: the entries kept are copied.
    std::vector<Entry> kept;
    for (const Entry& other : entries)
      if (other.name != name && !other.name.starts_with(name + "[") && !find(added, other.name))
        kept.push_back(other);
    entries.swap(kept);
    entries.insert(entries.end(), added.begin(), added.end());
  }
  require_each_once(entries);
}

const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace grove
