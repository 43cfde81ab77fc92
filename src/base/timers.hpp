#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "base/activity.hpp"
#include "base/progress.hpp"

namespace grove {

/// The name of a level of a tree as a phase: its number in two digits, so that names sort as levels do.
std::string level_name(std::size_t depth);

/// Wall-clock seconds and activity by phase name.
class PhaseTimers {
 public:
  struct Cost {
    double seconds = 0;
    Activity activity;

    Cost& operator+=(const Cost& o) {
      seconds += o.seconds;
      activity += o.activity;
      return *this;
    }
    friend Cost operator-(const Cost& a, const Cost& b) {
      return {a.seconds - b.seconds, a.activity - b.activity};
    }
  };

  /// Adds the time of its own life, and what the process does in it, to a phase, which is the one that
  /// progress() tells of.
  class Scope {
   public:
    Scope(PhaseTimers& timers, std::string phase)
        : timers_(timers),
          phase_(std::move(phase)),
          outer_phase_(progress().enter(phase_)),
          before_(activity()),
          start_(Clock::now()) {}
    ~Scope() {
      timers_.add(phase_,
                  {std::chrono::duration<double>(Clock::now() - start_).count(), activity() - before_});
      progress().enter(std::move(outer_phase_));
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PhaseTimers& timers_;
    std::string phase_, outer_phase_;
    Activity before_;
    std::chrono::steady_clock::time_point start_;
  };

  /// Measures from here to the end of the enclosing block.
  [[nodiscard]] Scope time(std::string phase) { return {*this, std::move(phase)}; }

  void add(const std::string& phase, const Cost& cost) { costs_[phase] += cost; }
  void clear() { costs_.clear(); }

  /// The cost of one phase; nothing if it never ran.
  Cost cost(const std::string& phase) const {
    const auto found = costs_.find(phase);
    return found == costs_.end() ? Cost{} : found->second;
  }
  double seconds(const std::string& phase) const { return cost(phase).seconds; }
  const std::map<std::string, Cost>& all() const { return costs_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::map<std::string, Cost> costs_;
};

}  // namespace grove
