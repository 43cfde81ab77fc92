#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/errors.hpp"
#include "base/memory.hpp"
#include "base/shares.hpp"
#include "io/hdf5.hpp"
#include "io/probe.hpp"
#include "io/snapshot.hpp"
#include "io/snapshot_file.hpp"
#include "io/snapshot_set.hpp"

namespace grove {
namespace {

/// Reads this rank's share of the particles; particles of one type after the other.
class ShareReader {
 public:
  ShareReader(const SnapshotHeader& header, const ReadOptions& options, int rank, int ranks)
      : header_(header), gas_(options.gas), sample_(header.counts), rank_(rank), ranks_(ranks) {
    const double share = options.share;
    for (Count& count : sample_)
      if (share < 1 && count > 0)
        count = std::max<Count>(1, std::llround(share * static_cast<double>(count)));
  }

  /// Makes room for the share. read_part() fills what files have; all other fields are 0.
  void prepare() {
    Count mine = 0;
    for (std::size_t t = 0; t < header_.counts.size(); ++t) mine += end(t) - begin(t);
    make_room(mine);
    for (std::size_t t = 0; t < header_.counts.size(); ++t) list_parts(t);
  }
  Count parts() const { return static_cast<Count>(parts_.size()); }
  /// In order; beyond the last one nothing happens.
  void read_part(Count number) {
    if (number < parts()) read(parts_[static_cast<std::size_t>(number)]);
  }
  Particles take() { return std::move(particles_); }

 private:
  /// This rank's share of those of a type that are read.
  Count begin(std::size_t type) const { return share_begin(sample_[type], rank_, ranks_); }
  Count end(std::size_t type) const { return share_begin(sample_[type], rank_ + 1, ranks_); }

  /// A header, damaged or not, may ask for anything; the kernel ends a process that takes more than there is.
  void make_room(Count count) {
    const double bytes = static_cast<double>(bytes_of_fields(header_.has_gas)) * static_cast<double>(count);
    const double room = available_memory();
    try {
      if (room > 0 && bytes > room) throw std::bad_alloc();
      if (header_.has_gas) particles_.hold_gas();
      particles_.reset(static_cast<std::size_t>(count));
    } catch (const std::exception&) {
      throw InputError(
          fmt::format("{}: a rank has no memory for its share, {} of {} particles; use more ranks or nodes",
                      header_.files[0], count, header_.count()));
    }
  }

  /// Particles [first, first + count) of a type in a file.
  struct Part {
    std::size_t file, type;
    Count first, count;
  };
  /// Particles of a rank that are read at once: a second or so of a slow disk.
  static constexpr Count most_at_once = Count{1} << 21;
  static constexpr Count sample_runs = 256;  ///< of neighbours, of each type

  void list_parts(std::size_t type) {
    const Count all = header_.counts[type], read = sample_[type];
    const Count runs = read == all ? 1 : std::min(read, sample_runs);
    for (Count run = 0; run < runs; ++run) {
      const Count first = share_begin(read, run, runs), last = share_begin(read, run + 1, runs);
      const Count from = std::max(first, begin(type)), to = std::min(last, end(type));
      const Count skipped = share_begin(all, run, runs) - first;
      if (from < to) list_parts(type, from + skipped, to + skipped);
    }
  }

  /// Adds the parts of particles [first, last) of a type.
  void list_parts(std::size_t type, Count first, Count last) {
    Count before = 0;  // particles of this type in earlier files
    for (std::size_t f = 0; f < header_.files.size(); ++f) {
      const Count in_file = header_.file_counts[f][type], to = std::min(last - before, in_file);
      for (Count from = std::max<Count>(first - before, 0); from < to; from += most_at_once)
        parts_.push_back({f, type, from, std::min(most_at_once, to - from)});
      before += in_file;
    }
  }

  void read(const Part& part) {
    if (!file_ || open_index_ != part.file) {
      file_ = open_snapshot_file(header_.files[part.file]);
      open_index_ = part.file;
    }
    const auto [file, type, first, count] = part;
    const int t = static_cast<int>(type);
    read_fields(*file_, t, first, count, particles_, filled_, [](auto&& visit) { for_each_field(visit); });
    const auto at = static_cast<std::ptrdiff_t>(filled_);
    if (const double mass = header_.mass_table[type]; mass != 0)
      std::fill_n(particles_.mass.begin() + at, count, mass);
    if (const Count all = header_.counts[type], some = sample_[type]; some < all)
      for (Count i = 0; i < count; ++i)
        particles_.mass[filled_ + static_cast<std::size_t>(i)] *=
            static_cast<double>(all) / static_cast<double>(some);
    std::fill_n(particles_.type.begin() + at, count, static_cast<std::uint8_t>(type));
    if (type == gas_type && header_.has_gas && has_temperatures(header_.format)) heat(part);
    if (!header_.has_ids) number(part);
    filled_ += static_cast<std::size_t>(count);
  }

  /// Temperatures become internal energies, in units of the file.
  void heat(const Part& part) {
    const double by = gas_->energy_per_kelvin() / header_.units.cgs(dimension::potential);
    for (Count i = 0; i < part.count; ++i)
      particles_.internal_energy[filled_ + static_cast<std::size_t>(i)] *= by;
  }

  /// Ids in the order of the files.
  void number(const Part& part) {
    const auto by_type = static_cast<std::ptrdiff_t>(part.type);
    Count id = std::accumulate(header_.counts.begin(), header_.counts.begin() + by_type, part.first + 1);
    for (std::size_t f = 0; f < part.file; ++f) id += header_.file_counts[f][part.type];
    std::iota(particles_.id.begin() + static_cast<std::ptrdiff_t>(filled_),
              particles_.id.begin() + static_cast<std::ptrdiff_t>(filled_) + part.count,
              static_cast<ParticleId>(id));
  }

  const SnapshotHeader& header_;
  std::optional<IdealGas> gas_;
  std::array<Count, particle_types> sample_;  ///< particles to read
  int rank_, ranks_;
  Particles particles_;
  std::vector<Part> parts_;
  std::size_t filled_ = 0;
  std::unique_ptr<SnapshotFile> file_;
  std::size_t open_index_ = 0;
};

/// Takes h out of the units of a comoving file, makes velocities canonical momenta, and internal energies
/// those of a run.
void make_canonical(Snapshot& snapshot, double h, double energy_power, bool is_of_swift) {
  SnapshotHeader& header = snapshot.header;
  const double a = scale_factor_of(header.redshift);
  if (!is_of_swift) header.units = over_h(header.units, h);
  const double by = is_of_swift ? momentum_over_swift(a) : momentum_over_gadget(a);
  for (Vec3d& velocity : snapshot.particles.velocity) velocity *= by;
  const double heat = std::pow(a, energy_power);
  for (double& energy : snapshot.particles.internal_energy) energy *= heat;
}

void convert(Snapshot& snapshot, const Units& to, const std::string& path) {
  const Units& from = snapshot.header.units;
  if (from == to) return;
  if (from.is_dimensionless() != to.is_dimensionless())
    throw InputError(fmt::format("{}: its units are {}, those of the run {}; give units.system: {}", path,
                                 from.is_dimensionless() ? "dimensionless (G = 1)" : "physical",
                                 to.is_dimensionless() ? "dimensionless (G = 1)" : "physical",
                                 from.is_dimensionless() ? "none" : "galactic"));
  const auto factor = [&](const Dimension& d) { return from.cgs(d) / to.cgs(d); };
  for_each_field([&](const auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    // Files are read in double precision; fields in single precision are results, and still 0.
    if constexpr (std::is_same_v<T, Vec3d> || std::is_same_v<T, double>) {
      const double by = factor(field.info.dimension);
      for (T& value : snapshot.particles.*field.array) value *= by;
    }
  });
  for (double& m : snapshot.header.mass_table) m *= factor(dimension::mass);
  snapshot.header.box_size *= factor(dimension::length);
  snapshot.header.time *= factor(dimension::time);
  snapshot.header.units = to;
}

/// As the options have it. is_of_swift: one of SWIFT's comoving files.
void convert(Snapshot& snapshot, const ReadOptions& options, bool is_of_swift, const std::string& path) {
  if (options.h) make_canonical(snapshot, *options.h, options.energy_power, is_of_swift);
  if (options.convert_to) convert(snapshot, *options.convert_to, path);
  if (options.h) snapshot.header.time = scale_factor_of(snapshot.header.redshift);
}

bool is_of_swift(const Communicator& comm, const SnapshotHeader& header) {
  return comm.broadcast(header.comoving == swift_is_comoving ? 1 : 0) != 0;
}

}  // namespace

SnapshotHeader read_snapshot_header(const Communicator& comm, const std::string& path,
                                    const ReadOptions& options) {
  Snapshot snapshot;
  snapshot.header = open_set(comm, path, options);
  const bool swift = is_of_swift(comm, snapshot.header);
  comm.together([&] { convert(snapshot, options, swift, path); });
  return snapshot.header;
}

Vec3d stated_box(const std::string& path, const ReadOptions& options) {
  require_file(path);
  if (hdf5::is_hdf5(path)) probe_hdf5_header(path);
  const FileHeader file = open_snapshot_file(path, {})->header();
  require_space_of_run(file, options, path);
  Snapshot snapshot;
  snapshot.header.box_size = file.box_size;
  snapshot.header.redshift = file.redshift;
  snapshot.header.units = file.units.value_or(options.unstated);
  convert(snapshot, options, file.comoving == swift_is_comoving, path);
  return snapshot.header.box_size;
}

Snapshot read_snapshot(const Communicator& comm, const std::string& path, const ReadOptions& options) {
  Snapshot snapshot;
  snapshot.header = open_set(comm, path, options);
  const bool swift = is_of_swift(comm, snapshot.header);
  if (options.before_particles) {
    Snapshot told{snapshot.header, {}};
    comm.together([&] { convert(told, options, swift, path); });
    options.before_particles(told.header);
  }
  ShareReader reader(snapshot.header, options, comm.rank(), comm.size());
  comm.together([&] { reader.prepare(); });
  const Count parts = comm.max(reader.parts());
  for (Count part = 0; part < parts; ++part) {
    comm.together([&] { reader.read_part(part); });
    if (options.pause) options.pause();
  }
  snapshot.particles = reader.take();
  comm.together([&] { convert(snapshot, options, swift, path); });
  return snapshot;
}

}  // namespace grove
