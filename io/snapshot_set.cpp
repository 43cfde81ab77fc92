#include "io/snapshot_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "io/checksum_trailer.hpp"
#include "io/hdf5.hpp"
#include "io/probe.hpp"

namespace grove {
namespace {

/// The master's findings: the files of the set, and the counts of each by type.
struct Layout {
  std::vector<std::string> files;
  std::vector<std::array<Count, particle_types>> counts;
  bool has_gas = true;  ///< no file has particles of type 0 without internal energies
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
                                       const std::function<void()>& pause, bool& all_have_checksums) {
  all_have_checksums = check_before_opening(comm, {&path, 1}, pause);
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
  if (!check_before_opening(comm, others, pause)) all_have_checksums = false;
  return files;
}

/// Opens every file of the set in turn and checks that they belong together; by the master alone.
Layout layout_of(const std::string& path, std::vector<std::string> files, FileHeader& first) {
  Layout layout;
  first = open_snapshot_file(path)->header();
  layout.files = std::move(files);
  std::array<bool, particle_types> known{};
  for (std::size_t f = 0; f < layout.files.size(); ++f) {
    const std::unique_ptr<SnapshotFile> file = open_snapshot_file(layout.files[f]);
    const FileHeader& header = file->header();
    if (header.files != first.files || header.total != first.total)
      throw InputError(fmt::format("{}: not of the same set as {}: number of files or total counts differ",
                                   layout.files[f], path));
    merge_mass_table(header, known, first.mass_table, layout.files[f]);
    layout.counts.push_back(header.counts);
    for (const StoredFieldInfo& field : header.fields) add_new(first.fields, field);
    first.has_ids = first.has_ids && header.has_ids;
    first.by_grove = first.by_grove || header.by_grove;
    layout.has_gas = layout.has_gas &&
                     (header.counts[gas_type] == 0 || file->has(gas_type, fields::internal_energy.info.name));
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
  header.has_gas =
      layout.has_gas && first.total[gas_type] > 0 && (!has_temperatures(first.format) || options.gas);
  header.leaf_size = first.leaf_size;
  header.by_grove = first.by_grove;
  header.comoving = first.comoving;
  header.h = first.h;
  header.omega_matter = first.omega_matter;
  header.omega_lambda = first.omega_lambda;
  header.fields = first.fields;
  return header;
}

/// The parts of a SnapshotHeader that are plain numbers, to send them at once.
struct WireHeader {
  SnapshotFormat format;
  bool byte_swapped, has_units, has_ids, has_gas, is_periodic, by_grove;
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
                  header.has_gas,
                  header.is_periodic,
                  header.by_grove,
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
  header.by_grove = wire.by_grove;
  if (wire.has_units) header.file_units = wire.file_units;
  header.units = wire.units;
  header.has_ids = wire.has_ids;
  header.has_gas = wire.has_gas;
  header.leaf_size = wire.leaf_size;

  const std::size_t files = comm.broadcast(layout.files.size());
  layout.files.resize(files);
  for (std::string& file : layout.files) file = comm.broadcast(file);
  const std::span<const std::array<Count, particle_types>> counts(layout.counts);
  layout.counts = comm.all_gather_arrays(comm.is_master() ? counts : counts.first(0));
  header.files = layout.files;
  header.file_counts = layout.counts;
}

}  // namespace

Count SnapshotHeader::count() const { return sum(counts); }

bool SnapshotHeader::is_over_h() const { return !comoving.empty() && comoving != swift_is_comoving; }

bool check_before_opening(const Communicator& comm, std::span<const std::string> paths,
                          const std::function<void()>& pause) {
  std::vector<std::string> others;
  for (const std::string& path : paths)
    if (!has_right_checksum(comm, path, pause)) others.push_back(path);
  comm.together([&] {
    const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
    for (std::size_t file = rank; file < others.size(); file += ranks)
      if (hdf5::is_hdf5(others[file])) probe_hdf5(others[file]);
  });
  return others.empty();
}

/// Files say 0 where they do not say it. Parameter files and headers have three digits or more.
void require_same(double stated, double of_run, const char* name, const char* key, const std::string& path) {
  if (stated != 0 && std::abs(stated - of_run) > 1e-3)
    throw InputError(
        fmt::format("{}: {} is {}, but the run has cosmology.{} {}: its particles are of another universe",
                    path, name, stated, key, of_run));
}

/// In a run whose space expands, with the h of the run.
void require_comoving(const FileHeader& first, const ReadOptions& options, const std::string& path) {
  const double h = *options.h;
  if (first.comoving.empty())
    throw InputError(fmt::format(
        "{}: is not comoving (Redshift 0, HubbleParam 1), but the run has a section cosmology", path));
  // Parameter files and headers have h in four digits or more.
  const bool has_h = first.h != 0 && first.comoving != swift_is_comoving;  // in its units
  if (has_h && std::abs(first.h / h - 1) > 1e-4)
    throw InputError(
        fmt::format("{}: HubbleParam is {}, but the run has cosmology.h {}: its units contain another h",
                    path, first.h, h));
  if (!options.cosmology) return;
  require_same(first.omega_matter, options.cosmology->omega_matter, "Omega0", "omega_matter", path);
  require_same(first.omega_lambda, options.cosmology->omega_lambda, "OmegaLambda", "omega_lambda", path);
}

void require_space_of_run(const FileHeader& file, const ReadOptions& options, const std::string& path) {
  if (options.h)
    require_comoving(file, options, path);
  else if (!options.comoving && !file.comoving.empty())
    throw InputError(fmt::format(
        "{}: {}; but for runs with a section cosmology, and what takes files as comoving (info, render, "
        "power, fof, force; grove.load with comoving=True), Grove needs physical positions, velocities and "
        "units without h: Redshift 0, HubbleParam 1, ComovingIntegrationOn 0",
        path, file.comoving));
}

SnapshotHeader open_set(const Communicator& comm, const std::string& path, const ReadOptions& options) {
  SnapshotHeader header;
  Layout layout;
  bool has_checksum = false;
  std::vector<std::string> files = checked_files(comm, path, options.pause, has_checksum);
  comm.together([&] {
    if (!comm.is_master()) return;
    FileHeader first;
    layout = layout_of(path, std::move(files), first);
    require_space_of_run(first, options, path);
    header = header_of(first, layout, options);
    if (header.has_gas && has_temperatures(header.format) && header.units.is_dimensionless())
      throw InputError(fmt::format(
          "{}: holds gas with temperatures in K, which need physical units: give units.system: galactic, or "
          "leave initial_conditions.molecular_weight out to have it move by gravity alone",
          path));
  });
  header.has_checksum = has_checksum;
  share(comm, header, layout);
  return header;
}

}  // namespace grove
