// GADGET's HDF5 layout, for reading.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "io/hdf5.hpp"
#include "io/snapshot_file.hpp"

namespace grove {
namespace {

class GadgetHdf5 final : public SnapshotFile {
 public:
  GadgetHdf5(const std::string& path, std::span<const FileField> fields)
      : path_(path), file_(hdf5::open_file(path)) {
    read_header();
    read_units();
    read_comoving();
    for (int type = 0; type < particle_types; ++type)
      if (header_.counts[static_cast<std::size_t>(type)] > 0) open_type(type, fields);
  }

  bool has(int type, std::string_view field) const override { return datasets_.contains({type, field}); }
  void read(int type, std::string_view field, Count first, Count count, double* out) override {
    read_rows(type, field, H5T_NATIVE_DOUBLE, first, count, out);
  }
  void read(int type, std::string_view field, Count first, Count count, std::uint64_t* out) override {
    read_rows(type, field, H5T_NATIVE_UINT64, first, count, out);
  }

  /// The bytes of other files that datasets are mapped to.
  std::uintmax_t bytes_mapped_to() const {
    std::uintmax_t sum = 0;
    for (const std::string& file : mapped_) {
      std::error_code error;
      const std::uintmax_t bytes = std::filesystem::file_size(file, error);
      if (!error) sum += bytes;
    }
    return sum;
  }

  /// Reads what HDF5 has to search for, which is where damaged files may crash it: all chunks, and what
  /// virtual datasets are mapped to; of datasets that lie in one piece the first and last row.
  void try_out() {
    constexpr Count piece = 1 << 16;
    std::vector<double> rows(3 * static_cast<std::size_t>(piece));
    for (const auto& [key, dataset] : datasets_) {
      const auto [type, field] = key;
      const Count count = header_.counts[static_cast<std::size_t>(type)];
      const bool is_searched = hdf5::is_searched(dataset, path_);
      const hid_t number = hdf5::info(dataset, path_).is_integer ? H5T_NATIVE_UINT64 : H5T_NATIVE_DOUBLE;
      const Count step = is_searched ? piece : std::max<Count>(1, count - 1);
      for (Count first = 0; first < count; first += step)
        read_rows(type, field, number, first, is_searched ? std::min(piece, count - first) : 1, rows.data());
    }
  }

 private:
  template <class T>
  T scalar(hid_t group, const char* name, T otherwise) const {
    const std::vector<T> values = hdf5::read_attribute<T>(group, name, path_);
    return values.empty() ? otherwise : values[0];
  }

  /// An attribute with one value per type. Files of codes with fewer or more types leave the rest out.
  template <class T>
  std::array<T, particle_types> by_type(hid_t group, const char* name) const {
    const std::vector<T> values = hdf5::read_attribute<T>(group, name, path_);
    std::array<T, particle_types> result{};
    std::copy_n(values.begin(), std::min(values.size(), result.size()), result.begin());
    for (std::size_t t = result.size(); t < values.size(); ++t)
      if (values[t] != T{})
        throw InputError(fmt::format("{}: Header/{} has particles of type {}; types 0 to {} are known", path_,
                                     name, t, particle_types - 1));
    return result;
  }

  void read_header() {
    const hdf5::Handle group = hdf5::open_group(file_, "Header", path_);
    if (!group) throw InputError(path_ + ": no group Header; expected a snapshot in GADGET's HDF5 layout");
    if (!hdf5::read_attribute<std::int64_t>(group, "Ngroups_Total", path_).empty())
      throw InputError(path_ + ": is a catalogue of groups; expected a snapshot");
    for (const char* name : {"NumPart_ThisFile", "NumPart_Total"})
      if (hdf5::read_attribute<std::int64_t>(group, name, path_).empty())
        throw InputError(fmt::format("{}: no attribute Header/{}, the particles by type", path_, name));
    read_counts(group);
    header_.mass_table = by_type<double>(group, "MassTable");
    header_.files = number_of_files(scalar<std::int64_t>(group, "NumFilesPerSnapshot", 1), path_);
    // Many writers of initial conditions leave the total of a single file unset.
    if (header_.files == 1 && header_.total == std::array<Count, particle_types>{})
      header_.total = header_.counts;
    header_.time = scalar<double>(group, "Time", 0);
    header_.redshift = scalar<double>(group, "Redshift", 0);
    read_box(group);
    const hdf5::Handle grove = hdf5::open_group(file_, "Grove", path_);
    header_.by_grove = static_cast<bool>(grove);
    if (grove) header_.leaf_size = scalar<std::int64_t>(grove, "LeafSize", 0);
  }

  void read_counts(hid_t header) {
    // So many in each file of a set, of each type, can be counted.
    constexpr Count most_in_file = Count{1} << 40, most = std::numeric_limits<Count>::max();
    header_.counts = by_type<std::int64_t>(header, "NumPart_ThisFile");
    header_.total = by_type<std::int64_t>(header, "NumPart_Total");
    const auto high = by_type<std::int64_t>(header, "NumPart_Total_HighWord");
    for (std::size_t t = 0; t < high.size(); ++t) {
      if (header_.counts[t] < 0 || header_.counts[t] > most_in_file)
        throw InputError(fmt::format("{}: Header/NumPart_ThisFile has {} of type {}; expected 0 to {}", path_,
                                     how_many(header_.counts[t], "particle"), t, most_in_file));
      if (header_.total[t] < 0 || high[t] < 0 || high[t] > (most - header_.total[t]) >> 32)
        throw InputError(fmt::format(
            "{}: Header/NumPart_Total has {} of type {}, and NumPart_Total_HighWord {} times 2^32 "
            "more; expected 0 to {} together",
            path_, how_many(header_.total[t], "particle"), t, high[t], most));
      header_.total[t] += high[t] << 32;
    }
  }

  /// One edge, or three.
  void read_box(hid_t header) {
    const std::vector<double> edges = hdf5::read_attribute<double>(header, "BoxSize", path_);
    if (edges.size() == 1) header_.box_size = Vec3d{1, 1, 1} * edges[0];
    if (edges.size() == 3) header_.box_size = {edges[0], edges[1], edges[2]};
    if (edges.size() != 0 && edges.size() != 1 && edges.size() != 3)
      throw InputError(
          fmt::format("{}: Header/BoxSize has {} numbers; expected 1 or 3", path_, edges.size()));
    // SWIFT writes its parameters as texts, GADGET-4 an attribute for each option that it was compiled with.
    const hdf5::Handle parameters = hdf5::open_group(file_, "Parameters", path_);
    const hdf5::Handle options = hdf5::open_group(file_, "Config", path_);
    header_.is_periodic =
        (parameters && hdf5::read_text_attribute(parameters, "InitialConditions:periodic", path_) == "1") ||
        (options && hdf5::has_attribute(options, "PERIODIC"));
  }

  /// In CGS, as GADGET names them in a group.
  struct UnitNames {
    const char *length, *mass, *third;
  };
  static constexpr UnitNames gadget_units{"UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s"};
  static constexpr UnitNames swift_units{"Unit length in cgs (U_L)", "Unit mass in cgs (U_M)",
                                         "Unit time in cgs (U_t)"};

  /// Those of /Units, by GADGET's names or SWIFT's, else those of GADGET-4's /Parameters.
  void read_units() {
    const hdf5::Handle units = hdf5::open_group(file_, "Units", path_);
    const hdf5::Handle parameters = hdf5::open_group(file_, "Parameters", path_);
    if (units && has_any(units, gadget_units)) return read_gadget_units(units, "Units");
    if (units && has_any(units, swift_units)) return read_swift_units(units);
    if (parameters && has_any(parameters, gadget_units)) return read_gadget_units(parameters, "Parameters");
    if (units) read_swift_units(units);  // names what is missing
  }

  static bool has_any(hid_t group, const UnitNames& names) {
    return hdf5::has_attribute(group, names.length) || hdf5::has_attribute(group, names.mass) ||
           hdf5::has_attribute(group, names.third);
  }

  void read_gadget_units(hid_t group, const char* name) {
    const double length = scalar<double>(group, gadget_units.length, 0);
    const double mass = scalar<double>(group, gadget_units.mass, 0);
    const double velocity = scalar<double>(group, gadget_units.third, 0);
    if (length == 0 && mass == 0 && velocity == 0) return;
    take_units(name, length, mass, velocity);
    // Zero means the physical value in GADGET's parameter of this name.
    const double newton = scalar<double>(group, "GravityConstantInternal", 0);
    if (newton > 0) header_.units->gravitational_constant = newton;
  }

  void read_swift_units(hid_t group) {
    for (const char* attribute : {swift_units.length, swift_units.mass, swift_units.third})
      if (hdf5::read_attribute<double>(group, attribute, path_).empty())
        throw InputError(fmt::format("{}: group Units has no attribute '{}'", path_, attribute));
    const double length = scalar<double>(group, swift_units.length, 0);
    take_units("Units", length, scalar<double>(group, swift_units.mass, 0),
               length / scalar<double>(group, swift_units.third, 0));
  }

  void take_units(const char* group, double length, double mass, double velocity) {
    for (const double unit : {length, mass, velocity})
      if (!(unit > 0 && std::isfinite(unit)))
        throw InputError(fmt::format("{}: group {} has a unit of {} in CGS; expected a positive number",
                                     path_, group, unit));
    header_.units = Units::of(length, mass, velocity);
  }

  /// Looks for comoving values: what GADGET-2, GADGET-4 and SWIFT write about them.
  void read_comoving() {
    const hdf5::Handle header = hdf5::open_group(file_, "Header", path_);
    const hdf5::Handle parameters = hdf5::open_group(file_, "Parameters", path_);
    const hdf5::Handle cosmology = hdf5::open_group(file_, "Cosmology", path_);
    const auto number = [&](const char* name, const char* of_swift) {
      double value = cosmology ? scalar<double>(cosmology, of_swift, 0) : 0.0;
      if (parameters) value = scalar<double>(parameters, name, value);
      return scalar<double>(header, name, value);
    };
    header_.h = number("HubbleParam", "h");
    header_.omega_matter = number("Omega0", "Omega_m");
    header_.omega_lambda = number("OmegaLambda", "Omega_lambda");
    if (parameters && scalar<std::int64_t>(parameters, "ComovingIntegrationOn", 0) != 0)
      header_.comoving = "Parameters/ComovingIntegrationOn is 1";
    else if (cosmology && scalar<std::int64_t>(cosmology, "Cosmological run", 0) != 0)
      header_.comoving = swift_is_comoving;
    else
      header_.comoving = comoving_signs(header_.redshift, header_.time, header_.h);
  }

  void open_type(int type, std::span<const FileField> fields) {
    const std::string group_name = fmt::format("PartType{}", type);
    const auto t = static_cast<std::size_t>(type);
    hdf5::Handle group = hdf5::open_group(file_, group_name, path_);
    if (!group)
      throw InputError(fmt::format("{}: no group {}, but the header has {} of this type", path_, group_name,
                                   how_many(header_.counts[t], "particle")));
    for (const FileField& field : fields)
      if (field.info.is_of(t)) open_field(group, type, field);
    for (const std::string& name : hdf5::dataset_names(group, path_)) {
      const hdf5::Handle dataset = hdf5::open_dataset(group, name, path_);
      header_.fields.push_back({type, name, hdf5::info(dataset, path_).type_name()});
    }
  }

  void open_field(hid_t group, int type, const FileField& field) {
    const auto t = static_cast<std::size_t>(type);
    const bool is_mass = field.info.name == fields::mass.info.name,
               is_id = field.info.name == fields::id.info.name;
    hdf5::Handle dataset = hdf5::open_dataset(group, std::string(field.info.name), path_);
    // SWIFT's black holes attract with these; they have other masses besides.
    if (!dataset && is_mass) dataset = hdf5::open_dataset(group, "DynamicalMasses", path_);
    const std::string what = name_of(type, field.info.name);
    if (!dataset) {
      if (is_id) {
        header_.has_ids = false;
      } else if (!field.info.of_gas && (!is_mass || header_.mass_table[t] == 0)) {
        throw InputError(
            fmt::format("{}: no dataset {}{}", path_, what,
                        is_mass ? fmt::format(", and Header/MassTable has no mass for type {}", type) : ""));
      }
      return;
    }
    if (is_mass) header_.mass_table[t] = 0;  // the dataset counts
    const hdf5::DatasetInfo info = hdf5::info(dataset, path_);
    std::vector<hsize_t> shape{static_cast<hsize_t>(header_.counts[t])};
    if (field.components > 1) shape.push_back(field.components);
    std::vector<hsize_t> found = info.shape;
    if (field.components == 1 && found.size() == 2 && found[1] == 1) found.pop_back();
    if (found != shape)
      throw InputError(fmt::format("{}: dataset {} has shape [{}], but the header's counts ask for [{}]",
                                   path_, what, fmt::join(info.shape, ", "), fmt::join(shape, ", ")));
    check_stored(dataset, what);
    const bool right_kind = field.is_whole ? info.is_integer : info.is_float;
    if (!right_kind)
      throw InputError(fmt::format("{}: dataset {} has numbers of type {}; expected {}", path_, what,
                                   info.type_name(), field.is_whole ? "whole numbers" : "floats"));
    datasets_[{type, field.info.name}] = std::move(dataset);
  }

  /// HDF5 fills with a value, zero, what nobody has written, and what is in a file that is not there any
  /// more: the former may be meant, as velocities of a cold start, the latter is not.
  void check_stored(hid_t dataset, const std::string& what) {
    if (!hdf5::has_numbers(dataset, path_))
      throw InputError(fmt::format("{}: dataset {} was never written", path_, what));
    if (std::getenv("HDF5_VDS_PREFIX")) return;  // then HDF5 looks elsewhere too
    for (const std::string& file : hdf5::files_mapped_to(dataset, path_)) {
      const std::filesystem::path beside = std::filesystem::path(path_).parent_path() / file;
      std::error_code error;
      if (file == ".") continue;
      const bool is_beside = std::filesystem::exists(beside, error);
      mapped_.insert(is_beside ? beside.string() : file);
      if (!is_beside && !std::filesystem::exists(file, error))
        throw InputError(
            fmt::format("{}: dataset {} is mapped to {}, which is not there", path_, what, beside.string()));
    }
  }

  static std::string name_of(int type, std::string_view field) {
    return fmt::format("PartType{}/{}", type, field);
  }

  void read_rows(int type, std::string_view field, hid_t number, Count first, Count count, void* out) {
    hdf5::read_rows(datasets_.at({type, field}), number, static_cast<hsize_t>(first),
                    static_cast<hsize_t>(count), out,
                    fmt::format("{}: dataset {} cannot be read", path_, name_of(type, field)));
  }

  std::string path_;
  hdf5::Handle file_;
  std::map<std::pair<int, std::string_view>, hdf5::Handle> datasets_;  ///< by type and FieldInfo::name
  std::set<std::string> mapped_;  ///< files that virtual datasets are mapped to
};

}  // namespace

std::unique_ptr<SnapshotFile> open_gadget_hdf5(const std::string& path, std::span<const FileField> fields) {
  if (!hdf5::is_hdf5(path)) return nullptr;
  return std::make_unique<GadgetHdf5>(path, fields);
}

void try_gadget_hdf5(const std::string& path,
                     const std::function<void(std::uintmax_t mapped)>& before_reading) {
  GadgetHdf5 file(path, file_fields());
  before_reading(file.bytes_mapped_to());
  file.try_out();
}

}  // namespace grove
