#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "comm/communicator.hpp"

namespace grove {

/// The content of a text file. InputError if it cannot be read.
std::string read_text(const std::string& path);

/// Makes a folder and those above it. InputError if that cannot be done, or if it cannot be written to.
void make_output_folder(const std::string& path);

/// Returns when a file, or what files a folder has, will survive a power failure. InputError if that fails.
void flush_file(const std::string& path);
void flush_folder(const std::string& path);

/// `length`: taking room for a file makes it so long; `room_alone`: it does not.
enum class Reserve { length, room_alone };
/// Takes room on disk for a file of so many bytes, which is made if there is none, where the file system can.
/// name: of the file in the InputError if there is none.
void reserve_room(const std::string& path, std::int64_t bytes, Reserve what, const std::string& name);

/// Throws InputError if nothing can be written under this name, or if that is one of the `inputs`, by
/// whatever name: better before long work than behind it. An empty name is none.
void require_output(const std::string& path, std::initializer_list<std::string> inputs = {});

/// A file that is there already is replaced or kept.
enum class Existing { replace, keep };
/// The same, and, where it is to be kept, if there is a file of this name: the message names --overwrite.
void require_output(const std::string& path, Existing file);

/// A file that appears complete or not at all: it is written under a temporary name beside its final one,
/// flushed to disk and renamed by commit(). Without commit() the temporary file is removed.
class AtomicFile {
 public:
  /// path: a link stands for what it points to. InputError as for require_output(), and if something other
  /// than a file has that name.
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  /// The temporary name that goes with a final one.
  static std::string temporary_of(const std::string& path) { return path + ".tmp"; }
  /// The path to write to.
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

/// Writes a text as an AtomicFile; straight into what is no file, such as a pipe or /dev/null.
void write_text(const std::string& path, const std::string& text);

}  // namespace grove
