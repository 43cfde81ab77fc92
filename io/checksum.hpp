#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace grove {

/// XXH3 of 128 bits, as 32 hexadecimal digits.
std::string checksum(std::string_view bytes);

/// The identity of a file.
struct FileSum {
  std::int64_t size = 0;  ///< bytes
  std::string checksum;   ///< of all of them
  bool operator==(const FileSum&) const = default;
};

/// Reads a whole file. InputError if that fails. Memory: a few MB.
FileSum checksum_of_file(const std::string& path);

}  // namespace grove
