#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace grove {

/// The progress of the main thread of this process, kept for a thread that watches it. Main thread: all
/// calls; others: state() alone. Cost of a call: some 50 ns.
class Progress {
 public:
  struct State {
    std::uint64_t steps = 0;     ///< forward so far: phases entered and left
    std::string phase;           ///< the innermost one; empty: none
    const char* call = nullptr;  ///< of MPI or NCCL, that it is in; nullptr: none
    double expected = 0;  ///< seconds that the phase, or any in it, is predicted to take; 0: no prediction
  };
  State state() const;

  /// Enters a phase; returns the one before.
  std::string enter(std::string phase);
  /// Predicts so many seconds for what follows; returns the prediction before.
  double expect(double seconds) { return expected_.exchange(seconds); }

  /// Enters a call that waits for other ranks, and leaves it. The name lives as long as the program.
  void begin_call(const char* call) { call_.store(call, std::memory_order_relaxed); }
  void end_call() { call_.store(nullptr, std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;  ///< of steps_ and phase_
  std::uint64_t steps_ = 0;
  std::string phase_;
  std::atomic<const char*> call_{nullptr};
  std::atomic<double> expected_{0};
};

/// The progress of this process.
Progress& progress();

/// Predicts how long what follows takes, for its own life.
class Expected {
 public:
  explicit Expected(double seconds) : before_(progress().expect(seconds)) {}
  ~Expected() { progress().expect(before_); }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

 private:
  double before_;
};

}  // namespace grove
