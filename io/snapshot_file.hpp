#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/types.hpp"
#include "base/units.hpp"
#include "io/file_fields.hpp"
#include "io/snapshot.hpp"

namespace grove {

/// The content of the header of one file of a snapshot.
struct FileHeader {
  SnapshotFormat format = SnapshotFormat::hdf5;
  bool byte_swapped = false;
  int files = 1;                                    ///< in the set that it belongs to
  std::array<Count, particle_types> counts{};       ///< in this file
  std::array<Count, particle_types> total{};        ///< in the whole set, as this file has it
  std::array<double, particle_types> mass_table{};  ///< 0: the file has a mass for each particle
  bool has_ids = true;
  double time = 0, redshift = 0;
  Vec3d box_size{};  ///< 0: open
  bool is_periodic = false;
  std::optional<Units> units;
  Count leaf_size = 0;
  bool by_grove = false;                      ///< see SnapshotHeader
  std::string comoving;                       ///< see SnapshotHeader
  double h = 0;                               ///< see SnapshotHeader
  double omega_matter = 0, omega_lambda = 0;  ///< see SnapshotHeader
  std::vector<StoredFieldInfo> fields;
};

/// One file of particles, opened by this rank alone. Opening checks that everything the header promises is
/// there, and the fields of the types that it has particles of; InputError names what is not.
class SnapshotFile {
 public:
  virtual ~SnapshotFile() = default;
  const FileHeader& header() const { return header_; }

  /// True if it holds the field (FieldInfo::name) for particles of a type: those of a type that it is opened
  /// for, but for masses that the mass table has, ids of files without any, and fields of gas.
  virtual bool has(int type, std::string_view field) const = 0;
  /// Particles [first, first + count) of a type. out: the numbers of each, one after the other; of whole
  /// numbers or of floats, as the field has them.
  virtual void read(int type, std::string_view field, Count first, Count count, double* out) = 0;
  virtual void read(int type, std::string_view field, Count first, Count count, std::uint64_t* out) = 0;

 protected:
  FileHeader header_;
};

/// Recognises the format by content. fields: to be read. InputError if it is none, or if the file is damaged
/// or lacks a field for particles of a type that has it. HDF5 may crash on files that check_before_opening()
/// has not let pass.
std::unique_ptr<SnapshotFile> open_snapshot_file(const std::string& path,
                                                 std::span<const FileField> fields = file_fields());

/// Fills particles [at, at + count) with the rows of a table that they have and the file holds, from
/// particles [first, first + count) of a type. for_each_row: as for file_fields_of(); the file was opened for
/// its rows.
template <class Rows>
void read_fields(SnapshotFile& file, int type, Count first, Count count, Particles& particles, std::size_t at,
                 const Rows& for_each_row) {
  for_each_row([&](const auto& field) {
    using T = typename std::remove_cvref_t<decltype(field)>::Value;
    const FieldInfo& info = field.info;
    if (!info.input || !info.is_of(static_cast<std::size_t>(type)) || !particles.holds(info) ||
        !file.has(type, info.name))
      return;
    [[maybe_unused]] T* const out = &(particles.*field.array)[at];
    static_assert(sizeof(Vec3d) == 3 * sizeof(double));
    if constexpr (std::is_same_v<T, Vec3d>)
      file.read(type, info.name, first, count, &out->x);
    else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::uint64_t>)
      file.read(type, info.name, first, count, out);
    else
      throw std::logic_error("a field of snapshots has numbers that are not read");
  });
}

/// Checks the checksum of each file that has one; HDF5 without one is tried in a child process, each by one
/// rank. Returns whether all have one. Collective; InputError on all ranks together if a file is damaged. A
/// missing file passes. pause: see ReadOptions.
bool check_before_opening(const Communicator& comm, std::span<const std::string> paths,
                          const std::function<void()>& pause = {});

/// A number of files in a set as a header has it; 0 and less, of writers that do not set it, mean one file.
/// InputError if there cannot be so many.
int number_of_files(std::int64_t stated, const std::string& path);

/// FileHeader::comoving of SWIFT's files of expanding space. They have no h in their units.
inline constexpr const char* swift_is_comoving = "Cosmology/Cosmological run is 1";

/// A sentence on what redshift and h of a header say about comoving values, or nothing. An h of 0 was not
/// set.
std::string comoving_signs(double redshift, double time, double hubble);

/// The paths of a set of `files` files of which `path` is one: its last number between dots counts them.
std::vector<std::string> files_of_set(const std::string& path, int files);

// The formats; each returns nothing if the file is of another kind.
std::unique_ptr<SnapshotFile> open_gadget_hdf5(const std::string& path, std::span<const FileField> fields);
std::unique_ptr<SnapshotFile> open_gadget_binary(const std::string& path, std::span<const FileField> fields);
std::unique_ptr<SnapshotFile> open_tipsy(const std::string& path, std::span<const FileField> fields);

/// Opens and reads as probe_hdf5() promises. before_reading: takes the bytes of other files that datasets are
/// mapped to.
void try_gadget_hdf5(const std::string& path,
                     const std::function<void(std::uintmax_t mapped)>& before_reading);

}  // namespace grove
