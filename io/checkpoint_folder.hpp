#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace grove {

/// The folder OUTPUT/checkpoints and what is in it: a folder step_NNNNNNNNN for each checkpoint, complete
/// under that name or not there. By one process.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(const std::string& output_folder) : path_(output_folder + "/checkpoints") {}

  const std::string& path() const { return path_; }
  bool exists() const;
  /// Whether this checkpoint is in it.
  bool holds(const std::string& checkpoint) const;
  /// The folders of checkpoints, the latest first, valid or not.
  std::vector<std::string> latest_first() const;
  /// Where the checkpoint of a step is, or will be.
  std::string place_of(std::int64_t step) const;

  /// Makes the folder, or removes from it what a process left half-written.
  void begin() const;
  /// Removes everything in it.
  void clear() const;

  /// Where to write a checkpoint, made anew and empty; remove_temporary() throws it away.
  std::string temporary() const;
  void make_temporary() const;
  void remove_temporary() const;
  /// All files of the temporary folder are complete and on disk: gives it the name of the step, and removes
  /// other checkpoints but `kept`. A process that ends at any point of this leaves `kept` or the new one.
  void commit(std::int64_t step, const std::string& kept) const;

 private:
  std::string path_;
};

}  // namespace grove
