#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>

namespace grove {

/// A whole number, also one written as 1e6; nothing if the text is anything else or does not fit.
template <std::integral T>
std::optional<T> whole_number(std::string_view text) {
  const char* const last = text.data() + text.size();
  T value = 0;
  if (const auto [end, error] = std::from_chars(text.data(), last, value);
      error == std::errc{} && end == last)
    return value;
  double real = 0;
  const auto [end, error] = std::from_chars(text.data(), last, real);
  constexpr double exact = 9e15;  // doubles below hold every whole number
  if (error != std::errc{} || end != last || real != std::floor(real) || std::abs(real) > exact) return {};
  if (std::unsigned_integral<T> && real < 0) return {};
  return static_cast<T>(real);
}

}  // namespace grove
