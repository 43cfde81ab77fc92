#include "io/checksum_trailer.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/errors.hpp"
#include "base/shares.hpp"
#include "base/types.hpp"

namespace grove {
namespace {

static_assert(std::endian::native == std::endian::little, "the trailer holds its numbers as they are");

constexpr Count block_bytes = Count{4} << 20;

/// The bytes behind the content.
struct Trailer {
  std::array<char, 16> mark{'\n', 'g', 'r', 'o', 'v', 'e', ' ', 'c', 'h', 'e', 'c', 'k', 's', 'u', 'm', '\n'};
  Count bytes = 0;        ///< of the content
  std::uint64_t sum = 0;  ///< of the content
};
static_assert(sizeof(Trailer) == 32);

/// Blocks that a rank reads between two pauses.
constexpr Count most_at_once = 64;

/// Adds up the sums of blocks [first, last).
std::uint64_t sum_of_blocks(std::ifstream& file, const std::string& path, Count bytes, Count first,
                            Count last) {
  std::vector<char> block(static_cast<std::size_t>(std::min(bytes, block_bytes)));
  std::uint64_t sum = 0;
  file.seekg(first * block_bytes);
  for (Count number = first; number < last; ++number) {
    const Count length = std::min(block_bytes, bytes - number * block_bytes);
    if (!file.read(block.data(), length))
      throw InputError(
          fmt::format("{}: cannot be read at byte {}: {}", path, number * block_bytes, std::strerror(errno)));
    sum += XXH3_64bits_withSeed(block.data(), static_cast<std::size_t>(length),
                                static_cast<std::uint64_t>(number));
  }
  return sum;
}

/// The sum over the first `bytes` bytes of the file. Collective.
std::uint64_t checksum(const Communicator& comm, const std::string& path, Count bytes,
                       const std::function<void()>& pause) {
  const Count blocks = (bytes + block_bytes - 1) / block_bytes, ranks = comm.size();
  const Count parts = (blocks + ranks * most_at_once - 1) / (ranks * most_at_once);
  std::uint64_t sum = 0;
  std::ifstream file(path, std::ios::binary);
  for (Count part = 0; part < parts; ++part) {
    const Count first = share_begin(blocks, comm.rank() * parts + part, ranks * parts);
    const Count last = share_begin(blocks, comm.rank() * parts + part + 1, ranks * parts);
    comm.together([&] { sum += sum_of_blocks(file, path, bytes, first, last); });
    if (pause) pause();
  }
  return comm.sum(sum);
}

/// Length of the file; 0 if there is none.
Count length_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return 0;
  const std::uintmax_t length = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<Count>(length);
}

/// The trailer at the end of a file of this length; a mark of zeros if there is none.
Trailer trailer_of(const std::string& path, Count length) {
  Trailer trailer;
  const auto mark = trailer.mark;
  std::ifstream file(path, std::ios::binary);
  file.seekg(length - static_cast<Count>(sizeof(Trailer)));
  if (length < static_cast<Count>(sizeof(Trailer)) ||
      !file.read(reinterpret_cast<char*>(&trailer), sizeof(Trailer)) || trailer.mark != mark)
    trailer.mark = {};
  return trailer;
}

/// True if the file ends with a part of a trailer: so much of the mark that chance does not write it.
bool ends_within_trailer(const std::string& path, Count length) {
  constexpr std::size_t enough = 8;
  std::string tail(static_cast<std::size_t>(std::min(length, static_cast<Count>(sizeof(Trailer) - 1))), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(length - static_cast<Count>(tail.size()));
  if (!file.read(tail.data(), static_cast<std::streamsize>(tail.size()))) return false;
  const Trailer trailer;
  const std::string mark(trailer.mark.begin(), trailer.mark.end());
  const std::size_t at = tail.find(mark.substr(0, enough));
  return at != std::string::npos && tail.substr(at, mark.size()) == mark.substr(0, tail.size() - at);
}

}  // namespace

void append_checksum(const Communicator& comm, const std::string& path) {
  Trailer trailer;
  trailer.bytes = comm.broadcast(length_of(path));
  trailer.sum = checksum(comm, path, trailer.bytes, {});
  comm.together([&] {
    if (!comm.is_master()) return;
    std::ofstream file(path, std::ios::binary | std::ios::app);
    file.write(reinterpret_cast<const char*>(&trailer), sizeof(Trailer));
    file.close();
    if (!file) throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  });
}

bool has_right_checksum(const Communicator& comm, const std::string& path,
                        const std::function<void()>& pause) {
  Trailer trailer;
  Count length = 0;
  comm.together([&] {
    if (!comm.is_master()) return;
    length = length_of(path), trailer = trailer_of(path, length);
    if (trailer.mark != Trailer{}.mark && ends_within_trailer(path, length))
      throw InputError(path + ": damaged: its end was cut off, in the checksum");
  });
  length = comm.broadcast(length);
  trailer = comm.broadcast(trailer);
  if (trailer.mark != Trailer{}.mark) return false;
  const Count content = length - static_cast<Count>(sizeof(Trailer));
  const std::uint64_t sum = checksum(comm, path, content, pause);
  comm.together([&] {
    if (trailer.bytes != content)
      throw InputError(
          fmt::format("{}: damaged: {} bytes were written, {} are left", path, trailer.bytes, content));
    if (trailer.sum != sum)
      throw InputError(fmt::format("{}: damaged: its checksum is {:016x}, but what is read has {:016x}", path,
                                   trailer.sum, sum));
  });
  return true;
}

}  // namespace grove
