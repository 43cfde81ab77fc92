#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "io/whole_number.hpp"

namespace grove {

/// An option that takes a whole number of at least `least`, which may be written as 1e6 too.
template <class Integer>
CLI::Option* add_count(CLI::App& command, const std::string& option, Integer& value, Integer least,
                       const std::string& help) {
  const auto check = [least](std::string& text) -> std::string {
    const auto number = whole_number<Integer>(text);
    if (!number || *number < least)
      return fmt::format("'{}' is not a whole number of at least {}", text, least);
    text = std::to_string(*number);  // the only form that CLI11 converts
    return {};
  };
  return command.add_option(option, value, help)->transform(CLI::Validator(check, ""));
}

}  // namespace grove
