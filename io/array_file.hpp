#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/array.hpp"
#include "base/vec3.hpp"
#include "io/checksum.hpp"
#include "io/hdf5.hpp"

/// HDF5 files of named arrays that one rank alone writes and reads, bit for bit as they are in memory:
/// numbers and vectors as such, values of other types as rows of bytes.
namespace grove {

/// How the values of an array are stored.
struct RowLayout {
  hid_t type;           ///< of HDF5, of a number
  std::size_t numbers;  ///< in a row

  template <class T>
  static RowLayout of() {
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (std::is_same_v<T, Vec3d> || std::is_same_v<T, Vec3f>)
      return {hdf5::native<decltype(T::x)>(), 3};
    else if constexpr (std::is_arithmetic_v<T>)
      return {hdf5::native<T>(), 1};
    else
      return {H5T_NATIVE_UINT8, sizeof(T)};
  }
};

/// HDF5 never writes the file itself: version 1.10 keeps the identifier of a file that it could not close,
/// and reads its freed memory when the program ends. It describes the arrays in a file in memory, with holes
/// where they lie; both are then written by calls whose failures can be borne, from the first byte to the
/// last, so that their checksum is known without reading them again. Memory: some kB.
class ArrayFileWriter {
 public:
  /// bytes: of all arrays; room for them is taken on disk first. InputError: there is none, or the file
  /// cannot be made.
  ArrayFileWriter(std::string path, std::int64_t bytes);

  /// Takes an array, which close() writes: until then it must stay as it is.
  template <class Values>
  void put(const std::string& name, const Values& values) {
    using T = typename Values::value_type;
    place(name, RowLayout::of<T>(), values.size(), values.data());
  }
  template <class T>
  void put_value(const std::string& name, const T& value) {
    const auto* const bytes = reinterpret_cast<const char*>(&value);
    const std::vector<char>& copy = values_.emplace_back(bytes, bytes + sizeof(T));
    place(name, RowLayout::of<T>(), 1, copy.data());
  }

  /// Writes the file, to survive a power failure, and says what it is then. InputError if that fails.
  FileSum close();

 private:
  /// An open file.
  class Descriptor {
   public:
    Descriptor(int number, const std::string& path);
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    operator int() const { return number_; }

   private:
    int number_;
  };
  /// Bytes of the file that an array takes.
  struct Extent {
    std::int64_t begin, end;
    const void* data;
  };

  void place(const std::string& name, const RowLayout& layout, std::size_t rows, const void* data);
  void append(const void* data, std::int64_t size);
  void append_description(std::int64_t end);

  std::string path_;
  Descriptor on_disk_, in_memory_;
  hdf5::Handle description_;              ///< in_memory_, open in HDF5
  std::deque<std::vector<char>> values_;  ///< of put_value()
  std::vector<Extent> arrays_;
  std::int64_t written_ = 0;  ///< bytes, from the first one on
  RunningSum sum_;            ///< of these
};

class ArrayFileReader {
 public:
  /// InputError if there is no such file, or it is none of HDF5.
  explicit ArrayFileReader(std::string path);

  bool has(const std::string& name) const;
  std::size_t rows(const std::string& name) const;
  /// Values [first, first + values.size()) of an array. InputError: it has not so many, is not there, or was
  /// not stored as an array of these.
  template <class T, std::size_t N>
  void read(const std::string& name, std::int64_t first, std::span<T, N> values) const {
    read(name, RowLayout::of<T>(), first, values.size(), values.data());
  }
  /// All of an array.
  template <class T>
  std::vector<T> all(const std::string& name) const {
    std::vector<T> values(rows(name));
    read(name, 0, std::span(values));
    return values;
  }
  template <class T>
  T value(const std::string& name) const {
    T result;
    read(name, 0, std::span<T>(&result, 1));
    return result;
  }

 private:
  void read(const std::string& name, const RowLayout& layout, std::int64_t first, std::size_t count,
            void* data) const;
  hdf5::Handle open(const std::string& name) const;

  std::string path_;
  hdf5::Handle file_;
};

}  // namespace grove
