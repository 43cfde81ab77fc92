#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/progress.hpp"

namespace grove {

/// The watchdog allows so many times what was predicted.
inline constexpr double times_predicted = 20;

/// Tells, from looks at a Progress, whether it stands still: no phase was entered or left for
/// max(hang, 20 x what is predicted), and, by a rank that waits for others in a call of MPI, for five seconds
/// more, so that the one that they wait for speaks first.
class StallDetector {
 public:
  /// hang: seconds.
  explicit StallDetector(double hang) : hang_(hang) {}

  /// seconds: since the last look. Returns whether it stands still.
  bool look(const Progress::State& now, double seconds);

  /// Seconds without progress, and how many are allowed.
  double still() const { return still_; }
  double allowed(const Progress::State& now) const;

 private:
  double hang_, still_ = 0;
  std::uint64_t steps_ = 0;
};

/// A thread that ends this process with status 1, and a message that names rank, host and phase, where
/// progress() stands still. All ranks have one, and stand still where one does, so all end.
///
/// It ends the process, not MPI: the calls of MPI are the main thread's. Launchers end the other ranks then,
/// and where they do not those end by their own watchdogs.
class Watchdog {
 public:
  /// hang: seconds without progress that are allowed in any case.
  Watchdog(int rank, double hang);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  std::string message(const Progress::State& now) const;

  int rank_;
  double hang_;
  StallDetector detector_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace grove
