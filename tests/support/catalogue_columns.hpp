#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "io/hdf5.hpp"

namespace grove::testing {

/// The bytes of a dataset, and its shape.
struct Column {
  std::vector<hsize_t> shape;
  std::vector<std::byte> bytes;
  friend bool operator==(const Column&, const Column&) = default;

  template <class T>
  std::vector<T> values() const {
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
};

/// All datasets of a catalogue, by group and name.
inline std::map<std::string, Column> columns_of(const std::string& path) {
  std::map<std::string, Column> columns;
  const hdf5::Handle file = hdf5::open_file(path);
  for (const char* name : {"Group", "IDs"}) {
    const hdf5::Handle group = hdf5::open_group(file, name, path);
    for (const std::string& dataset_name : hdf5::dataset_names(group, path)) {
      const hdf5::Handle dataset = hdf5::open_dataset(group, dataset_name, path);
      const hdf5::DatasetInfo info = hdf5::info(dataset, path);
      Column& column = columns[std::string(name) + "/" + dataset_name];
      column.shape = info.shape;
      std::size_t numbers = 1;
      for (const hsize_t extent : info.shape) numbers *= extent;
      column.bytes.resize(8 * numbers);
      EXPECT_EQ(info.bytes, 8u);
      hdf5::read_rows(dataset, info.is_float ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, 0, info.shape[0],
                      column.bytes.data(), path);
    }
  }
  return columns;
}

}  // namespace grove::testing
