#include "watchdog.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/errors.hpp"

namespace grove {
namespace {

constexpr double longer_in_mpi = 5;

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}

/// The name of a call, without its arguments.
std::string_view name_of(std::string_view call) { return call.substr(0, call.find('(')); }

}  // namespace

double StallDetector::allowed(const Progress::State& now) const {
  return std::max(hang_, times_predicted * now.expected) + (now.call ? longer_in_mpi : 0);
}

bool StallDetector::look(const Progress::State& now, double seconds) {
  still_ = now.steps == steps_ ? still_ + seconds : 0;
  steps_ = now.steps;
  return still_ > allowed(now);
}

Watchdog::Watchdog(int rank, double hang) : rank_(rank), hang_(hang), detector_(hang) {
  // Signals are for the main thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void Watchdog::watch() {
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> interval(std::min(1.0, hang_ / 10));
  std::unique_lock lock(mutex_);
  auto last = Clock::now();
  while (!ended_.wait_for(lock, interval, [this] { return is_ended_; })) {
    const auto now = Clock::now();
    // A job that was suspended, or a machine that slept, has not stood still for all that time.
    const double seconds = std::min(std::chrono::duration<double>(now - last), 2 * interval).count();
    last = now;
    const Progress::State state = progress().state();
    if (!detector_.look(state, seconds)) continue;
    fmt::print(stderr, "{}", message(state));
    std::fflush(stderr);
    std::_Exit(static_cast<int>(ExitStatus::failed));
  }
}

std::string Watchdog::message(const Progress::State& now) const {
  const std::string what =
      now.call ? fmt::format("waits for other ranks in {}", name_of(now.call)) : "is stuck there itself";
  return fmt::format(
      "grove: rank {} on {}: no progress for {:.0f} s in phase '{}': it {}. Allowed are limits.hang, {:g} s, "
      "and {:.3g} s by what was predicted. The run ends.\n",
      rank_, host_name(), detector_.still(), now.phase, what, hang_, times_predicted * now.expected);
}

}  // namespace grove
