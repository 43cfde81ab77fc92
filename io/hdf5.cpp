#include "io/hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.hpp"

namespace grove::hdf5 {
namespace {

void silence() { [[maybe_unused]] static const herr_t once = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

/// Keeps the innermost message, which is the cause of the others.
herr_t take_first(unsigned number, const H5E_error2_t* error, void* message) {
  if (number == 0 && error->desc) *static_cast<std::string*>(message) = error->desc;
  return 0;
}

[[noreturn]] void fail(const std::string& what) {
  std::string cause;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &cause);
  H5Eclear2(H5E_DEFAULT);
  throw InputError(cause.empty() ? what : fmt::format("{}: HDF5: {}", what, cause));
}

Handle property_list(hid_t kind) { return {H5Pcreate(kind), H5Pclose, "HDF5 property list"}; }

Handle space_of(std::span<const hsize_t> shape) {
  const hid_t id = shape.empty() ? H5Screate(H5S_SCALAR)
                                 : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  return {id, H5Sclose, "HDF5 data space"};
}

std::vector<hsize_t> shape_of(hid_t space) {
  std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  if (!shape.empty()) check(H5Sget_simple_extent_dims(space, shape.data(), nullptr), "HDF5 data space");
  return shape;
}

/// Selects rows in the file's space and makes the matching one for memory.
Handle select_rows(hid_t file_space, hsize_t first, hsize_t count, const std::string& what) {
  std::vector<hsize_t> size = shape_of(file_space), start(size.size(), 0);
  if (size.empty()) throw InputError(what + ": expected an array, found a scalar");
  start[0] = first;
  size[0] = count;
  Handle memory = space_of(size);
  if (count == 0) {
    check(H5Sselect_none(file_space), what);
    check(H5Sselect_none(memory), what);
  } else {
    check(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr), what);
  }
  return memory;
}

}  // namespace

hid_t check(hid_t value, const std::string& what) {
  if (value < 0) fail(what);
  return value;
}

herr_t check(herr_t value, const std::string& what) {
  if (value < 0) fail(what);
  return value;
}

bool is_hdf5(const std::string& path) {
  silence();
  return H5Fis_hdf5(path.c_str()) > 0;
}

Handle open_file(const std::string& path) {
  silence();
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
          path + ": damaged or cut short, or it cannot be read"};
}

Handle create_file(MPI_Comm comm, const std::string& path) {
  silence();
  const Handle access = property_list(H5P_FILE_ACCESS);
  check(H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL), path);
  check(H5Pset_coll_metadata_write(access, true), path);
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
          path + ": cannot be created"};
}

Handle create_file(int descriptor, const std::string& path) {
  silence();
  const Handle access = property_list(H5P_FILE_ACCESS);
  check(H5Pset_fapl_stdio(access), path);  // others want a name in a folder
  const std::string name = fmt::format("/proc/self/fd/{}", descriptor);
  return {H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose,
          path + ": cannot be created"};
}

Handle create_group(hid_t parent, const std::string& name, const std::string& path) {
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
          fmt::format("{}: group {} cannot be created", path, name)};
}

Handle open_group(hid_t parent, const std::string& name, const std::string& path) {
  if (H5Lexists(parent, name.c_str(), H5P_DEFAULT) <= 0) return {};
  return {H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose,
          fmt::format("{}: group {} cannot be opened", path, name)};
}

void write_attribute(hid_t object, const std::string& name, hid_t type, std::span<const hsize_t> shape,
                     const void* data, const std::string& path) {
  const std::string what = fmt::format("{}: attribute {} cannot be written", path, name);
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space_of(shape), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, what);
  check(H5Awrite(attribute, type, data), what);
}

void write_attribute(hid_t object, const std::string& name, const std::string& text,
                     const std::string& path) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, path);
  check(H5Tset_size(type, text.size() + 1), path);
  write_attribute(object, name, type, {}, text.c_str(), path);
}

template <class T>
std::vector<T> read_attribute(hid_t object, const std::string& name, const std::string& path) {
  if (!has_attribute(object, name)) return {};
  const std::string what = fmt::format("{}: attribute {} cannot be read", path, name);
  const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, what);
  const Handle space(H5Aget_space(attribute), H5Sclose, what);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  constexpr hssize_t most = 1 << 16;
  if (count > most)
    throw InputError(fmt::format("{}: it has {} values; expected at most {}", what, count, most));
  std::vector<T> values(static_cast<std::size_t>(std::max<hssize_t>(0, count)));
  if (!values.empty()) check(H5Aread(attribute, native<T>(), values.data()), what);
  return values;
}
template std::vector<double> read_attribute<double>(hid_t, const std::string&, const std::string&);
template std::vector<std::int64_t> read_attribute<std::int64_t>(hid_t, const std::string&,
                                                                const std::string&);

bool has_attribute(hid_t object, const std::string& name) { return H5Aexists(object, name.c_str()) > 0; }

std::string read_text_attribute(hid_t object, const std::string& name, const std::string& path) {
  if (!has_attribute(object, name)) return "";
  const std::string what = fmt::format("{}: attribute {} cannot be read", path, name);
  const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, what);
  const Handle space(H5Aget_space(attribute), H5Sclose, what), type(H5Aget_type(attribute), H5Tclose, what);
  constexpr std::size_t most = 1 << 16;
  const std::size_t length = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || length > most ||
      H5Sget_simple_extent_npoints(space) != 1)
    return "";
  std::string text(length, '\0');
  check(H5Aread(attribute, type, text.data()), what);
  return text.substr(0, text.find('\0'));
}

std::string DatasetInfo::type_name() const {
  if (is_float) return fmt::format("float{}", 8 * bytes);
  if (is_integer) return fmt::format("{}int{}", is_signed ? "" : "u", 8 * bytes);
  return fmt::format("not a number, {} bytes", bytes);
}

Handle create_dataset(hid_t parent, const std::string& name, hid_t type, std::span<const hsize_t> shape,
                      const std::string& path) {
  const std::string what = fmt::format("{}: dataset {} cannot be created", path, name);
  const Handle creation = property_list(H5P_DATASET_CREATE);
  // Every element is written, so filling first would only cost time; time stamps would make equal files
  // differ.
  check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), what);
  check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), what);
  check(H5Pset_obj_track_times(creation, false), what);
  return {H5Dcreate2(parent, name.c_str(), type, space_of(shape), H5P_DEFAULT, creation, H5P_DEFAULT),
          H5Dclose, what};
}

Handle open_dataset(hid_t parent, const std::string& name, const std::string& path) {
  if (H5Lexists(parent, name.c_str(), H5P_DEFAULT) <= 0) return {};
  return {H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose,
          fmt::format("{}: dataset {} cannot be opened", path, name)};
}

DatasetInfo info(hid_t dataset, const std::string& path) {
  const Handle space(H5Dget_space(dataset), H5Sclose, path), type(H5Dget_type(dataset), H5Tclose, path);
  const H5T_class_t kind = H5Tget_class(type);
  return {shape_of(space), kind == H5T_FLOAT, kind == H5T_INTEGER,
          kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2, H5Tget_size(type)};
}

bool is_searched(hid_t dataset, const std::string& path) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose, path);
  const H5D_layout_t layout = H5Pget_layout(creation);
  return layout == H5D_CHUNKED || layout == H5D_VIRTUAL;
}

bool has_numbers(hid_t dataset, const std::string& path) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose, path);
  if (H5Pget_layout(creation) == H5D_VIRTUAL || H5Dget_storage_size(dataset) > 0) return true;
  H5D_fill_value_t value = H5D_FILL_VALUE_UNDEFINED;
  H5D_fill_time_t time = H5D_FILL_TIME_NEVER;
  check(H5Pfill_value_defined(creation, &value), path);
  check(H5Pget_fill_time(creation, &time), path);
  return value != H5D_FILL_VALUE_UNDEFINED && time != H5D_FILL_TIME_NEVER;
}

std::set<std::string> files_mapped_to(hid_t dataset, const std::string& path) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose, path);
  std::size_t count = 0;
  if (H5Pget_layout(creation) == H5D_VIRTUAL) check(H5Pget_virtual_count(creation, &count), path);
  std::set<std::string> files;
  for (std::size_t i = 0; i < count; ++i) {
    const auto length =
        static_cast<std::size_t>(std::max<ssize_t>(0, H5Pget_virtual_filename(creation, i, nullptr, 0)));
    std::string name(length + 1, '\0');
    H5Pget_virtual_filename(creation, i, name.data(), name.size());
    name.resize(length);
    if (name.find('%') == std::string::npos) files.insert(name);
  }
  return files;
}

std::vector<std::string> dataset_names(hid_t group, const std::string& path) {
  std::vector<std::string> names;
  const auto add = [](hid_t parent, const char* name, const H5L_info_t*, void* list) -> herr_t {
    H5O_info_t object;
    if (H5Oget_info_by_name(parent, name, &object, H5P_DEFAULT) >= 0 && object.type == H5O_TYPE_DATASET)
      static_cast<std::vector<std::string>*>(list)->push_back(name);
    return 0;
  };
  check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names), path);
  return names;
}

void write_rows(hid_t dataset, hid_t type, hsize_t first, hsize_t count, const void* data,
                const std::string& what) {
  const Handle space(H5Dget_space(dataset), H5Sclose, what);
  const Handle memory = select_rows(space, first, count, what);
  const Handle transfer = property_list(H5P_DATASET_XFER);
  check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), what);
  check(H5Dwrite(dataset, type, memory, space, transfer, data), what);
}

void read_rows(hid_t dataset, hid_t type, hsize_t first, hsize_t count, void* data, const std::string& what) {
  if (count == 0) return;
  const Handle space(H5Dget_space(dataset), H5Sclose, what);
  const Handle memory = select_rows(space, first, count, what);
  check(H5Dread(dataset, type, memory, space, H5P_DEFAULT, data), what);
}

}  // namespace grove::hdf5
