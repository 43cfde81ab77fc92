#include "checkpoints.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/errors.hpp"
#include "base/how_many.hpp"

namespace grove {

void Checkpoints::resumed(const Checkpoint& from) {
  last_step_ = from.run.steps_done;
  last_snapshots_ = from.run.snapshots;
  last_ = from.path;
}

std::string Checkpoints::last_text() const {
  if (last_.empty()) return "there is no checkpoint of this run";
  return fmt::format("the last checkpoint is that after {}, {}", how_many(last_step_, "step"), last_);
}

bool Checkpoints::is_due() const {
  if (every_ == 0) return false;
  const double passed = std::chrono::duration<double>(Clock::now() - last_time_).count();
  return passed >= every_;
}

bool Checkpoints::write(const CheckpointSource& source) {
  last_time_ = Clock::now();
  const std::int64_t step = source.run.steps_done, snapshots = source.run.snapshots;
  if (step == last_step_ && snapshots == last_snapshots_) return false;
  write_checkpoint(comm_, folder_, last_, source);
  last_step_ = step;
  last_snapshots_ = snapshots;
  last_ = folder_.place_of(step);
  last_time_ = Clock::now();  // as far apart from its end on
  return true;
}

bool Checkpoints::try_to_write(const CheckpointSource& source) {
  std::string fault;
  try {
    return write(source);
  } catch (const Agreed<InputError>& error) {
    fault = error.what();
  } catch (const Agreed<std::runtime_error>& error) {
    fault = error.what();
  }
  if (comm_.is_master())
    fmt::print(stderr, "warning: no checkpoint of step {}: {}; those of before stay\n", source.run.steps_done,
               fault);
  return false;
}

}  // namespace grove
