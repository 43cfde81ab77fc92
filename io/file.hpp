#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "comm/communicator.hpp"

namespace grove {

/// The content of a text file. InputError if it cannot be read.
std::string read_text(const std::string& path);

/// Makes a folder and those above it. InputError if that cannot be done, or if it cannot be written to.
void make_output_folder(const std::string& path);

/// A file that appears complete or not at all: it is written under a temporary name beside its final one,
/// flushed to disk and renamed by commit(). Without commit() the temporary file is removed.
class AtomicFile {
 public:
  /// InputError if the folder does not exist or cannot be written to.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  /// The temporary name that goes with a final one.
  static std::string temporary_of(const std::string& path) { return path + ".tmp"; }
  /// Where to write.
  const std::string& temporary() const { return temporary_; }
  /// Takes room on disk for so many bytes, where the file system can. InputError if there is none: better
  /// than a write that fails later, because MPI's may fail without saying so.
  void reserve(std::int64_t bytes) const;
  /// Call when the temporary file is closed.
  void commit();

 private:
  friend void commit_together(const Communicator& comm, std::span<AtomicFile> files);

  // The steps of commit(), and the way back: the file under the final name is removed.
  void flush() const;
  void place();
  void flush_folder() const;
  void withdraw();

  std::string path_, temporary_;
};

/// Commits the files of all ranks, which are closed: all of them appear, or InputError is thrown on all ranks
/// and none is left, nor any older file of those names that was already replaced. Collective.
void commit_together(const Communicator& comm, std::span<AtomicFile> files);

/// Writes a text as an AtomicFile.
void write_text(const std::string& path, const std::string& text);

}  // namespace grove
