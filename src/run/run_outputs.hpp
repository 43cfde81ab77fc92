#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "base/types.hpp"
#include "io/render.hpp"
#include "io/snapshot.hpp"
#include "run/run_view.hpp"
#include "run/start/physical_summary.hpp"
#include "time/output_times.hpp"

namespace grove {

/// The snapshots, power spectra and pictures of a run, at the times that were asked for. All calls are
/// collective but those that only tell.
class RunOutputs {
 public:
  /// Agreed<InputError> if the times that were asked for are none.
  explicit RunOutputs(const RunView& run);

  /// The part of it that a checkpoint keeps.
  struct State {
    std::int64_t snapshots = 0;  ///< that were due and are written, of all parts of the run
    double last = -std::numeric_limits<double>::infinity();  ///< time of the last one
    Frame frame{};                                           ///< of the last picture
  };
  const State& state() const { return state_; }
  void restore(const State& state);

  /// True if a snapshot is due at the present time.
  bool is_due_now() const;
  /// True if write_due() would write some.
  bool is_due_before(double end) const { return done_ < due_before(end); }
  /// Writes those due before a time, or, where the run is done, all that are left. If one cannot be written,
  /// the state still has it before it: `save` is called, then the error goes on.
  void write_due(double end, const std::function<void()>& save);
  /// A snapshot of the present, between two steps. It has a name and no picture of its own, so that what is
  /// due comes out as it would have without. The run goes on if it cannot be written. step: steps done.
  void write_requested(std::int64_t step) const;

  /// As snapshots of this time are written.
  WriteOptions options(double time) const;

  /// Seconds of a picture of the present, which is not written; 0: there are none.
  double seconds_of_picture() const;

 private:
  std::size_t due_before(double end) const;
  void write(double time);
  void write_power(const Particles& particles, const std::string& file) const;
  void write_halos(const std::string& snapshot, double time) const;
  bool is_synchronised_at(double time) const;

  RunView run_;
  OutputTimes times_;
  std::size_t done_ = 0;  ///< of times_, which another part of the run may have had otherwise
  State state_;
};

}  // namespace grove
