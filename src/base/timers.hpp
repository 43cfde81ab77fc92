#pragma once

#include <chrono>
#include <map>
#include <string>

namespace grove {

/// Wall-clock seconds by phase name.
class PhaseTimers {
 public:
  /// Adds the time of its own life to a phase.
  class Scope {
   public:
    Scope(PhaseTimers& timers, std::string phase)
        : timers_(timers), phase_(std::move(phase)), start_(Clock::now()) {}
    ~Scope() { timers_.add(phase_, std::chrono::duration<double>(Clock::now() - start_).count()); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PhaseTimers& timers_;
    std::string phase_;
    std::chrono::steady_clock::time_point start_;
  };

  /// Measures from here to the end of the enclosing block.
  [[nodiscard]] Scope time(std::string phase) { return {*this, std::move(phase)}; }

  void add(const std::string& phase, double seconds) { seconds_[phase] += seconds; }
  void clear() { seconds_.clear(); }

  /// Seconds of one phase; 0 if it never ran.
  double seconds(const std::string& phase) const {
    const auto found = seconds_.find(phase);
    return found == seconds_.end() ? 0.0 : found->second;
  }
  const std::map<std::string, double>& all() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::map<std::string, double> seconds_;
};

}  // namespace grove
