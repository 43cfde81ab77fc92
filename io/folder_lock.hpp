#pragma once

#include <string>

namespace grove {

/// Keeps an output folder for one process: two runs that wrote there would spoil both. The lock is the
/// system's, on the file `lock` in the folder, and ends with the process, however that ends; the file stays
/// and says who had it last.
class FolderLock {
 public:
  /// Makes the folder if there is none. InputError, which names host and process, if another has it. Where
  /// the file system knows no locks there is a warning on standard error, and nothing is locked.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace grove
