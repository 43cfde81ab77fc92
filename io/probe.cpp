#include "io/probe.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "base/errors.hpp"
#include "io/snapshot_file.hpp"

namespace grove {
namespace {

/// Processor time that reading so much takes at most: to unpack a hundred times as much at 100 MB/s, half of
/// what zlib does.
unsigned processor_seconds(std::uintmax_t bytes) { return 20 + static_cast<unsigned>(bytes / 1'000'000); }

/// The kernel ends a process with a signal that says why at `most`. The limit can be raised.
void limit(__rlimit_resource resource, rlim_t most) {
  rlimit value{};
  getrlimit(resource, &value);
  value.rlim_cur = std::min(most, value.rlim_max);
  setrlimit(resource, &value);
}

[[noreturn]] void run_child(unsigned processor_seconds, const std::function<void()>& work) {
  limit(RLIMIT_CORE, 0);
  std::signal(SIGXCPU, SIG_DFL);
  limit(RLIMIT_CPU, processor_seconds);
  // The C library's text about a crash would only confuse beside the message about it.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(0);
  try {
    work();
  } catch (const std::exception&) {
  }
  ::_exit(0);
}

}  // namespace

void try_in_child(const std::string& path, unsigned processor_seconds, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child < 0)
    throw std::runtime_error(fmt::format("{}: no process to try it in: {}", path, std::strerror(errno)));
  if (child == 0) run_child(processor_seconds, work);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(fmt::format("{}: {}", path, std::strerror(errno)));
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    throw InputError(path + ": damaged: reading it does not end; write it anew or take another file");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw InputError(path + ": damaged: HDF5 crashes when it reads it; write it anew or take another file");
}

void probe_hdf5(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error), own = error ? 0 : size;
  try_in_child(path, processor_seconds(own), [&] {
    try_gadget_hdf5(path, [&](std::uintmax_t mapped) { limit(RLIMIT_CPU, processor_seconds(own + mapped)); });
  });
}

void probe_hdf5_header(const std::string& path) {
  try_in_child(path, processor_seconds(0), [&] { open_snapshot_file(path, {}); });
}

}  // namespace grove
