#include "io/array_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

/// Bytes that HDF5 writes beside arrays, generously.
constexpr std::int64_t description_bytes = 1 << 16;

/// Bytes at a time: what was just read for the checksum is then written out of a cache.
constexpr std::int64_t append_bytes = 1 << 18;

[[noreturn]] void fail_to_write(const std::string& path) {
  throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

}  // namespace

ArrayFileWriter::Descriptor::Descriptor(int number, const std::string& path) : number_(number) {
  if (number < 0) fail_to_write(path);
}

ArrayFileWriter::Descriptor::~Descriptor() { ::close(number_); }

ArrayFileWriter::ArrayFileWriter(std::string path, std::int64_t bytes)
    : path_(std::move(path)),
      on_disk_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), path_),
      in_memory_(::memfd_create("grove", MFD_CLOEXEC), path_) {
  reserve_room(path_, bytes + description_bytes, Reserve::room_alone, path_);
  // A limit of the process (ulimit -f) holds in memory, too, and HDF5 must not meet it.
  if (::ftruncate(in_memory_, bytes + description_bytes) != 0) fail_to_write(path_);
  description_ = hdf5::create_file(in_memory_, path_);
}

void ArrayFileWriter::place(const std::string& name, const RowLayout& layout, std::size_t rows,
                            const void* data) {
  std::vector<hsize_t> shape{rows};
  if (layout.numbers > 1) shape.push_back(layout.numbers);
  const hdf5::Handle dataset = hdf5::create_dataset(description_, name, layout.type, shape, path_);
  if (rows == 0) return;
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) throw InputError(fmt::format("{}: {} has no place in the file", path_, name));
  const auto begin = static_cast<std::int64_t>(offset);
  const auto size = static_cast<std::int64_t>(rows * layout.numbers * H5Tget_size(layout.type));
  arrays_.push_back({begin, begin + size, data});
}

/// Writes the next bytes of the file.
void ArrayFileWriter::append(const void* data, std::int64_t size) {
  const auto* next = static_cast<const char*>(data);
  for (const char* const end = next + size; next < end;) {
    const auto piece = static_cast<std::size_t>(std::min<std::int64_t>(append_bytes, end - next));
    sum_.add(next, piece);
    for (const char* const piece_end = next + piece; next < piece_end;) {
      const auto part = ::pwrite(on_disk_, next, static_cast<std::size_t>(piece_end - next), written_);
      if (part < 0 && errno != EINTR) fail_to_write(path_);
      next += std::max<std::int64_t>(0, part), written_ += std::max<std::int64_t>(0, part);
    }
  }
}

/// Those that HDF5 has written before an array.
void ArrayFileWriter::append_description(std::int64_t end) {
  std::vector<char> bytes(static_cast<std::size_t>(end - written_));
  const auto found = ::pread(in_memory_, bytes.data(), bytes.size(), written_);
  if (found != static_cast<std::int64_t>(bytes.size())) fail_to_write(path_);
  append(bytes.data(), found);
}

FileSum ArrayFileWriter::close() {
  description_.close(path_ + ": cannot be described");
  struct stat whole = {};
  if (::fstat(in_memory_, &whole) != 0) fail_to_write(path_);
  std::sort(arrays_.begin(), arrays_.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (const Extent& array : arrays_) {
    append_description(array.begin);
    append(array.data, array.end - array.begin);
  }
  append_description(whole.st_size);
  // That also gives back what was not needed.
  if (::ftruncate(on_disk_, whole.st_size) != 0 || ::fsync(on_disk_) != 0) fail_to_write(path_);
  return sum_.sum();
}

ArrayFileReader::ArrayFileReader(std::string path) : path_(std::move(path)), file_(hdf5::open_file(path_)) {}

hdf5::Handle ArrayFileReader::open(const std::string& name) const {
  hdf5::Handle dataset = hdf5::open_dataset(file_, name, path_);
  if (!dataset) throw InputError(fmt::format("{}: has no {}", path_, name));
  return dataset;
}

bool ArrayFileReader::has(const std::string& name) const {
  return static_cast<bool>(hdf5::open_dataset(file_, name, path_));
}

std::size_t ArrayFileReader::rows(const std::string& name) const {
  return static_cast<std::size_t>(hdf5::info(open(name), path_).shape.at(0));
}

void ArrayFileReader::read(const std::string& name, const RowLayout& layout, std::int64_t first,
                           std::size_t count, void* data) const {
  const hdf5::Handle dataset = open(name);
  const hdf5::DatasetInfo info = hdf5::info(dataset, path_);
  const std::size_t numbers = info.shape.size() > 1 ? static_cast<std::size_t>(info.shape[1]) : 1;
  if (numbers != layout.numbers || info.bytes != H5Tget_size(layout.type))
    throw InputError(fmt::format("{}: {}: rows of {} {}, where this version of Grove has {} of {} bytes",
                                 path_, name, numbers, info.type_name(), layout.numbers,
                                 H5Tget_size(layout.type)));
  const auto row = static_cast<hsize_t>(first);
  if (row + count > info.shape[0])
    throw InputError(
        fmt::format("{}: {}: {} rows, where {} are needed", path_, name, info.shape[0], row + count));
  hdf5::read_rows(dataset, layout.type, row, count, data, fmt::format("{}: {} cannot be read", path_, name));
}

}  // namespace grove
