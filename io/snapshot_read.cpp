#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <type_traits>

#include "base/errors.hpp"
#include "base/memory.hpp"
#include "io/shares.hpp"
#include "io/snapshot.hpp"
#include "io/snapshot_file.hpp"
#include "io/snapshot_set.hpp"

namespace grove {
namespace {

/// Reads this rank's share of the particles; particles of one type after the other.
class ShareReader {
 public:
  ShareReader(const SnapshotHeader& header, int rank, int ranks)
      : header_(header), rank_(rank), ranks_(ranks) {}

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
                      header_.files[0], count, header_.count()));
    }
  }

  void read_type(std::size_t type) {
    const Count first = begin(type), last = end(type);
    Count before = 0;  // particles of this type in earlier files
    for (std::size_t f = 0; f < header_.files.size(); ++f) {
      const Count from = std::max(first, before), to = std::min(last, before + header_.file_counts[f][type]);
      if (from < to) read_part(f, type, from - before, to - from);
      before += header_.file_counts[f][type];
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
      file_ = open_snapshot_file(header_.files[file_index]);
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

SnapshotHeader read_snapshot_header(const Communicator& comm, const std::string& path,
                                    const ReadOptions& options) {
  Snapshot snapshot;
  snapshot.header = open_set(comm, path, options);
  comm.together([&] {
    if (options.convert_to) convert(snapshot, *options.convert_to, path);
  });
  return snapshot.header;
}

Snapshot read_snapshot(const Communicator& comm, const std::string& path, const ReadOptions& options) {
  Snapshot snapshot;
  snapshot.header = open_set(comm, path, options);
  comm.together([&] {
    snapshot.particles = ShareReader(snapshot.header, comm.rank(), comm.size()).read();
    if (options.convert_to) convert(snapshot, *options.convert_to, path);
  });
  return snapshot;
}

}  // namespace grove
