#include "io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "base/errors.hpp"

namespace grove {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void flush_to_disk(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags);
  const bool failed = descriptor < 0 || ::fsync(descriptor) != 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (failed) throw InputError(fmt::format("{}: cannot flush to disk: {}", path, std::strerror(error)));
}

}  // namespace

void flush_file(const std::string& path) { flush_to_disk(path, O_RDWR); }
void flush_folder(const std::string& path) { flush_to_disk(path, O_RDONLY | O_DIRECTORY); }

void reserve_room(const std::string& path, std::int64_t bytes, Reserve what, const std::string& name) {
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(folder_of(path), unknown);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  const int mode = what == Reserve::length ? 0 : FALLOC_FL_KEEP_SIZE;
  bool failed = descriptor < 0 || ::fallocate(descriptor, mode, 0, bytes) != 0;
  if (failed && errno == EOPNOTSUPP) {  // then at least nothing is begun that cannot end well
    failed = !unknown && space.available < static_cast<std::uintmax_t>(bytes);
    errno = ENOSPC;
  }
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!failed) return;
  const std::string free = unknown ? "" : fmt::format(", {} are free", space.available);
  throw InputError(fmt::format("{}: cannot be written: {} bytes are needed{}: {}", name, bytes, free,
                               std::strerror(error)));
}

namespace {

void require_writable(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error))
    throw InputError(fmt::format("{}: the output folder does not exist", folder));
  if (!std::filesystem::is_directory(folder, error))
    throw InputError(fmt::format("{}: not a folder; output needs one that can be written to", folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw InputError(
        fmt::format("{}: the output folder cannot be written to: {}", folder, std::strerror(errno)));
}

/// The target of a link, also if nothing is there yet.
std::string target_of(std::filesystem::path path) {
  std::error_code error;
  constexpr int most_links = 40;  // as the kernel's
  for (int i = 0; i < most_links && std::filesystem::is_symlink(path, error); ++i)
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  return path.string();
}

/// A pipe, a device.
bool is_stream(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  using Type = std::filesystem::file_type;
  return type == Type::fifo || type == Type::character || type == Type::socket;
}

}  // namespace

std::string read_text(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError(fmt::format("{}: is a folder; expected a file", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void make_output_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw InputError(fmt::format("{}: the output folder cannot be made: {}", path, error.message()));
  require_writable(path);
}

void require_output(const std::string& path, std::initializer_list<std::string> inputs) {
  if (path.empty() || is_stream(path)) return;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw InputError(fmt::format("{}: is a folder; expected the name of a file to write", path));
  for (const std::string& input : inputs)
    if (std::filesystem::equivalent(path, input, error))
      throw InputError(fmt::format("{}: is the input too; write to another file", path));
  require_writable(folder_of(target_of(path)));
}

void require_output(const std::string& path, Existing file) {
  require_output(path);
  std::error_code error;
  if (file == Existing::keep && !is_stream(path) && std::filesystem::exists(path, error))
    throw InputError(
        fmt::format("{}: is there already; give another name, or --overwrite to replace it", path));
}

AtomicFile::AtomicFile(std::string path) : path_(target_of(path)), temporary_(temporary_of(path_)) {
  require_output(path_);
  if (is_stream(path_))
    throw InputError(fmt::format("{}: is not a file; give the name of one to write", path_));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::reserve(std::int64_t bytes) const {
  reserve_room(temporary_, bytes, Reserve::length, path_);
}

void AtomicFile::flush() const { flush_file(temporary_); }

void AtomicFile::place() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw InputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  temporary_.clear();
}

void AtomicFile::flush_folder() const { grove::flush_folder(folder_of(path_)); }

void AtomicFile::withdraw() {
  const bool placed = temporary_.empty();
  if (placed) ::unlink(path_.c_str());
}

void AtomicFile::commit() {
  flush();
  place();
  flush_folder();
}

void commit_together(const Communicator& comm, std::span<AtomicFile> files) {
  comm.together([&] {
    for (const AtomicFile& file : files) file.flush();
  });
  try {
    comm.together([&] {
      for (AtomicFile& file : files) file.place();
    });
    comm.together([&] {
      for (const AtomicFile& file : files) file.flush_folder();
    });
  } catch (...) {
    for (AtomicFile& file : files) file.withdraw();
    throw;
  }
}

void write_text(const std::string& path, const std::string& text) {
  std::optional<AtomicFile> file;
  if (!is_stream(path)) file.emplace(path);
  std::ofstream stream(file ? file->temporary() : path, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  if (file) file->commit();
}

}  // namespace grove
