#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/checkpoint_manifest.hpp"

namespace grove {

/// The folder OUTPUT/checkpoints and what is in it: a folder step_NNNNNNNNN for each checkpoint, complete
/// under that name or not there. Files of other names are left alone. By one process. A refusal of the
/// file system is an InputError that names the path, if nothing else is said.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(const std::string& output_folder) : path_(output_folder + "/checkpoints") {}

  const std::string& path() const { return path_; }
  bool exists() const;
  /// True if this checkpoint is in it.
  bool holds(const std::string& checkpoint) const;
  /// The folders of checkpoints, the latest first, valid or not.
  std::vector<std::string> latest_first() const;
  /// The path of the checkpoint of a step, which may not be there yet.
  std::string place_of(std::int64_t step) const;

  /// Makes the folder, or removes from it what a process left half-written or half-removed, as far as that
  /// can be removed.
  void begin() const;
  /// Removes all checkpoints. InputError unless they are gone, at least under their names.
  void clear() const;

  /// The folder to write the checkpoint of a step to, made anew and empty; remove_temporary() throws it away.
  /// No two steps have the same: other hosts may remember for a while what was in a folder that is gone.
  std::string temporary(std::int64_t step) const;
  void make_temporary(std::int64_t step) const;
  void remove_temporary(std::int64_t step) const;
  /// All files of the temporary folder are complete and on disk: gives it the name of the step. InputError,
  /// too, if one of the pieces is not there, as this process sees it, as long as its rank wrote it. A process
  /// that ends at any point of this leaves other checkpoints as they were.
  void commit(std::int64_t step, const std::vector<CheckpointPiece>& pieces) const;
  /// Removes all checkpoints but these two; none, if they are one, which was written again. Returns what
  /// cannot be removed, and why: begin() tries again.
  std::vector<std::string> remove_others(const std::string& kept, const std::string& also_kept) const;

 private:
  std::string path_;
};

}  // namespace grove
