#pragma once

#include <stdexcept>
#include <string>

namespace grove {

/// The user's input is at fault: a file, a parameter, the environment. The message names where and says what
/// would be right. Ends the program with status 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The run was stopped early and can be resumed. Ends the program with status 3.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The same, thrown by all ranks together (see Communicator::together), so that they can end in order.
template <class Error>
struct Agreed : Error {
  using Error::Error;
};

/// Exit statuses of the program.
enum class ExitStatus : int { done = 0, failed = 1, input_error = 2, stopped = 3 };

}  // namespace grove
