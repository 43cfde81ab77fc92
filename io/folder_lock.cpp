#include "io/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/errors.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

std::string this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}\n", ::getpid(), host.data());
}

/// The content of the file: its first line.
std::string owner(int descriptor) {
  std::array<char, 512> text{};
  const auto length = ::pread(descriptor, text.data(), text.size() - 1, 0);
  if (length <= 0) return "another process";
  const std::string line(text.data(), static_cast<std::size_t>(length));
  return line.substr(0, line.find('\n'));
}

/// The file system does not offer locks, or not here.
bool knows_no_locks(int error) {
  return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == ENOTSUP || error == EINVAL;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder) {
  make_output_folder(folder);
  const std::string path = folder + "/lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
    const std::string text = this_process();
    // Only for messages: it may be cut short.
    [[maybe_unused]] const bool written =
        ::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, text.data(), text.size(), 0) > 0;
    return;
  }
  const int error = errno;
  const std::string other = owner(descriptor_);
  if (knows_no_locks(error)) {
    fmt::print(stderr,
               "warning: {}: cannot be locked: {}; take care that no other run writes to that folder\n", path,
               std::strerror(error));
    return;
  }
  ::close(descriptor_);
  if (error != EWOULDBLOCK)
    throw InputError(fmt::format("{}: cannot be locked: {}", path, std::strerror(error)));
  throw InputError(fmt::format(
      "{}: {} is writing to it (it holds {}): wait until that run has ended, or name another folder "
      "(-P output.folder=...)",
      folder, other, path));
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace grove
