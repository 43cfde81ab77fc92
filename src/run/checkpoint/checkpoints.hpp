#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "checkpoint.hpp"
#include "comm/communicator.hpp"
#include "io/checkpoint_folder.hpp"
#include "io/parameters.hpp"

namespace grove {

/// When a run writes checkpoints, and which of them it keeps: the last two that are on its way. Writing is
/// collective.
class Checkpoints {
 public:
  Checkpoints(const Communicator& comm, const std::string& output_folder,
              const CheckpointParameters& parameters)
      : comm_(comm), folder_(output_folder), every_(parameters.every), last_time_(Clock::now()) {}

  /// The run goes on from this one.
  void resumed(const Checkpoint& from);

  /// The path of the last one, for a message.
  std::string last_text() const;

  /// True if the next one is due by the clock of this rank: the master's counts.
  bool is_due() const;
  /// Writes one, unless that of this state is there; returns whether it did. Errors: of write_checkpoint().
  bool write(const CheckpointSource& source);
  /// The same where the run can go on without: a failure is a warning.
  bool try_to_write(const CheckpointSource& source);

 private:
  using Clock = std::chrono::steady_clock;

  const Communicator& comm_;
  CheckpointFolder folder_;
  double every_;  ///< seconds; 0: never
  Clock::time_point last_time_;
  std::int64_t last_step_ = -1, last_snapshots_ = -1;  ///< of the last one; -1: there is none
  std::string last_;                                   ///< its path
};

}  // namespace grove
