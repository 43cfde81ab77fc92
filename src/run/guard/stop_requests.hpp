#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "comm/communicator.hpp"

namespace grove {

/// A request to a running simulation, from outside or from the clock.
enum class Request { none, checkpoint, snapshot, stop };

/// From now on SIGTERM, SIGUSR1 and SIGUSR2 do not end this process, but are kept for the StopRequests to
/// come: before MPI and Kokkos have started, and a run has its first forces, they would kill it.
void keep_requests();
/// They end it again.
void drop_requests();

/// How long a checkpoint is expected to take.
struct CheckpointTime {
  double seconds;
  bool is_measured;  ///< or else a guess
};

/// Listens to those who may ask a run to stop, or to write a snapshot now: signals to any rank (SIGTERM,
/// SIGUSR1, SIGINT; SIGUSR2 asks for a snapshot), a file `stop` in the output folder, `limits.wall_clock` and
/// SLURM's time limit. A second SIGINT ends the process at once. While this lives, these signals do nothing
/// else, and afterwards those that are polite, SIGUSR1 and SIGUSR2, do nothing at all, nor does SIGTERM after
/// a stop: a run that ends as it was asked to is not killed on its last steps. One at a time.
class StopRequests {
 public:
  /// Collective. folder: of the output. wall_clock: seconds from now on, 0: no limit. The master asks SLURM,
  /// if this is a job, for the end of its time, and removes a file `stop` that is older than a minute: it was
  /// meant for an earlier run.
  StopRequests(const Communicator& comm, std::filesystem::path folder, double wall_clock);
  ~StopRequests();
  StopRequests(const StopRequests&) = delete;
  StopRequests& operator=(const StopRequests&) = delete;

  /// Steps begin now, or go on: what was done since the last poll is no part of one.
  void steps_go_on(const CheckpointTime& checkpoint);

  /// Collective, after each step: the same answer on all ranks. A snapshot is answered before a stop, and
  /// each request for one once, so ask again until the answer is another. checkpoint_due: on the master,
  /// whether it is time for one; answered if nothing else is asked for. A limit that is near by a guess of
  /// what a checkpoint takes makes the answer a checkpoint, too: with it on disk, and its time known, the run
  /// may have more time. Cost: one reduction of 12 bytes, and on the master at most one look for the file per
  /// second.
  Request poll(bool checkpoint_due = false);
  /// The same in two parts: what this rank was asked since the last time; and, with the maxima over ranks of
  /// that, the answer. Only answer() is collective, and makes no calls of MPI.
  using Heard = std::array<int, 3>;
  Heard heard(bool checkpoint_due);
  Request answer(const Heard& most);

  /// Collective, before the first step and after a checkpoint: true if the run is to stop. Other requests are
  /// kept.
  bool poll_stop();

  /// Who asked to stop, for a message: "signal SIGUSR1", "the file OUTPUT/stop", ... The same on all ranks.
  const std::string& reason() const { return reason_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Deadline {
    Clock::time_point when;
    int source;
  };

  void drop_old_file() const;
  void set_deadline(double seconds, int source);
  int asker();
  int asked_of_master();
  bool finds_file();
  void obey(int source);
  std::string name_of(int source) const;

  const Communicator& comm_;
  std::filesystem::path file_;
  std::optional<Deadline> deadline_;  ///< on the master
  Clock::time_point last_poll_, last_look_;
  double step_seconds_ = 0;             ///< expected
  CheckpointTime checkpoint_{0, true};  ///< the same
  std::string reason_;
};

/// Seconds that a run must keep before a limit, to end a step and write a checkpoint, from what the longest
/// of the recent ones took.
double lead_time(double step_seconds, double checkpoint_seconds);

}  // namespace grove
