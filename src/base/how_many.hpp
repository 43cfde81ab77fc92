#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace grove {

/// "1 particle", "2 particles", for messages. A fraction is rounded. many: the plural, where it is not the
/// singular with an s.
template <class Number>
std::string how_many(Number number, std::string_view one, std::string_view many = {}) {
  std::string digits;
  if constexpr (std::is_floating_point_v<Number>)
    digits = fmt::format("{:.0f}", number);
  else
    digits = fmt::format("{}", number);
  if (digits == "1") return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", digits, one) : fmt::format("{} {}", digits, many);
}

}  // namespace grove
