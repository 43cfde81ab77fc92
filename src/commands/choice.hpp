#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace grove {

/// The name of a value. `names` has it.
template <class Value>
const std::string& name_of(const std::map<std::string, Value>& names, Value value) {
  for (const auto& [name, known] : names)
    if (known == value) return name;
  throw std::logic_error("a value without a name");
}

template <class Value>
std::vector<std::string> words_of(const std::map<std::string, Value>& names) {
  std::vector<std::string> words;
  for (const auto& [name, known] : names) words.push_back(name);
  return words;
}

/// An option that takes one of the names and stores its value. CLI11's own transformer would show the values,
/// too, in help and errors. `names` and `value` must live as long as the command.
template <class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& option, Value& value,
                        const std::map<std::string, Value>& names, const std::string& help) {
  return command
      .add_option_function<std::string>(
          option, [&value, &names](const std::string& name) { value = names.at(name); }, help)
      ->check(CLI::IsMember(words_of(names)))
      ->default_str(name_of(names, value));
}

/// The same for a value that need not be chosen.
template <class Value>
CLI::Option* add_optional_choice(CLI::App& command, const std::string& option, std::optional<Value>& value,
                                 const std::map<std::string, Value>& names, const std::string& help) {
  return command
      .add_option_function<std::string>(
          option, [&value, &names](const std::string& name) { value = names.at(name); }, help)
      ->check(CLI::IsMember(words_of(names)));
}

}  // namespace grove
