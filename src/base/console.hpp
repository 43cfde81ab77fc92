#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace grove {

/// How much a process says of its progress, on standard error.
enum class Verbosity {
  quiet,    ///< warnings and the verdict on a run alone
  normal,   ///< a line for each longest step
  verbose,  ///< a line for each step
};

/// That of this process; Verbosity::normal until it is set.
Verbosity verbosity();
void set_verbosity(Verbosity verbosity);

/// Progress, and remarks that nobody has to act upon: to standard error, unless this process is quiet. Text
/// that a user must see is printed there without this.
template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  if (verbosity() != Verbosity::quiet) fmt::print(stderr, format, std::forward<Values>(values)...);
}

}  // namespace grove
