#include "io/snapshot_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/errors.hpp"
#include "io/snapshot.hpp"

namespace grove {

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

void require_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw InputError(path + ": no such file");
  if (std::filesystem::is_directory(path, error))
    throw InputError(path + ": is a folder; expected a snapshot");
}

namespace {

/// Refuses a file whose format has no place for a field that its particles have.
void require_fields(const SnapshotFile& file, std::span<const FileField> fields, const std::string& path) {
  const FileHeader& header = file.header();
  for (const auto& [info, components, is_whole] : fields)
    for (std::size_t t = 0; t < header.counts.size(); ++t) {
      const bool may_lack = info.of_gas || info.name == fields::id.info.name ||
                            (info.name == fields::mass.info.name && header.mass_table[t] != 0);
      if (header.counts[t] > 0 && info.is_of(t) && !may_lack && !file.has(static_cast<int>(t), info.name))
        throw InputError(fmt::format("{}: {} has no {}, which particles of type {} need", path,
                                     name_of(header.format), info.name, t));
    }
}

}  // namespace

std::unique_ptr<SnapshotFile> open_snapshot_file(const std::string& path, std::span<const FileField> fields) {
  require_file(path);
  for (const auto open : {open_gadget_hdf5, open_gadget_binary, open_tipsy})
    if (auto file = open(path, fields)) {
      require_fields(*file, fields, path);
      return file;
    }
  throw InputError(
      path +
      ": not a snapshot; known are HDF5 in GADGET's layout, GADGET binary (formats 1 and 2) and tipsy");
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

}  // namespace grove
