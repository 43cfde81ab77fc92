#include "halos/catalogue_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

#include "halos/row_order.hpp"
#include "io/dataset_unit.hpp"
#include "io/file.hpp"
#include "io/hdf5.hpp"

namespace grove {
namespace {

/// How many bytes a rank hands to one collective write.
constexpr Count row_bytes_at_once = Count{256} << 20;

/// The description of a dataset: GADGET-4's powers of scale factor and h.
struct ColumnUnit {
  Dimension dimension;
  double a_power = 0, h_power = 0;
};

/// Writes one file, all ranks together. A failure on any of them ends that on all.
class CatalogueWriter {
 public:
  CatalogueWriter(const Communicator& comm, const std::string& path, const CatalogueHeader& header)
      : comm_(comm), path_(AtomicFile::temporary_of(path)), header_(header) {
    comm.together([&] {
      if (comm.is_master()) atomic_.emplace_back(path);
    });
    comm.together([&] { file_ = hdf5::create_file(comm.get(), path_); });
  }

  template <class T>
  void attribute(const char* group, const char* name, const T& value) {
    comm_.together([&] {
      if (open_ != group) group_ = hdf5::create_group(file_, open_ = group, path_);
      hdf5::write_attribute(group_, name, value, path_);
    });
  }

  /// A column of `width` numbers a row. values: of this rank's rows. sized: it has units.
  template <class T>
  void column(const RowOrder& rows, Count total, const char* group, const char* name, hsize_t width,
              std::span<const T> values, const ColumnUnit& unit) {
    const std::string what = fmt::format("{}: dataset {}/{} cannot be written", path_, group, name);
    hdf5::Handle dataset;
    comm_.together([&] {
      if (open_ != group) group_ = hdf5::create_group(file_, open_ = group, path_);
      std::vector<hsize_t> shape{static_cast<hsize_t>(total)};
      if (width > 1) shape.push_back(width);
      dataset = hdf5::create_dataset(group_, name, hdf5::native<T>(), shape, path_);
      describe(dataset, unit);
    });
    if (total == 0) return;
    const Count piece = row_bytes_at_once / static_cast<Count>(width * sizeof(T));
    const Count rounds = comm_.max((rows.count() + piece - 1) / piece);
    for (Count round = 0; round < rounds; ++round) {
      const Count low = std::min(round * piece, rows.count()), high = std::min(low + piece, rows.count());
      comm_.together([&] {
        hdf5::write_rows(dataset, hdf5::native<T>(), static_cast<hsize_t>(rows.first() + low),
                         static_cast<hsize_t>(high - low), values.data() + static_cast<hsize_t>(low) * width,
                         what);
      });
    }
  }

  void close() {
    const std::string what = path_ + ": cannot be written";
    group_ = {};
    comm_.together([&] { hdf5::check(H5Fflush(file_, H5F_SCOPE_GLOBAL), what); });
    comm_.together([&] { file_.close(what); });
    commit_together(comm_, atomic_);
  }

 private:
  void describe(hid_t dataset, const ColumnUnit& unit) const {
    write_unit_of(dataset, unit.dimension, header_.units, header_.is_comoving ? unit.a_power : 0,
                  unit.h_power * header_.h_power, path_);
  }

  const Communicator& comm_;
  std::string path_, open_;
  const CatalogueHeader& header_;
  std::vector<AtomicFile> atomic_;  ///< on the master
  hdf5::Handle file_, group_;       ///< closed before atomic_ removes what is not complete
};

void write_header(CatalogueWriter& file, const CatalogueOrder& order, const CatalogueHeader& header) {
  const auto number = [&](const char* name, Count value) {
    file.attribute("Header", name, static_cast<std::uint64_t>(value));
  };
  number("Ngroups_ThisFile", order.groups);
  number("Ngroups_Total", order.groups);
  number("Nsubhalos_ThisFile", 0);
  number("Nsubhalos_Total", 0);
  number("Nids_ThisFile", order.members);
  number("Nids_Total", order.members);
  file.attribute("Header", "NumFiles", std::int32_t{1});
  file.attribute("Header", "Time", header.time);
  file.attribute("Header", "Redshift", header.redshift);
  file.attribute("Header", "BoxSize", header.box);
}

void write_parameters(CatalogueWriter& file, const CatalogueHeader& header, const HaloOptions& options) {
  file.attribute("Parameters", "UnitLength_in_cm", header.units.length_cm);
  file.attribute("Parameters", "UnitMass_in_g", header.units.mass_g);
  file.attribute("Parameters", "UnitVelocity_in_cm_per_s", header.units.velocity_cm_s);
  file.attribute("Parameters", "ComovingIntegrationOn", std::int32_t{header.is_comoving});
  file.attribute("Parameters", "Omega0", header.omega_matter);
  file.attribute("Parameters", "OmegaLambda", header.omega_lambda);
  file.attribute("Parameters", "HubbleParam", header.h);
  file.attribute("Parameters", "BoxSize", header.box);
  file.attribute("Parameters", "LinkingLength", options.length);
  file.attribute("Parameters", "GroupMinLen", static_cast<std::int64_t>(options.least));
  file.attribute("Parameters", "CriticalDensity", options.critical_density);
}

/// The columns of /Group, from the halos of this rank's rows and the number of members before each.
class GroupColumns {
 public:
  GroupColumns(CatalogueWriter& file, const RowOrder& rows, Count total, std::span<const Halo> halos,
               std::span<const Count> first_member)
      : file_(file), rows_(rows), total_(total), halos_(halos), first_member_(first_member) {}

  void write() {
    const ColumnUnit none{dimension::none}, length{dimension::length, 1, -1}, mass{dimension::mass, 0, -1},
        momentum{dimension::velocity, -1, 0}, speed{dimension::velocity};
    numbers<std::int64_t>("GroupLen", none, [](const Halo& h) { return h.length; });
    numbers<double>("GroupMass", mass, [](const Halo& h) { return h.mass; });
    vectors("GroupPos", length, [](const Halo& h) { return h.centre; });
    vectors("GroupCM", length, [](const Halo& h) { return h.centre_of_mass; });
    vectors("GroupVel", momentum, [](const Halo& h) { return h.velocity; });
    by_type<std::int64_t>("GroupLenType", none, [](const Halo& h) { return h.length_by_type; });
    by_type<double>("GroupMassType", mass, [](const Halo& h) { return h.mass_by_type; });
    offsets();
    numbers<double>("Group_R_Crit200", length, [](const Halo& h) { return h.r200; });
    numbers<double>("Group_M_Crit200", mass, [](const Halo& h) { return h.m200; });
    numbers<double>("GroupVmax", speed, [](const Halo& h) { return h.vmax; });
    numbers<double>("GroupVmaxRad", length, [](const Halo& h) { return h.rmax; });
    numbers<std::uint64_t>("GroupIDMostbound", none, [](const Halo& h) { return h.most_bound; });
    numbers<std::uint64_t>("GroupMinID", none, [](const Halo& h) { return h.label; });
  }

 private:
  template <class T>
  void column(const char* name, hsize_t width, const std::vector<T>& values, const ColumnUnit& unit) {
    file_.column(rows_, total_, "Group", name, width, std::span<const T>(values), unit);
  }
  template <class T, class Value>
  void numbers(const char* name, const ColumnUnit& unit, const Value& value) {
    std::vector<T> values;
    for (const Halo& halo : halos_) values.push_back(value(halo));
    column(name, 1, values, unit);
  }
  template <class Value>
  void vectors(const char* name, const ColumnUnit& unit, const Value& value) {
    std::vector<double> values;
    for (const Halo& halo : halos_)
      for (int axis = 0; axis < 3; ++axis) values.push_back(value(halo)[axis]);
    column(name, 3, values, unit);
  }
  template <class T, class Value>
  void by_type(const char* name, const ColumnUnit& unit, const Value& value) {
    std::vector<T> values;
    for (const Halo& halo : halos_)
      for (const auto number : value(halo)) values.push_back(number);
    column(name, particle_types, values, unit);
  }
  /// The places of the first member of each type in /IDs/ID.
  void offsets() {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < halos_.size(); ++i) {
      Count offset = first_member_[i];
      for (const Count count : halos_[i].length_by_type)
        values.push_back(std::exchange(offset, offset + count));
    }
    column("GroupOffsetType", particle_types, values, {dimension::none});
  }

  CatalogueWriter& file_;
  const RowOrder& rows_;
  Count total_;
  std::span<const Halo> halos_;
  std::span<const Count> first_member_;
};

}  // namespace

CatalogueOrder CatalogueOrder::of(const Communicator& comm, const std::vector<Halo>& halos) {
  struct Key {
    Count length;
    ParticleId label;
    bool operator<(const Key& other) const {
      return std::tie(other.length, label) < std::tie(length, other.label);
    }
  };
  std::vector<Key> keys;
  for (const Halo& halo : halos) keys.push_back({halo.length, halo.label});
  std::vector<Key> all = comm.all_gather_arrays(std::span<const Key>(keys));
  std::sort(all.begin(), all.end());
  std::vector<Count> before(all.size() + 1, 0);
  for (std::size_t i = 0; i < all.size(); ++i) before[i + 1] = before[i] + all[i].length;

  CatalogueOrder order;
  order.groups = static_cast<Count>(all.size());
  order.members = before.back();
  for (const Key& key : keys) {
    const auto at = std::lower_bound(all.begin(), all.end(), key) - all.begin();
    order.row.push_back(at);
    order.first_member.push_back(before[static_cast<std::size_t>(at)]);
  }
  return order;
}

void write_catalogue(const Communicator& comm, const std::string& path, const FoundHalos& found,
                     const CatalogueOrder& order, const CatalogueHeader& header, const HaloOptions& options) {
  const RowOrder groups(comm, order.row, order.groups);
  const Array<Halo> halos = groups.apply(std::span<const Halo>(found.halos));
  const Array<Count> first_member = groups.apply(std::span<const Count>(order.first_member));
  std::vector<Count> member_row(found.members.members());
  for (std::size_t group = 0; group < found.halos.size(); ++group)
    for (Count i = found.members.begin[group]; i < found.members.begin[group + 1]; ++i)
      member_row[static_cast<std::size_t>(i)] = order.first_member[group] + i - found.members.begin[group];
  const RowOrder members(comm, member_row, order.members);
  const Array<ParticleId> ids = members.apply(std::span<const ParticleId>(found.members.id));

  CatalogueWriter file(comm, path, header);
  write_header(file, order, header);
  write_parameters(file, header, options);
  GroupColumns(file, groups, order.groups, halos, first_member).write();
  file.column(members, order.members, "IDs", "ID", 1, std::span<const ParticleId>(ids), {dimension::none});
  file.close();
}

}  // namespace grove
