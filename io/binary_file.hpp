#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "io/snapshot_file.hpp"

namespace grove {

/// Number types of binary files.
enum class NumberType : std::uint8_t { float32, float64, uint32, uint64 };

constexpr std::int64_t bytes_of(NumberType type) {
  return type == NumberType::float32 || type == NumberType::uint32 ? 4 : 8;
}
std::string name_of(NumberType type);

/// The place of the numbers of one field of one type of particles in a binary file.
struct Column {
  std::size_t components;  ///< numbers per particle
  std::int64_t offset;     ///< of the first particle's, bytes from the beginning of the file
  std::int64_t stride;     ///< bytes from one particle to the next
  NumberType number;
};

/// A file of plain binary numbers in either byte order, read by this rank alone. The format says which
/// fields there are and where they lie.
class BinaryFile : public SnapshotFile {
 public:
  explicit BinaryFile(const std::string& path);

  bool has(int type, std::string_view field) const override { return columns_.contains({type, field}); }
  void read(int type, std::string_view field, Count first, Count count, double* out) override {
    read_column(columns_.at({type, field}), first, count, out);
  }
  void read(int type, std::string_view field, Count first, Count count, std::uint64_t* out) override {
    read_column(columns_.at({type, field}), first, count, out);
  }

 protected:
  const std::string& path() const { return path_; }
  /// Length of the file in bytes.
  std::int64_t size() const { return size_; }
  /// Bytes [offset, offset + count). InputError if the file ends before.
  void bytes(std::int64_t offset, std::int64_t count, void* out);
  /// A number at an offset, in the file's byte order (header_.byte_swapped).
  template <class T>
  T number(std::int64_t offset) {
    char raw[sizeof(T)];
    bytes(offset, sizeof(T), raw);
    return decoded<T>(raw);
  }

  std::map<std::pair<int, std::string_view>, Column> columns_;  ///< by type and FieldInfo::name

 private:
  template <class T>
  T decoded(const char* raw) const {
    char copy[sizeof(T)];
    std::memcpy(copy, raw, sizeof(T));
    if (header_.byte_swapped) std::reverse(copy, copy + sizeof(T));
    T value;
    std::memcpy(&value, copy, sizeof(T));
    return value;
  }
  template <class Out>
  void read_column(const Column& column, Count first, Count count, Out* out);
  template <class In, class Out>
  void decode(const char* raw, std::int64_t stride, std::size_t components, Count count, Out* out) const;

  std::string path_;
  std::ifstream file_;
  std::int64_t size_ = 0;
};

}  // namespace grove
