#pragma once

// Newer versions of HDF5 keep the calls of 1.10 under this name.
#ifndef H5_USE_110_API
#define H5_USE_110_API
#endif
#include <hdf5.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// HDF5's C interface with owned handles and checked calls. Any failure is an InputError with the context
/// given by the caller and the innermost message of HDF5's own error stack, which is not printed.
namespace grove::hdf5 {

/// Throws unless the value is a success (not negative). `what` names the file and what was tried.
hid_t check(hid_t value, const std::string& what);
herr_t check(herr_t value, const std::string& what);

/// An owned identifier of HDF5, closed at the end of its life.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  /// Throws if the identifier is a failure.
  Handle(hid_t id, Close closing, const std::string& what) : id_(check(id, what)), close_(closing) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) reset(), id_ = std::exchange(other.id_, -1), close_ = other.close_;
    return *this;
  }

  operator hid_t() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

  /// Closes now and reports a failure, which the destructor cannot.
  void close(const std::string& what) {
    if (id_ >= 0) check(close_(std::exchange(id_, -1)), what);
  }
  /// Never closes: of a file that several ranks have open, where the others would not come to close it.
  void abandon() { id_ = -1; }

 private:
  void reset() {
    if (id_ >= 0) close_(std::exchange(id_, -1));
  }

  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// HDF5's type of a number in memory.
template <class T>
hid_t native() {
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return H5T_NATIVE_UINT32;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return H5T_NATIVE_UINT64;
}

/// True if the file starts like HDF5 (at 0, 512, 1024, ...). False if it cannot be opened.
bool is_hdf5(const std::string& path);

/// Opens for reading by this rank alone.
Handle open_file(const std::string& path);
/// Creates or empties a file, by all ranks of the communicator together.
Handle create_file(MPI_Comm comm, const std::string& path);
/// The same by this rank alone, in a file that is open, such as one in memory.
Handle create_file(int descriptor, const std::string& path);

/// `path` of a file is for messages only, here and below.
Handle create_group(hid_t parent, const std::string& name, const std::string& path);
/// Handle of an existing group; none if there is no such group.
Handle open_group(hid_t parent, const std::string& name, const std::string& path);

void write_attribute(hid_t object, const std::string& name, hid_t type, std::span<const hsize_t> shape,
                     const void* data, const std::string& path);
template <class T>
requires std::is_arithmetic_v<T>
void write_attribute(hid_t object, const std::string& name, T value, const std::string& path) {
  write_attribute(object, name, native<T>(), {}, &value, path);
}
template <class T, std::size_t N>
void write_attribute(hid_t object, const std::string& name, const std::array<T, N>& values,
                     const std::string& path) {
  const hsize_t shape[] = {N};
  write_attribute(object, name, native<T>(), shape, values.data(), path);
}
/// A text of fixed length.
void write_attribute(hid_t object, const std::string& name, const std::string& text, const std::string& path);

/// Reads all values of an attribute, whatever its number type; empty if there is no such attribute.
/// InputError if it holds no numbers, or more than any header does.
template <class T>
std::vector<T> read_attribute(hid_t object, const std::string& name, const std::string& path);

/// True if there is an attribute of this name.
bool has_attribute(hid_t object, const std::string& name);
/// A text of fixed length; empty if there is no such attribute, or it is something else.
std::string read_text_attribute(hid_t object, const std::string& name, const std::string& path);

/// Shape and kind of a dataset.
struct DatasetInfo {
  std::vector<hsize_t> shape;
  bool is_float = false, is_integer = false, is_signed = false;
  std::size_t bytes = 0;  ///< of one number
  std::string type_name() const;
};

/// Creates a contiguous dataset of given shape, whose place in the file is known at once; collective.
Handle create_dataset(hid_t parent, const std::string& name, hid_t type, std::span<const hsize_t> shape,
                      const std::string& path);
/// Handle of an existing dataset; none if there is no such dataset.
Handle open_dataset(hid_t parent, const std::string& name, const std::string& path);
DatasetInfo info(hid_t dataset, const std::string& path);
/// True if HDF5 has to search for the rows of a dataset: it is stored in chunks, or is virtual.
bool is_searched(hid_t dataset, const std::string& path);
/// True if there are numbers to read of a dataset: it is stored, or mapped to others (virtual), or was never
/// written and has a value to fill it with, zero unless its writer said otherwise.
bool has_numbers(hid_t dataset, const std::string& path);
/// The files that a virtual dataset is mapped to, each once; but not those whose names follow a pattern.
std::set<std::string> files_mapped_to(hid_t dataset, const std::string& path);
/// Names of the datasets in a group, in alphabetical order.
std::vector<std::string> dataset_names(hid_t group, const std::string& path);

/// Writes rows [first, first + count) from all ranks together (each its own; count may be 0).
void write_rows(hid_t dataset, hid_t type, hsize_t first, hsize_t count, const void* data,
                const std::string& what);
/// Reads rows [first, first + count), by this rank alone; HDF5 converts to the type.
void read_rows(hid_t dataset, hid_t type, hsize_t first, hsize_t count, void* data, const std::string& what);

}  // namespace grove::hdf5
