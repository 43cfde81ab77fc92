#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "base/units.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "io/comoving.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Kinds of files that hold particles; recognised by their content.
enum class SnapshotFormat : std::uint8_t { hdf5, gadget1, gadget2, tipsy };

/// "GADGET HDF5", "GADGET binary, format 1", ...
std::string name_of(SnapshotFormat format);

/// True if gas in files of this format has temperatures in K in place of internal energies.
constexpr bool has_temperatures(SnapshotFormat format) { return format == SnapshotFormat::tipsy; }

/// Gas as it is taken from files that have temperatures.
struct IdealGas {
  double molecular_weight = 1;       ///< mean mass of its particles, over that of a proton
  double adiabatic_index = 5.0 / 3;  ///< gamma

  /// Internal energy per mass at 1 K, (cm/s)^2: k / ((gamma - 1) mu m_p), constants of CODATA 2018.
  double energy_per_kelvin() const {
    constexpr double boltzmann = 1.380649e-16, proton_mass = 1.67262192369e-24;  // erg/K, g
    return boltzmann / ((adiabatic_index - 1) * molecular_weight * proton_mass);
  }
};

/// Something that a file stores for the particles of one type.
struct StoredFieldInfo {
  int type = 0;
  std::string name;
  std::string number;  ///< "float64", "uint32", ...
};

/// All that a snapshot says besides its particles; the same on every rank.
struct SnapshotHeader {
  SnapshotFormat format = SnapshotFormat::hdf5;
  bool byte_swapped = false;                                   ///< its byte order is not this machine's
  std::vector<std::string> files;                              ///< paths, in the order of their particles
  std::array<Count, particle_types> counts{};                  ///< particles by type, over all files
  std::vector<std::array<Count, particle_types>> file_counts;  ///< and in each file
  std::array<double, particle_types> mass_table{};  ///< mass of each particle of a type; 0: see its masses
  double time = 0;                                  ///< unit of time (see units)
  double redshift = 0;
  Vec3d box_size{};                     ///< edges of the box, from 0, length; 0: open
  bool is_periodic = false;             ///< the file says so of its box
  std::optional<Units> file_units;      ///< what the file states; unset: it states none
  Units units = Units::galactic();      ///< of the particles and the time as they were read
  bool has_ids = true;                  ///< else ids are 1, 2, ... in file order
  bool has_gas = false;                 ///< there are particles of type 0, all with internal energies
  std::vector<StoredFieldInfo> fields;  ///< what the files store; on the master only
  Count leaf_size = 0;                  ///< of the decomposition that was in force; 0: not recorded
  bool by_grove = false;                ///< Grove has written a file of the set, as its groups say
  bool has_checksum = false;            ///< every file of the set has one, and it was right
  /// The entry that says that positions, velocities or units are comoving or scaled by h; empty: none does.
  /// On the master only.
  std::string comoving;
  double h =
      0;  ///< the Hubble constant over 100 km/s/Mpc, as files say it; 0: they do not. On the master only.
  double omega_matter = 0, omega_lambda = 0;  ///< as files say them; 0: they do not. On the master only.

  Count count() const;
  /// True if lengths and masses of the file are comoving and over h, as GADGET's are; SWIFT's have no h. On
  /// the master only.
  bool is_over_h() const;
};

struct Snapshot {
  SnapshotHeader header;
  Particles particles;
};

struct ReadOptions {
  Units unstated = Units::galactic();  ///< units of files that state none
  std::optional<Units> convert_to{};   ///< units to convert particles and time to; unset: left as they are
  bool comoving = false;               ///< take comoving values too, as they stand; else they are refused
  /// h of a run in expanding space: files must be comoving, and as convert_to has units, values become those
  /// of the run (io/comoving.hpp); `time` is the scale factor.
  std::optional<double> h{};
  /// With h: the rest of what the run has, which files must not contradict. Unset: it is not compared.
  std::optional<Cosmology> cosmology{};
  /// With which temperatures become internal energies; unset: gas of files that have temperatures has none.
  std::optional<IdealGas> gas{};
  double energy_power = 2;  ///< with h: ComovingTime::energy_power
  /// Less than 1: a sample of so many of the particles, runs of neighbours in the files, spread evenly over
  /// those of each type, with the mass of all.
  double share = 1;
  /// Called by all ranks together with the header, converted, before particles are read.
  std::function<void(const SnapshotHeader&)> before_particles{};
  /// Called by all ranks together every second or so of reading; what it throws ends that.
  std::function<void()> pause{};
};

/// Reads a snapshot of any format; `path` is its file, or any file of a set. Each rank gets an equal share of
/// each type, contiguous in file order; accelerations, potentials and work are set to zero. Values are not
/// judged: see validate(). Collective; InputError on all ranks together if the file cannot be used.
///
/// Files without ids get 1, 2, ... in file order: types one after the other, files of a set one after the
/// other within a type. Cost: every rank reads its share alone, in pieces of bounded memory.
Snapshot read_snapshot(const Communicator& comm, const std::string& path, const ReadOptions& options = {});

/// The header alone, of files that are checked and opened as read_snapshot() does. Collective.
SnapshotHeader read_snapshot_header(const Communicator& comm, const std::string& path,
                                    const ReadOptions& options = {});

/// The edges of the box that a file states, as read_snapshot() would have them in its header; 0: open. By
/// this rank alone, which reads the header, of HDF5 behind probe_hdf5_header(). InputError if that cannot be,
/// or if the file is not of the run's space, as read_snapshot() says it.
Vec3d stated_box(const std::string& path, const ReadOptions& options);

/// InputError unless there is a file of this name.
void require_file(const std::string& path);

struct WriteOptions {
  double time = 0;
  Units units = Units::galactic();
  std::vector<std::string> fields{};  ///< datasets to write; empty: the default ones. ParticleIDs always.
  std::uint8_t types = all_types;     ///< bit t set: particles of type t are written
  int files = 1;                      ///< files to divide it into
  Count leaf_size = 0;                ///< of the decomposition in force; 0: not recorded
  double box = 0;  ///< edge of the periodic box from 0 on, into which positions are brought; 0: open
  /// The particles are comoving, with canonical momenta; the file gets what GADGET-4 writes.
  std::optional<ComovingTime> comoving{};
};

/// Writes HDF5 in GADGET-4's layout. Particles of each type stand in the order of their ids, so the file is
/// the same, byte for byte, on any number of ranks. With several files the name "a.hdf5" becomes "a.0.hdf5",
/// "a.1.hdf5", ..., each with an equal share of each type.
///
/// Collective; ids must be unique. Either complete files appear under their names, or InputError is thrown on
/// all ranks and nothing is left. Cost: per type, one sort by id and at most 64 reductions of P counts to
/// divide ids evenly over ranks; per field one exchange and one collective write; memory: three copies of one
/// field of one type.
void write_snapshot(const Communicator& comm, const std::string& path, const Particles& particles,
                    const WriteOptions& options);

/// Datasets of initial conditions, which snapshots are read for; no results.
std::vector<std::string> initial_fields();

/// The fields that write_snapshot() reads.
FieldChoice fields_read(const WriteOptions& options);

/// The bytes that these options write of each particle of a type, one of options.types. has_gas: as
/// Particles has it.
std::int64_t bytes_per_particle(const WriteOptions& options, std::size_t type, bool has_gas);

/// Names of the files that write_snapshot makes.
std::vector<std::string> snapshot_files(const std::string& path, int files);

}  // namespace grove
