#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// The FileSum of bytes that come piece by piece.
class RunningSum {
 public:
  RunningSum();
  ~RunningSum();
  RunningSum(const RunningSum&) = delete;
  RunningSum& operator=(const RunningSum&) = delete;

  void add(const void* data, std::size_t bytes);
  FileSum sum() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a whole file. InputError if that fails. Memory: a few MB.
FileSum checksum_of_file(const std::string& path);

}  // namespace grove
