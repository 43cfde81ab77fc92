#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/box.hpp"
#include "base/errors.hpp"
#include "base/shares.hpp"
#include "io/checksum_trailer.hpp"
#include "io/dataset_unit.hpp"
#include "io/file.hpp"
#include "io/hdf5.hpp"
#include "io/id_order.hpp"
#include "io/snapshot.hpp"
#include "io/snapshot_description.hpp"

namespace grove {
namespace {

using Counts = std::array<Count, particle_types>;

/// Bytes that a rank hands to one collective write; far below the 2 GiB that MPI's counts reach.
constexpr Count piece_bytes = Count{256} << 20;

/// How particles and files are divided over ranks. Ranks form groups of equal size; a group writes a run of
/// files, and within it each rank an equal share of the group's particles.
class Division {
 public:
  Division(int ranks, int files) : ranks_(ranks), files_(files), groups_(std::min(ranks, files)) {}

  /// Group r belongs to where share_begin(ranks, group) <= r.
  int group_of(int rank) const {
    int group = 0;
    while (first_rank(group + 1) <= rank) ++group;
    return group;
  }
  int first_rank(int group) const { return static_cast<int>(share_begin(ranks_, group, groups_)); }
  int first_file(int group) const { return static_cast<int>(share_begin(files_, group, groups_)); }
  /// The first particle of a file, of `count` in all.
  Count file_begin(Count count, int file) const { return share_begin(count, file, files_); }
  /// The first particle of each rank, length P + 1.
  std::vector<Count> bounds(Count count) const {
    std::vector<Count> bounds;
    for (int group = 0; group < groups_; ++group) {
      const Count begin = file_begin(count, first_file(group)),
                  end = file_begin(count, first_file(group + 1));
      const int ranks = first_rank(group + 1) - first_rank(group);
      for (int r = 0; r < ranks; ++r) bounds.push_back(begin + share_begin(end - begin, r, ranks));
    }
    bounds.push_back(count);
    return bounds;
  }

 private:
  int ranks_, files_, groups_;
};

/// True if particles of some type are written with it.
bool is_written(const FieldInfo& info, const WriteOptions& options) {
  if (!info.output || !(info.types & options.types)) return false;
  if (info.name == fields::id.info.name) return true;
  if (options.fields.empty()) return info.output_by_default;
  return std::find(options.fields.begin(), options.fields.end(), info.name) != options.fields.end();
}

void check_options(const WriteOptions& options, const std::string& path) {
  std::vector<std::string_view> known;
  for_each_field([&](const auto& field) {
    if (field.info.output) known.push_back(field.info.name);
  });
  for (const std::string& name : options.fields)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(fmt::format("{}: '{}' is not a dataset that can be written; possible: {}", path, name,
                                   fmt::join(known, ", ")));
  if (options.files < 1)
    throw InputError(fmt::format("{}: cannot be written as {} files", path, options.files));
}

template <class T>
hid_t number_type() {
  if constexpr (std::is_same_v<T, Vec3d>)
    return H5T_NATIVE_DOUBLE;
  else if constexpr (std::is_same_v<T, Vec3f>)
    return H5T_NATIVE_FLOAT;
  else
    return hdf5::native<T>();
}

/// One file, open on the ranks that write it.
struct OutputFile {
  std::string path;
  int index;
  hdf5::Handle handle;
};

/// Writes the files of one group of ranks: `all_` are all ranks, `group_` those that share files with this
/// one. The group agrees on the outcome of each collective call of HDF5 before it makes the next one; after a
/// failure it makes no more, and all groups end at the next agree().
class SnapshotWriter {
 public:
  SnapshotWriter(const Communicator& all, const Particles& particles, const WriteOptions& options)
      : all_(all),
        particles_(particles),
        options_(options),
        division_(all.size(), options.files),
        group_index_(division_.group_of(all.rank())),
        group_(all.split(group_index_)) {
    count();
    find_bounds();
  }

  void write(const std::string& path) {
    try {
      create(path);
      for (int type = 0; type < particle_types; ++type)
        if (totals_[static_cast<std::size_t>(type)] > 0) write_type(type);
      close();
    } catch (const Agreed<InputError>& error) {
      // HDF5 1.10 keeps the identifier of a file whose closing failed and reads its freed memory in
      // MPI_Finalize. An error that is not agreed on makes the program abort without that.
      if (!can_close()) throw InputError(error.what());
      throw;
    } catch (const Agreed<std::runtime_error>&) {
      throw;
    } catch (...) {
      // This rank alone knows of it: closing would wait for the others, and the program with it.
      for (OutputFile& file : files_) file.handle.abandon();
      throw;
    }
  }

 private:
  void count() {
    for (std::size_t i = 0; i < particles_.size(); ++i) ++totals_[particles_.type[i]];
    for (std::size_t t = 0; t < totals_.size(); ++t)
      if (!(options_.types >> t & 1)) totals_[t] = 0;
    all_.sum(std::span<Count>(totals_));
  }

  bool is_chosen(std::size_t particle) const { return options_.types >> particles_.type[particle] & 1; }

  /// Bounds of the positions that are written, all 0 if there are none.
  void find_bounds() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::array<double, 3> low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      if (!is_chosen(i)) continue;
      const Vec3d x = place(particles_.position[i]);
      low = {std::min(low[0], x.x), std::min(low[1], x.y), std::min(low[2], x.z)};
      high = {std::max(high[0], x.x), std::max(high[1], x.y), std::max(high[2], x.z)};
    }
    all_.min(std::span<double>(low));
    all_.max(std::span<double>(high));
    if (low[0] > high[0]) return;
    low_ = {low[0], low[1], low[2]};
    high_ = {high[0], high[1], high[2]};
  }

  double lengths() const { return options_.comoving ? options_.comoving->h : 1; }
  /// A position as the file gets it, which is in the periodic box that the header states.
  Vec3d place(const Vec3d& p) const {
    const Vec3d scaled = lengths() * p;
    return options_.box > 0 ? Box::periodic(options_.box * lengths()).wrapped(scaled) : scaled;
  }

  /// One step of the group's work: at most one call of HDF5 that waits for the other ranks of the group.
  template <class Work>
  void step(const Work& work) {
    collective([&] { group_.together(work); });
  }

  /// The same for work that the group does together, and whose outcome it agrees on by itself.
  template <class Work>
  void collective(const Work& work) {
    if (fault_) return;
    try {
      work();
    } catch (const std::exception&) {
      fault_ = std::current_exception();
    }
  }

  /// If the work of any group failed, all ranks throw.
  void agree() const {
    all_.together([&] {
      if (fault_) std::rethrow_exception(fault_);
    });
  }

  void create(const std::string& path) {
    const std::vector<std::string> paths = snapshot_files(path, options_.files);
    const int first = division_.first_file(group_index_), last = division_.first_file(group_index_ + 1);
    all_.together([&] {
      for (int f = first; f < last; ++f) {
        const std::string& name = paths[static_cast<std::size_t>(f)];
        files_.push_back({AtomicFile::temporary_of(name), f, {}});
        if (!group_.is_master()) continue;
        atomic_.emplace_back(name);
        atomic_.back().reserve(bytes(files_.back()));
      }
    });
    for (std::size_t f = 0; f < files_.size(); ++f) {
      OutputFile& file = files_[f];
      step([&] { file.handle = hdf5::create_file(group_.get(), file.path); });
      step([&] {
        if (group_.is_master()) atomic_[f].reserve(bytes(file));  // creation gave the room back
      });
      step([&] { write_description(file); });
    }
    agree();
  }

  void write_description(const OutputFile& file) const {
    SnapshotDescription description{.here = {}, .total = totals_, .low = low_, .high = high_};
    for (std::size_t t = 0; t < totals_.size(); ++t) description.here[t] = end(file, t) - begin(file, t);
    grove::write_description(file.handle, description, options_, file.path);
  }

  Count begin(const OutputFile& file, std::size_t type) const {
    return division_.file_begin(totals_[type], file.index);
  }
  Count end(const OutputFile& file, std::size_t type) const {
    return division_.file_begin(totals_[type], file.index + 1);
  }

  /// Length of a file when it is complete, generously.
  std::int64_t bytes(const OutputFile& file) const {
    std::int64_t sum = 1 << 16;
    for (std::size_t t = 0; t < totals_.size(); ++t)
      sum += (end(file, t) - begin(file, t)) * bytes_per_particle(options_, t, particles_.has_gas);
    return sum;
  }

  void write_type(int type) {
    const auto t = static_cast<std::size_t>(type);
    Array<std::uint32_t> index;
    index.reserve(static_cast<std::size_t>(std::count(particles_.type.begin(), particles_.type.end(), type)));
    for (std::size_t i = 0; i < particles_.size(); ++i)
      if (particles_.type[i] == type) index.push_back(static_cast<std::uint32_t>(i));
    const std::vector<Count> bounds = division_.bounds(totals_[t]);
    const IdOrder order(all_, particles_, std::move(index), bounds);
    const auto rank = static_cast<std::size_t>(all_.rank());

    std::vector<hdf5::Handle> groups(files_.size());
    for (std::size_t f = 0; f < files_.size(); ++f)
      if (const OutputFile& file = files_[f]; end(file, t) > begin(file, t))
        step(
            [&] { groups[f] = hdf5::create_group(file.handle, fmt::format("PartType{}", type), file.path); });
    agree();
    for_each_field([&](const auto& field) {
      if (!is_written(field.info, options_) || !field.info.is_of(t) || !particles_.holds(field.info)) return;
      auto values = order.apply(particles_.*field.array);
      scale(values, field.info);
      for (std::size_t f = 0; f < files_.size(); ++f)
        if (groups[f])
          write_field(files_[f], groups[f], type, field.info, std::span(std::as_const(values)), bounds[rank],
                      bounds[rank + 1]);
      agree();
    });
  }

  ComovingScale scale_of(const FieldInfo& info) const {
    return options_.comoving ? ComovingScale::of(info, *options_.comoving) : ComovingScale{};
  }

  template <class Values>
  void scale(Values& values, const FieldInfo& info) const {
    using T = std::remove_cvref_t<decltype(values[0])>;
    if constexpr (std::is_same_v<T, Vec3d>)
      if (info.name == fields::position.info.name) {
        for (T& value : values) value = place(value);
        return;
      }
    if constexpr (std::is_same_v<T, Vec3d> || std::is_same_v<T, double>)
      if (const double by = scale_of(info).in_file; by != 1)
        for (T& value : values) value *= by;
  }

  /// values: particles [first, last) in the order of ids.
  template <class T>
  void write_field(const OutputFile& file, hid_t group, int type, const FieldInfo& info,
                   std::span<const T> values, Count first, Count last) {
    const auto t = static_cast<std::size_t>(type);
    const std::string name(info.name);
    const std::string what =
        fmt::format("{}: dataset PartType{}/{} cannot be written", file.path, type, name);
    const Count file_first = begin(file, t), file_last = end(file, t);
    hdf5::Handle dataset;
    step([&] {
      std::vector<hsize_t> shape{static_cast<hsize_t>(file_last - file_first)};
      if (std::is_same_v<T, Vec3d> || std::is_same_v<T, Vec3f>) shape.push_back(3);
      dataset = hdf5::create_dataset(group, name, number_type<T>(), shape, file.path);
      const ComovingScale scale = scale_of(info);
      write_unit_of(dataset, info.dimension, options_.units, scale.a_power, scale.h_power, file.path);
    });
    const Count from = std::clamp(file_first, first, last), to = std::clamp(file_last, first, last);
    const Count piece = piece_bytes / static_cast<Count>(sizeof(T));
    const Count rounds = group_.max((to - from + piece - 1) / piece);
    for (Count round = 0; round < rounds; ++round) {
      const Count low = std::min(from + round * piece, to), high = std::min(low + piece, to);
      step([&] {
        hdf5::write_rows(dataset, number_type<T>(),
                         static_cast<hsize_t>(std::max<Count>(0, low - file_first)),
                         static_cast<hsize_t>(high - low), values.data() + (low - first), what);
      });
    }
  }

  void close() {
    for (OutputFile& file : files_) {
      const std::string what = file.path + ": cannot be written";
      step([&] { hdf5::check(H5Fflush(file.handle, H5F_SCOPE_GLOBAL), what); });
      step([&] { file.handle.close(what); });
      collective([&] { append_checksum(group_, file.path); });
    }
    agree();
    commit_together(all_, atomic_);
  }

  /// Closes what a failure left open; false if that failed on any rank.
  bool can_close() {
    int failures = 0;
    for (OutputFile& file : files_) try {
        file.handle.close(file.path);
      } catch (const InputError&) {
        ++failures;
      }
    return all_.sum(failures) == 0;
  }

  const Communicator& all_;
  const Particles& particles_;
  const WriteOptions& options_;
  Division division_;
  int group_index_;
  Communicator group_;
  Counts totals_{};
  Vec3d low_{}, high_{};            ///< bounds of the positions that are written
  std::exception_ptr fault_;        ///< what ended the work of the group
  std::vector<AtomicFile> atomic_;  ///< of each file, on the first rank of the group
  std::vector<OutputFile> files_;   ///< closed before atomic_ removes what is not complete
};

}  // namespace

std::vector<std::string> snapshot_files(const std::string& path, int files) {
  if (files <= 1) return {path};
  const std::filesystem::path name(path);
  std::vector<std::string> names;
  for (int f = 0; f < files; ++f) {
    std::filesystem::path part = name;
    part.replace_filename(fmt::format("{}.{}{}", name.stem().string(), f, name.extension().string()));
    names.push_back(part.string());
  }
  return names;
}

std::int64_t bytes_per_particle(const WriteOptions& options, std::size_t type, bool has_gas) {
  return static_cast<std::int64_t>(bytes_of_fields([&](const FieldInfo& info) {
    return is_written(info, options) && info.is_of(type) && (has_gas || !info.of_gas);
  }));
}

std::vector<std::string> initial_fields() {
  std::vector<std::string> names;
  for_each_field([&](const auto& field) {
    if (field.info.input) names.emplace_back(field.info.name);
  });
  return names;
}

FieldChoice fields_read(const WriteOptions& options) {
  return [options](const FieldInfo& info) {
    return info.name == fields::position.info.name || info.name == fields::type.info.name ||
           is_written(info, options);
  };
}

void write_snapshot(const Communicator& comm, const std::string& path, const Particles& particles,
                    const WriteOptions& options) {
  comm.together([&] { check_options(options, path); });
  SnapshotWriter(comm, particles, options).write(path);
}

}  // namespace grove
