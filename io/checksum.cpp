#include "io/checksum.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/errors.hpp"

namespace grove {
namespace {

std::string digits(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

[[noreturn]] void fail_to_read(const std::string& path) {
  throw InputError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
}

}  // namespace

std::string checksum(std::string_view bytes) { return digits(XXH3_128bits(bytes.data(), bytes.size())); }

FileSum checksum_of_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_to_read(path);
  const auto close = [](const int* open) { ::close(*open); };
  const std::unique_ptr<const int, decltype(close)> closer(&descriptor, close);
  const auto free = [](XXH3_state_t* state) { XXH3_freeState(state); };
  const std::unique_ptr<XXH3_state_t, decltype(free)> state(XXH3_createState(), free);
  XXH3_128bits_reset(state.get());
  FileSum sum;
  std::vector<char> piece(std::size_t{4} << 20);
  while (const ssize_t bytes = ::read(descriptor, piece.data(), piece.size())) {
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) fail_to_read(path);
    XXH3_128bits_update(state.get(), piece.data(), static_cast<std::size_t>(bytes));
    sum.size += bytes;
  }
  sum.checksum = digits(XXH3_128bits_digest(state.get()));
  return sum;
}

}  // namespace grove
