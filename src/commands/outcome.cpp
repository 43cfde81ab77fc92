#include "commands/outcome.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <thread>

#include "comm/process.hpp"

namespace grove {
namespace {

/// The master speaks first if it has the same to say.
int abort_all(const Communicator& comm, ExitStatus status, const std::string& message) {
  if (comm.is_master()) {
    fmt::print(stderr, "grove: {}\n", message);
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    fmt::print(stderr, "grove: rank {}: {}\n", comm.rank(), message);
  }
  std::fflush(stderr);
  abort_mpi(comm, static_cast<int>(status));
  return static_cast<int>(status);
}

/// True if all ranks come here with the same message, soon.
bool is_said_by_all(const Communicator& last_word, const std::string& message) {
  constexpr double patience = 2;  // seconds; ranks that agree are apart by the noise of the machine
  return agree_within(last_word, std::hash<std::string>{}(message), patience);
}

}  // namespace

int report(const Communicator& comm, ExitStatus status, const std::string& message) {
  if (comm.is_master()) fmt::print(stderr, "grove: {}\n", message);
  return static_cast<int>(status);
}

int outcome_of(const Communicator& comm, const Action& action) {
  const Communicator last_word(comm.get());
  try {
    action(comm);
    return static_cast<int>(ExitStatus::done);
  } catch (const Agreed<InputError>& error) {
    return report(comm, ExitStatus::input_error, error.what());
  } catch (const Agreed<Stopped>& error) {
    return report(comm, ExitStatus::stopped, error.what());
  } catch (const Agreed<std::runtime_error>& error) {
    return report(comm, ExitStatus::failed, error.what());
  } catch (const InputError& error) {
    if (is_said_by_all(last_word, error.what())) return report(comm, ExitStatus::input_error, error.what());
    return abort_all(comm, ExitStatus::input_error, error.what());
  } catch (const std::exception& error) {
    return abort_all(comm, ExitStatus::failed, error.what());
  }
}

}  // namespace grove
