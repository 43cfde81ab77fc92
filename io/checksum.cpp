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

struct RunningSum::State {
  XXH3_state_t* hash = XXH3_createState();
  std::int64_t size = 0;
  ~State() { XXH3_freeState(hash); }
};

RunningSum::RunningSum() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_->hash); }
RunningSum::~RunningSum() = default;

void RunningSum::add(const void* data, std::size_t bytes) {
  XXH3_128bits_update(state_->hash, data, bytes);
  state_->size += static_cast<std::int64_t>(bytes);
}

FileSum RunningSum::sum() const { return {state_->size, digits(XXH3_128bits_digest(state_->hash))}; }

FileSum checksum_of_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_to_read(path);
  const auto close = [](const int* open) { ::close(*open); };
  const std::unique_ptr<const int, decltype(close)> closer(&descriptor, close);
  RunningSum sum;
  std::vector<char> piece(std::size_t{4} << 20);
  while (const ssize_t bytes = ::read(descriptor, piece.data(), piece.size())) {
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) fail_to_read(path);
    sum.add(piece.data(), static_cast<std::size_t>(bytes));
  }
  return sum.sum();
}

}  // namespace grove
