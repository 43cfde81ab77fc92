#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <new>
#include <numeric>
#include <tuple>
#include <type_traits>

#include "base/errors.hpp"
#include "base/memory.hpp"
#include "io/checksum_trailer.hpp"
#include "io/hdf5.hpp"
#include "io/probe.hpp"
#include "io/shares.hpp"
#include "io/snapshot.hpp"
#include "io/snapshot_file.hpp"

namespace grove {
namespace {

/// Counts by type of every file of the set, and where each file's particles begin within their type.
struct Layout {
  std::vector<std::string> files;
  std::vector<std::array<Count, particle_types>> counts;
};

Count sum(const std::array<Count, particle_types>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Count{0});
}

void add_new(std::vector<StoredFieldInfo>& fields, const StoredFieldInfo& field) {
  const auto same = [&](const StoredFieldInfo& known) {
    return known.type == field.type && known.name == field.name;
  };
  if (std::none_of(fields.begin(), fields.end(), same)) fields.push_back(field);
}

/// Takes the mass table's entries of the types that this file has; those must agree over the set.
void merge_mass_table(const FileHeader& file, std::array<bool, particle_types>& known,
                      std::array<double, particle_types>& masses, const std::string& path) {
  for (std::size_t t = 0; t < masses.size(); ++t) {
    if (file.counts[t] == 0) continue;
    if (known[t] && file.mass_table[t] != masses[t])
      throw InputError(
          fmt::format("{}: mass of particles of type {} in the mass table is {}, in earlier files of the "
                      "set {}",
                      path, t, file.mass_table[t], masses[t]));
    known[t] = true;
    masses[t] = file.mass_table[t];
  }
}

/// The paths of the set that a file belongs to. Every file is checked before it is opened;
/// all_have_checksums: whether that was by checksums. Collective.
std::vector<std::string> checked_files(const Communicator& comm, const std::string& path,
                                       bool& all_have_checksums) {
  all_have_checksums = check_before_opening(comm, {&path, 1});
  int count = 1;
  comm.together([&] {
    if (comm.is_master()) count = open_snapshot_file(path)->header().files;
  });
  count = comm.broadcast(count);
  std::vector<std::string> files;
  comm.together([&] {
    files = files_of_set(path, count);
    if (!comm.is_master()) return;
    for (const std::string& file : files) require_file(file);
  });
  std::vector<std::string> others = files;
  std::erase(others, path);
  if (!check_before_opening(comm, others)) all_have_checksums = false;
  return files;
}

/// Opens every file of the set in turn and checks that they belong together; by the master alone.
Layout layout_of(const std::string& path, std::vector<std::string> files, FileHeader& first) {
  Layout layout;
  first = open_snapshot_file(path)->header();
  layout.files = std::move(files);
  std::array<bool, particle_types> known{};
  for (std::size_t f = 0; f < layout.files.size(); ++f) {
    const FileHeader header = open_snapshot_file(layout.files[f])->header();
    if (header.files != first.files || header.total != first.total)
      throw InputError(fmt::format("{}: not of the same set as {}: number of files or total counts differ",
                                   layout.files[f], path));
    merge_mass_table(header, known, first.mass_table, layout.files[f]);
    layout.counts.push_back(header.counts);
    for (const StoredFieldInfo& field : header.fields) add_new(first.fields, field);
    first.has_ids = first.has_ids && header.has_ids;
  }
  std::array<Count, particle_types> found{};
  for (const auto& counts : layout.counts)
    for (std::size_t t = 0; t < found.size(); ++t) found[t] += counts[t];
  if (found != first.total)
    throw InputError(fmt::format("{}: the files hold [{}] particles by type, but the header says [{}] in all",
                                 path, fmt::join(found, ", "), fmt::join(first.total, ", ")));
  if (sum(found) == 0) throw InputError(path + ": holds no particles");
  for (const auto& [name, value] : {std::pair{"time", first.time}, std::pair{"redshift", first.redshift}})
    if (!std::isfinite(value))
      throw InputError(fmt::format("{}: its header says {} {}; expected a finite number", path, name, value));
  return layout;
}

SnapshotHeader header_of(const FileHeader& first, const Layout& layout, const ReadOptions& options) {
  SnapshotHeader header;
  header.format = first.format;
  header.byte_swapped = first.byte_swapped;
  header.files = layout.files;
  header.counts = first.total;
  header.mass_table = first.mass_table;
  header.time = first.time;
  header.redshift = first.redshift;
  header.box_size = first.box_size;
  header.is_periodic = first.is_periodic;
  header.file_units = first.units;
  header.units = first.units.value_or(options.unstated);
  header.has_ids = first.has_ids;
  header.leaf_size = first.leaf_size;
  header.comoving = first.comoving;
  header.fields = first.fields;
  return header;
}

/// The parts of a SnapshotHeader that are plain numbers, to send them at once.
struct WireHeader {
  SnapshotFormat format;
  bool byte_swapped, has_units, has_ids, is_periodic;
  std::array<Count, particle_types> counts;
  std::array<double, particle_types> mass_table;
  double time, redshift;
  Vec3d box_size;
  Units file_units, units;
  Count leaf_size;
};
static_assert(std::is_trivially_copyable_v<WireHeader>);

/// The master's header and layout, everywhere.
void share(const Communicator& comm, SnapshotHeader& header, Layout& layout) {
  WireHeader wire{header.format,
                  header.byte_swapped,
                  header.file_units.has_value(),
                  header.has_ids,
                  header.is_periodic,
                  header.counts,
                  header.mass_table,
                  header.time,
                  header.redshift,
                  header.box_size,
                  header.file_units.value_or(Units{}),
                  header.units,
                  header.leaf_size};
  wire = comm.broadcast(wire);
  header.format = wire.format;
  header.byte_swapped = wire.byte_swapped;
  header.counts = wire.counts;
  header.mass_table = wire.mass_table;
  header.time = wire.time;
  header.redshift = wire.redshift;
  header.box_size = wire.box_size;
  header.is_periodic = wire.is_periodic;
  if (wire.has_units) header.file_units = wire.file_units;
  header.units = wire.units;
  header.has_ids = wire.has_ids;
  header.leaf_size = wire.leaf_size;

  const std::size_t files = comm.broadcast(layout.files.size());
  layout.files.resize(files);
  for (std::string& file : layout.files) file = comm.broadcast(file);
  const std::span<const std::array<Count, particle_types>> counts(layout.counts);
  layout.counts = comm.all_gather_arrays(comm.is_master() ? counts : counts.first(0));
  header.files = layout.files;
  header.file_counts = layout.counts;
}

/// Checks the files, and what their headers say. Collective; the same on every rank.
std::pair<SnapshotHeader, Layout> open_set(const Communicator& comm, const std::string& path,
                                           const ReadOptions& options) {
  SnapshotHeader header;
  Layout layout;
  bool has_checksum = false;
  std::vector<std::string> files = checked_files(comm, path, has_checksum);
  comm.together([&] {
    if (!comm.is_master()) return;
    FileHeader first;
    layout = layout_of(path, std::move(files), first);
    if (!options.comoving && !first.comoving.empty())
      throw InputError(
          fmt::format("{}: {}; Grove needs physical positions, velocities and units without h: Redshift "
                      "0, HubbleParam 1, ComovingIntegrationOn 0",
                      path, first.comoving));
    header = header_of(first, layout, options);
  });
  header.has_checksum = has_checksum;
  share(comm, header, layout);
  return {header, layout};
}

/// Reads this rank's share of the particles; particles of one type after the other.
class ShareReader {
 public:
  ShareReader(const SnapshotHeader& header, const Layout& layout, int rank, int ranks)
      : header_(header), layout_(layout), rank_(rank), ranks_(ranks) {}

  Particles read() {
    Count mine = 0;
    for (std::size_t t = 0; t < header_.counts.size(); ++t) mine += end(t) - begin(t);
    make_room(mine);
    for (std::size_t t = 0; t < header_.counts.size(); ++t) read_type(t);
    std::fill(particles_.acceleration.begin(), particles_.acceleration.end(), Vec3f{0, 0, 0});
    std::fill(particles_.potential.begin(), particles_.potential.end(), 0.0f);
    std::fill(particles_.old_acceleration.begin(), particles_.old_acceleration.end(), 0.0f);
    std::fill(particles_.work.begin(), particles_.work.end(), 0u);
    std::fill(particles_.level.begin(), particles_.level.end(), std::uint8_t{0});
    std::fill(particles_.previous_acceleration.begin(), particles_.previous_acceleration.end(),
              Vec3f{0, 0, 0});
    return std::move(particles_);
  }

 private:
  Count begin(std::size_t type) const { return share_begin(header_.counts[type], rank_, ranks_); }
  Count end(std::size_t type) const { return share_begin(header_.counts[type], rank_ + 1, ranks_); }

  /// A header, damaged or not, may ask for anything; the kernel ends a process that takes more than there is.
  void make_room(Count count) {
    double bytes = 0;
    for_each_field([&](const auto& field) {
      bytes += sizeof(typename std::decay_t<decltype(field)>::Value) * static_cast<double>(count);
    });
    const double room = available_memory();
    try {
      if (room > 0 && bytes > room) throw std::bad_alloc();
      particles_.resize(static_cast<std::size_t>(count));
    } catch (const std::exception&) {
      throw InputError(
          fmt::format("{}: a rank has no memory for its share, {} of {} particles; use more ranks or nodes",
                      layout_.files[0], count, header_.count()));
    }
  }

  void read_type(std::size_t type) {
    const Count first = begin(type), last = end(type);
    Count before = 0;  // particles of this type in earlier files
    for (std::size_t f = 0; f < layout_.files.size(); ++f) {
      const Count from = std::max(first, before), to = std::min(last, before + layout_.counts[f][type]);
      if (from < to) read_part(f, type, from - before, to - from);
      before += layout_.counts[f][type];
    }
    if (!header_.has_ids) {
      const Count earlier = std::accumulate(
          header_.counts.begin(), header_.counts.begin() + static_cast<std::ptrdiff_t>(type), Count{0});
      const std::size_t start = filled_ - static_cast<std::size_t>(last - first);
      for (Count i = 0; i < last - first; ++i)
        particles_.id[start + static_cast<std::size_t>(i)] = static_cast<ParticleId>(earlier + first + i + 1);
    }
  }

  void read_part(std::size_t file_index, std::size_t type, Count first, Count count) {
    if (!file_ || open_index_ != file_index) {
      file_ = open_snapshot_file(layout_.files[file_index]);
      open_index_ = file_index;
    }
    const int t = static_cast<int>(type);
    static_assert(sizeof(Vec3d) == 3 * sizeof(double));
    file_->read(t, Property::position, first, count, &particles_.position[filled_].x);
    file_->read(t, Property::velocity, first, count, &particles_.velocity[filled_].x);
    const auto at = static_cast<std::ptrdiff_t>(filled_);
    if (const double mass = header_.mass_table[type]; mass != 0)
      std::fill_n(particles_.mass.begin() + at, count, mass);
    else
      file_->read(t, Property::mass, first, count, &particles_.mass[filled_]);
    if (header_.has_ids) file_->read_ids(t, first, count, &particles_.id[filled_]);
    std::fill_n(particles_.type.begin() + at, count, static_cast<std::uint8_t>(type));
    filled_ += static_cast<std::size_t>(count);
  }

  const SnapshotHeader& header_;
  const Layout& layout_;
  int rank_, ranks_;
  Particles particles_;
  std::size_t filled_ = 0;
  std::unique_ptr<SnapshotFile> file_;
  std::size_t open_index_ = 0;
};

void convert(Snapshot& snapshot, const Units& to, const std::string& path) {
  const Units& from = snapshot.header.units;
  if (from == to) return;
  if (from.is_dimensionless() != to.is_dimensionless())
    throw InputError(fmt::format("{}: its units are {}, those of the run {}; give units.system: {}", path,
                                 from.is_dimensionless() ? "dimensionless (G = 1)" : "physical",
                                 to.is_dimensionless() ? "dimensionless (G = 1)" : "physical",
                                 from.is_dimensionless() ? "none" : "galactic"));
  const auto factor = [&](const Dimension& d) { return from.cgs(d) / to.cgs(d); };
  const double length = factor(dimension::length), velocity = factor(dimension::velocity),
               mass = factor(dimension::mass);
  Particles& particles = snapshot.particles;
  for (Vec3d& x : particles.position) x *= length;
  for (Vec3d& v : particles.velocity) v *= velocity;
  for (double& m : particles.mass) m *= mass;
  for (double& m : snapshot.header.mass_table) m *= mass;
  snapshot.header.box_size *= length;
  snapshot.header.time *= factor(dimension::time);
  snapshot.header.units = to;
}

}  // namespace

std::string name_of(SnapshotFormat format) {
  switch (format) {
    case SnapshotFormat::hdf5:
      return "GADGET HDF5";
    case SnapshotFormat::gadget1:
      return "GADGET binary, format 1";
    case SnapshotFormat::gadget2:
      return "GADGET binary, format 2";
    default:
      return "tipsy";
  }
}

Count SnapshotHeader::count() const { return sum(counts); }

void require_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw InputError(path + ": no such file");
  if (std::filesystem::is_directory(path, error))
    throw InputError(path + ": is a folder; expected a snapshot");
}

std::unique_ptr<SnapshotFile> open_snapshot_file(const std::string& path) {
  require_file(path);
  for (const auto open : {open_gadget_hdf5, open_gadget_binary, open_tipsy})
    if (auto file = open(path)) return file;
  throw InputError(
      path +
      ": not a snapshot; known are HDF5 in GADGET's layout, GADGET binary (formats 1 and 2) and tipsy");
}

bool check_before_opening(const Communicator& comm, std::span<const std::string> paths) {
  std::vector<std::string> others;
  for (const std::string& path : paths)
    if (!has_right_checksum(comm, path)) others.push_back(path);
  comm.together([&] {
    const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
    for (std::size_t file = rank; file < others.size(); file += ranks)
      if (hdf5::is_hdf5(others[file])) probe_hdf5(others[file]);
  });
  return others.empty();
}

int number_of_files(std::int64_t stated, const std::string& path) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  if (stated > most)
    throw InputError(
        fmt::format("{}: its header says that the set has {} files; expected 1 to {}", path, stated, most));
  return static_cast<int>(std::max<std::int64_t>(1, stated));
}

std::string comoving_signs(double redshift, double time, double hubble) {
  if (redshift != 0) {
    const bool is_scale_factor = std::abs(time * (1 + redshift) - 1) < 1e-3;
    return fmt::format("Header/Redshift is {}{}", redshift,
                       is_scale_factor ? fmt::format(" and Header/Time, {}, is the scale factor", time) : "");
  }
  if (hubble != 0 && hubble != 1) return fmt::format("HubbleParam is {}, so its units contain h", hubble);
  return "";
}

std::vector<std::string> files_of_set(const std::string& path, int files) {
  if (files <= 1) return {path};
  const std::size_t name = path.find_last_of('/') + 1;
  // The last part between dots that is a number: "snap_010.3.hdf5", "snap_010.3".
  std::size_t end = path.size();
  while (end > name) {
    const std::size_t dot = path.find_last_of('.', end - 1);
    if (dot == std::string::npos || dot < name) break;
    const std::string part = path.substr(dot + 1, end - dot - 1);
    if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos) {
      std::vector<std::string> set;
      for (int f = 0; f < files; ++f)
        set.push_back(fmt::format("{}.{}{}", path.substr(0, dot), f, path.substr(end)));
      return set;
    }
    end = dot;
  }
  throw InputError(fmt::format(
      "{}: one of a set of {} files; its name should hold its number, like name.0.hdf5", path, files));
}

SnapshotHeader read_snapshot_header(const Communicator& comm, const std::string& path,
                                    const ReadOptions& options) {
  Snapshot snapshot;
  snapshot.header = open_set(comm, path, options).first;
  comm.together([&] {
    if (options.convert_to) convert(snapshot, *options.convert_to, path);
  });
  return snapshot.header;
}

Snapshot read_snapshot(const Communicator& comm, const std::string& path, const ReadOptions& options) {
  Snapshot snapshot;
  Layout layout;
  std::tie(snapshot.header, layout) = open_set(comm, path, options);
  comm.together([&] {
    snapshot.particles = ShareReader(snapshot.header, layout, comm.rank(), comm.size()).read();
    if (options.convert_to) convert(snapshot, *options.convert_to, path);
  });
  return snapshot;
}

}  // namespace grove
