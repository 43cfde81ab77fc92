#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/parameters.hpp"

namespace grove::testing {

inline Parameters parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_parameters(text, "run.yml", overrides);
}

/// The message of the InputError that the text causes; empty if there is none.
inline std::string message(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline bool holds(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (text.find(part) == std::string::npos) return false;
  return true;
}

}  // namespace grove::testing

/// The text has all of these parts.
#define EXPECT_MESSAGE(text, ...) EXPECT_TRUE(::grove::testing::holds(text, {__VA_ARGS__})) << text
