#include "io/snapshot_description.hpp"

namespace grove {
namespace {

constexpr double seconds_per_gyr = 3.15576e16;

/// An attribute of a group under a name.
class Attributes {
 public:
  Attributes(hid_t file, const char* group, const std::string& path)
      : path_(path), group_(hdf5::create_group(file, group, path)) {}

  template <class T>
  void operator()(const char* name, const T& value) const {
    hdf5::write_attribute(group_, name, value, path_);
  }

 private:
  const std::string& path_;
  hdf5::Handle group_;
};

void write_unit_sizes(const Attributes& attribute, const Units& units) {
  attribute("UnitLength_in_cm", units.length_cm);
  attribute("UnitMass_in_g", units.mass_g);
  attribute("UnitVelocity_in_cm_per_s", units.velocity_cm_s);
}

/// As GADGET-2's header and GADGET-4's parameters have them.
void write_cosmology(const Attributes& attribute, const WriteOptions& options) {
  const auto& comoving = options.comoving;
  attribute("Omega0", comoving ? comoving->cosmology.omega_matter : 0.0);
  attribute("OmegaLambda", comoving ? comoving->cosmology.omega_lambda : 0.0);
  attribute("HubbleParam", comoving ? comoving->h : 1.0);
}

/// The time for pynbody, which knows of no other that is not comoving.
void write_time_gyr(const Attributes& attribute, const WriteOptions& options) {
  attribute("Time_GYR", options.time * options.units.cgs(dimension::time) / seconds_per_gyr);
}

/// 0: open.
void write_box(const Attributes& attribute, const WriteOptions& options) {
  attribute("BoxSize", options.box * (options.comoving ? options.comoving->h : 1));
}

void write_header(hid_t file, const SnapshotDescription& description, const WriteOptions& options,
                  const std::string& path) {
  const Attributes attribute(file, "Header", path);
  attribute("NumPart_ThisFile", description.here);
  attribute("NumPart_Total", description.total);
  attribute("NumPart_Total_HighWord", std::array<std::uint32_t, particle_types>{});
  attribute("MassTable", std::array<double, particle_types>{});
  attribute("Time", options.comoving ? options.comoving->scale_factor : options.time);
  write_time_gyr(attribute, options);
  attribute("Redshift", options.comoving ? redshift_of(options.comoving->scale_factor) : 0.0);
  attribute("NumFilesPerSnapshot", options.files);
  write_box(attribute, options);
  write_cosmology(attribute, options);
  write_unit_sizes(attribute, options.units);  // where AREPO has them
  for (const char* flag :
       {"Flag_Sfr", "Flag_Cooling", "Flag_StellarAge", "Flag_Metals", "Flag_Feedback", "Flag_Entropy_ICs"})
    attribute(flag, 0);
  attribute("Flag_DoublePrecision", 1);
}

/// Parameters as of GADGET-4: if there are any, pynbody reads them, and not the header.
void write_parameters(hid_t file, const WriteOptions& options, const std::string& path) {
  const Attributes attribute(file, "Parameters", path);
  write_box(attribute, options);
  write_unit_sizes(attribute, options.units);
  write_cosmology(attribute, options);
  write_time_gyr(attribute, options);
  attribute("ComovingIntegrationOn", options.comoving ? 1 : 0);
}

void write_units(hid_t file, const Units& units, const std::string& path) {
  const Attributes attribute(file, "Units", path);
  write_unit_sizes(attribute, units);
  attribute("GravityConstantInternal", units.gravitational_constant);
}

void write_grove(hid_t file, const SnapshotDescription& description, const WriteOptions& options,
                 const std::string& path) {
  const Attributes attribute(file, "Grove", path);
  attribute("LeafSize", options.leaf_size);
  const Vec3d low = description.low, high = description.high;
  attribute("LowestCoordinates", std::array<double, 3>{low.x, low.y, low.z});
  attribute("HighestCoordinates", std::array<double, 3>{high.x, high.y, high.z});
}

/// GADGET-4 has an attribute for each option that it was compiled with, such as PERIODIC.
///
/// yt reads a file as GADGET's, whose units it takes to be galactic whatever the file says, or as AREPO's,
/// whose units it reads, but which needs the density of gas. The attribute AMR tells them apart.
void write_config(hid_t file, const SnapshotDescription& description, const WriteOptions& options,
                  const std::string& path) {
  const bool hints = options.units != Units::galactic() && description.total[0] == 0;
  if (!hints && !(options.box > 0)) return;
  const Attributes attribute(file, "Config", path);
  if (options.box > 0) attribute("PERIODIC", 1);
  if (hints) attribute("AMR", std::string("not meant; makes yt read the units of this file"));
}

}  // namespace

void write_description(hid_t file, const SnapshotDescription& description, const WriteOptions& options,
                       const std::string& path) {
  write_header(file, description, options, path);
  write_units(file, options.units, path);
  write_parameters(file, options, path);
  write_config(file, description, options, path);
  write_grove(file, description, options, path);
}

}  // namespace grove
