#include "io/array_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

/// What HDF5 writes beside arrays, generously.
constexpr std::int64_t description_bytes = 1 << 16;

}  // namespace

ArrayFileWriter::ArrayFileWriter(std::string path, std::int64_t bytes) : path_(std::move(path)) {
  // Once so that HDF5, which takes a failure badly, does not begin in vain; again as creation gives it back.
  const auto reserve = [&] { reserve_room(path_, bytes + description_bytes, Reserve::room_alone, path_); };
  reserve();
  file_ = hdf5::create_file(path_);
  reserve();
}

void ArrayFileWriter::write(const std::string& name, const RowLayout& layout, std::size_t rows,
                            const void* data) {
  std::vector<hsize_t> shape{rows};
  if (layout.numbers > 1) shape.push_back(layout.numbers);
  const hdf5::Handle dataset = hdf5::create_dataset(file_, name, layout.type, shape, path_);
  if (rows == 0) return;
  hdf5::write_all(dataset, layout.type, data, fmt::format("{}: {} cannot be written", path_, name));
}

void ArrayFileWriter::close() {
  const std::string what = path_ + ": cannot be written";
  hdf5::check(H5Fflush(file_, H5F_SCOPE_GLOBAL), what);
  file_.close(what);
  std::error_code error;
  const auto length = std::filesystem::file_size(path_, error);
  if (!error) std::filesystem::resize_file(path_, length, error);  // gives back what was not needed
  if (error) throw InputError(fmt::format("{}: {}", what, error.message()));
  flush_file(path_);
}

ArrayFileReader::ArrayFileReader(std::string path) : path_(std::move(path)), file_(hdf5::open_file(path_)) {}

hdf5::Handle ArrayFileReader::open(const std::string& name) const {
  hdf5::Handle dataset = hdf5::open_dataset(file_, name, path_);
  if (!dataset) throw InputError(fmt::format("{}: has no {}", path_, name));
  return dataset;
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
