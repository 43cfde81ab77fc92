#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "base/units.hpp"
#include "io/snapshot.hpp"

namespace grove {

/// The properties that every format has, if anything.
enum class Property : std::uint8_t { position, velocity, mass, id };

/// Numbers per particle of a property.
constexpr std::size_t components(Property property) {
  return property == Property::position || property == Property::velocity ? 3 : 1;
}

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
  bool by_grove = false;  ///< see SnapshotHeader
  std::string comoving;   ///< see SnapshotHeader
  std::vector<StoredFieldInfo> fields;
};

/// One file of particles, opened by this rank alone. Opening checks that everything the header promises is
/// there; InputError names what is not.
class SnapshotFile {
 public:
  virtual ~SnapshotFile() = default;
  const FileHeader& header() const { return header_; }

  /// Particles [first, first + count) of a type. out: count * components(property) numbers. Masses only where
  /// the mass table has none, ids only if the file has any.
  virtual void read(int type, Property property, Count first, Count count, double* out) = 0;
  virtual void read_ids(int type, Count first, Count count, ParticleId* out) = 0;

 protected:
  FileHeader header_;
};

/// Recognises the format by content. InputError if it is none, or if the file is damaged. HDF5 may crash on
/// files that check_before_opening() has not let pass.
std::unique_ptr<SnapshotFile> open_snapshot_file(const std::string& path);

/// Checks the checksum of each file that has one; HDF5 without one is tried in a child process, each by one
/// rank. Returns whether all have one. Collective; InputError on all ranks together if a file is damaged. A
/// missing file passes. pause: see ReadOptions.
bool check_before_opening(const Communicator& comm, std::span<const std::string> paths,
                          const std::function<void()>& pause = {});

/// A number of files in a set as a header has it; 0 and less, of writers that do not set it, mean one file.
/// InputError if there cannot be so many.
int number_of_files(std::int64_t stated, const std::string& path);

/// A sentence on what redshift and h of a header say about comoving values, or nothing. An h of 0 was not
/// set.
std::string comoving_signs(double redshift, double time, double hubble);

/// The paths of a set of `files` files of which `path` is one: its last number between dots counts them.
std::vector<std::string> files_of_set(const std::string& path, int files);

// The formats; each returns nothing if the file is of another kind.
std::unique_ptr<SnapshotFile> open_gadget_hdf5(const std::string& path);
std::unique_ptr<SnapshotFile> open_gadget_binary(const std::string& path);
std::unique_ptr<SnapshotFile> open_tipsy(const std::string& path);

/// Opens and reads as probe_hdf5() promises. before_reading: takes the bytes of other files that datasets are
/// mapped to.
void try_gadget_hdf5(const std::string& path,
                     const std::function<void(std::uintmax_t mapped)>& before_reading);

}  // namespace grove
