#pragma once

#include <string>

#include "io/hdf5.hpp"

namespace grove::testing {

/// Gives an attribute of a group of an existing file a number; both are made if missing. For one rank alone.
inline void set_attribute(const std::string& path, const std::string& group_name, const std::string& name,
                          double value) {
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, path);
  hdf5::Handle group = hdf5::open_group(file, group_name, path);
  if (!group) group = hdf5::create_group(file, group_name, path);
  if (H5Aexists(group, name.c_str()) > 0) hdf5::check(H5Adelete(group, name.c_str()), path);
  hdf5::write_attribute(group, name, value, path);
}

}  // namespace grove::testing
