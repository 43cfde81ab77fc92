#include "commands/outcome.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

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
  MPI_Abort(comm.get(), static_cast<int>(status));
  return static_cast<int>(status);
}

}  // namespace

int report(const Communicator& comm, ExitStatus status, const std::string& message) {
  if (comm.is_master()) fmt::print(stderr, "grove: {}\n", message);
  return static_cast<int>(status);
}

int outcome_of(const Communicator& comm, const Action& action) {
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
    return abort_all(comm, ExitStatus::input_error, error.what());
  } catch (const std::exception& error) {
    return abort_all(comm, ExitStatus::failed, error.what());
  }
}

}  // namespace grove
