#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/read_all.hpp"
#include "fuzz/targets.hpp"
#include "io/checksum_trailer.hpp"
#include "io/hdf5.hpp"
#include "support/particles.hpp"

namespace grove::fuzz {
namespace {

using hdf5::Handle;

/// Takes decisions from the fuzzer's bytes; zeros when they are used up.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool are_left() const { return !bytes_.empty(); }

  template <class T>
  T value() {
    T result{};
    const std::size_t n = std::min(sizeof(T), bytes_.size());
    std::memcpy(&result, bytes_.data(), n);
    bytes_ = bytes_.subspan(n);
    return result;
  }
  template <class T, std::size_t N>
  const T& of(const std::array<T, N>& list) {
    return list[value<std::uint8_t>() % N];
  }
  std::vector<std::uint8_t> values(std::size_t count) {
    std::vector<std::uint8_t> result(count, 0);
    const std::size_t n = std::min(count, bytes_.size());
    std::copy_n(bytes_.begin(), n, result.begin());
    bytes_ = bytes_.subspan(n);
    return result;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

constexpr std::array groups{"Header",    "Units",     "Parameters",      "Cosmology",
                            "Grove",     "PartType0", "PartType1",       "PartType2",
                            "PartType4", "PartType7", "PartType1/Masses"};
constexpr std::array attributes{"NumPart_ThisFile",
                                "NumPart_Total",
                                "NumPart_Total_HighWord",
                                "MassTable",
                                "NumFilesPerSnapshot",
                                "Time",
                                "Redshift",
                                "BoxSize",
                                "HubbleParam",
                                "LeafSize",
                                "UnitLength_in_cm",
                                "UnitMass_in_g",
                                "UnitVelocity_in_cm_per_s",
                                "GravityConstantInternal",
                                "ComovingIntegrationOn",
                                "Cosmological run"};
constexpr std::array datasets{"Coordinates", "Velocities", "Masses", "ParticleIDs", "Potential"};

Handle text_type(std::size_t length) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "type");
  H5Tset_size(type, length);
  return type;
}

/// A type that numbers might be stored as, or not: texts of fixed and any length, a compound, an array, an
/// opaque one.
Handle any_type(Choices& choose) {
  const std::array numbers{H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT,  H5T_NATIVE_INT64, H5T_NATIVE_UINT64,
                           H5T_NATIVE_INT32,  H5T_NATIVE_UINT32, H5T_NATIVE_UINT8, H5T_IEEE_F64BE,
                           H5T_STD_I64BE,     H5T_NATIVE_LDOUBLE};
  const auto kind = choose.value<std::uint8_t>() % 16u;
  if (kind < 11) return {H5Tcopy(choose.of(numbers)), H5Tclose, "type"};
  if (kind == 11) return text_type(1 + choose.value<std::uint8_t>());
  if (kind == 12) return text_type(H5T_VARIABLE);
  if (kind == 13) {
    Handle type(H5Tcreate(H5T_COMPOUND, 16), H5Tclose, "type");
    H5Tinsert(type, "a", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "b", 8, H5T_NATIVE_INT64);
    return type;
  }
  if (kind == 14) {
    const hsize_t three = 3;
    return {H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three), H5Tclose, "type"};
  }
  return {H5Tcreate(H5T_OPAQUE, 8), H5Tclose, "type"};
}

/// Shapes near those that belong there, and others; at most `most` elements.
std::vector<hsize_t> any_shape(Choices& choose, hsize_t most) {
  std::vector<hsize_t> shape(choose.value<std::uint8_t>() % 4);
  hsize_t elements = 1;
  for (hsize_t& n : shape) {
    n = choose.value<std::uint8_t>() % 24;
    elements *= n;
  }
  if (elements > most) shape = {most};
  return shape;
}

Handle space_of(Choices& choose, const std::vector<hsize_t>& shape) {
  if (choose.value<std::uint8_t>() % 32 == 0) return {H5Screate(H5S_NULL), H5Sclose, "space"};
  if (shape.empty()) return {H5Screate(H5S_SCALAR), H5Sclose, "space"};
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, "space"};
}

std::vector<std::uint8_t> any_values(Choices& choose, hid_t type, hid_t space) {
  const auto count = static_cast<std::size_t>(std::max<hssize_t>(1, H5Sget_simple_extent_npoints(space)));
  return choose.values(count * std::max<std::size_t>(8, H5Tget_size(type)));
}

/// A group, or whatever stands under its name; made if there is nothing.
Handle object_of(hid_t file, const char* name) {
  hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  if (object < 0) object = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  return {object, H5Oclose, name};
}

void change_attribute(hid_t file, Choices& choose) {
  const Handle object = object_of(file, choose.of(groups));
  const char* name = choose.of(attributes);
  const Handle type = any_type(choose), space = space_of(choose, any_shape(choose, 600));
  H5Adelete(object, name);
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
  const auto values = any_values(choose, type, space);
  if (H5Tis_variable_str(type) <= 0) H5Awrite(attribute, type, values.data());
}

/// Unlike change_attribute() keeps type and shape, so that single numbers of headers change.
void change_number(hid_t file, Choices& choose) {
  const Handle object = object_of(file, choose.of(groups));
  const Handle attribute(H5Aopen(object, choose.of(attributes), H5P_DEFAULT), H5Aclose, "attribute");
  const Handle type(H5Aget_type(attribute), H5Tclose, "type");
  if (H5Aget_storage_size(attribute) == 0 || H5Tis_variable_str(type) > 0) return;
  std::vector<std::uint8_t> values(H5Aget_storage_size(attribute));
  H5Aread(attribute, type, values.data());
  const std::size_t size = H5Tget_size(type), at = choose.value<std::uint8_t>() * size % values.size();
  const auto number = choose.values(size);
  std::copy(number.begin(), number.end(), values.begin() + static_cast<std::ptrdiff_t>(at));
  H5Awrite(attribute, type, values.data());
}

/// Anew with any type and shape, in one piece or in chunks, compressed or not, filled or not.
void change_dataset(hid_t file, Choices& choose) {
  const Handle group = object_of(file, choose.of(groups));
  const char* name = choose.of(datasets);
  const Handle type = any_type(choose);
  const std::vector<hsize_t> shape = any_shape(choose, 600);
  const Handle space = space_of(choose, shape);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "list");
  const auto style = choose.value<std::uint8_t>();
  if (style & 1 && !shape.empty() && std::find(shape.begin(), shape.end(), 0u) == shape.end()) {
    const std::vector<hsize_t> chunk(shape.size(), 1 + style / 64);
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (style & 2) H5Pset_deflate(creation, 1);
  }
  H5Ldelete(group, name, H5P_DEFAULT);
  const Handle dataset(H5Dcreate2(group, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose,
                       name);
  if (style & 4 || H5Tis_variable_str(type) > 0) return;
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, any_values(choose, type, space).data());
}

void change_links(hid_t file, Choices& choose) {
  const char *from = choose.of(groups), *to = choose.of(groups);
  const std::string dataset = std::string("/PartType1/") + choose.of(datasets);
  const auto kind = choose.value<std::uint8_t>() % 5u;
  if (kind != 4) H5Ldelete(file, from, H5P_DEFAULT);
  if (kind == 1) H5Lcreate_soft(to, file, from, H5P_DEFAULT, H5P_DEFAULT);
  if (kind == 2) H5Lcreate_hard(file, dataset.c_str(), file, from, H5P_DEFAULT, H5P_DEFAULT);
  if (kind == 3) H5Lcreate_external("nowhere.hdf5", "/a", file, from, H5P_DEFAULT, H5P_DEFAULT);
  if (kind == 4) H5Ldelete(file, dataset.c_str(), H5P_DEFAULT);
}

void change(const std::string& path, Choices& choose) {
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, path);
  constexpr std::array kinds{change_attribute, change_number, change_number, change_dataset, change_links};
  for (int changes = 0; choose.are_left() && changes < 16; ++changes) try {
      choose.of(kinds)(file, choose);
    } catch (const InputError&) {  // a change that HDF5 does not make
    }
}

}  // namespace

void hdf5_changes(std::span<const std::uint8_t> bytes) {
  static const std::string path = memory_file("changed.hdf5");
  static const std::string good = [] {
    write_snapshot(alone(), path, testing::scattered_particles(alone(), 20), {.time = 1});
    return testing::bytes_of(path);
  }();
  std::ofstream(path, std::ios::binary) << good;
  Choices choose(bytes);
  change(path, choose);
  append_checksum(alone(), path);  // so that it is read in this process, which the fuzzer watches
  read_all(alone(), path);
  std::filesystem::remove(path);
}

}  // namespace grove::fuzz
