#include "structure/gpu/device_power.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "comm/exchange_plan.hpp"
#include "fourier/mesh_exchange.hpp"
#include "kernels/cuda/device/available_memory.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/fourier/mesh_deposit.hpp"
#include "kernels/cuda/fourier/mesh_transforms.hpp"
#include "kernels/cuda/fourier/shell_sums.hpp"
#include "structure/mass_mesh.hpp"
#include "structure/shell_tables.hpp"

namespace grove {
namespace {

constexpr std::size_t particles_at_once = std::size_t{1} << 20;

std::size_t at(int place) { return static_cast<std::size_t>(place); }

/// How the device memory is used.
struct MeshRoom {
  double fixed;     ///< bytes, whatever the planes
  double of_plane;  ///< of the sums of a plane, of all meshes
  double of_modes;  ///< of the modes of a plane, of all meshes

  explicit MeshRoom(const PowerMesh& mesh) {
    const double meshes = static_cast<double>(mesh.used_offsets().size()), n = mesh.points,
                 half = mesh.points / 2 + 1;
    of_plane = meshes * sizeof(std::int64_t) * n * n;
    of_modes = meshes * sizeof(FieldMode) * n * half;
    fixed = sizeof(double) * n * n + of_modes + sizeof(MassPoint) * double{particles_at_once} +
            cuda::MeshTransforms::bytes(mesh.points) + cuda::ShellSums::bytes(mesh.points);
  }
};

/// MeshExchange::rows_of() from GPU to GPU. Device memory: three times that of the modes.
cuda::DeviceArray<FieldMode> rows_between_gpus(const MeshExchange& modes, const DeviceExchange& exchange,
                                               cuda::DeviceArray<FieldMode> planes) {
  const Communicator& comm = modes.comm();
  if (comm.size() == 1) return planes;
  const MeshPart& part = modes.part();
  const auto self = at(comm.rank());
  std::vector<Count> to = modes.elements(true), from = modes.elements(false);
  const auto own = static_cast<std::size_t>(std::exchange(to[self], 0));
  from[self] = 0;
  const ExchangePlan plan(comm, to, from);
  // Rows of a rank in all planes here, one plane behind the other.
  const auto gather = [&](const Slab& rows, FieldMode* into) {
    const std::size_t line = at(part.half()) * sizeof(FieldMode);
    cuda::gather_rows(into, planes.data() + at(rows.first) * at(part.half()), at(part.points) * line,
                      at(rows.count()) * line, at(part.planes.count()));
  };
  cuda::DeviceArray<FieldMode> sent(static_cast<std::size_t>(plan.send_total()));
  const cuda::DeviceArray<FieldMode> arrived(static_cast<std::size_t>(plan.receive_total()));
  for (int rank = 0; rank < comm.size(); ++rank)
    if (to[at(rank)] > 0)
      gather(MeshPart::of(part.points, rank, comm.size()).rows, sent.data() + plan.send_offsets()[at(rank)]);
  exchange.apply(plan, sent.data(), arrived.data(), sizeof(FieldMode));
  sent = {};
  // Planes come in the order of the ranks; this rank's own are between those of the ones before and behind.
  cuda::DeviceArray<FieldMode> rows(part.modes());
  const auto before = static_cast<std::size_t>(plan.receive_offsets()[self]);
  cuda::device_copy(rows.data(), arrived.data(), before * sizeof(FieldMode));
  if (own > 0) gather(part.rows, rows.data() + before);
  cuda::device_copy(rows.data() + before + own, arrived.data() + before,
                    (arrived.size() - before) * sizeof(FieldMode));
  return rows;
}

/// The modes of this rank's planes after transforms along y and z: in device memory, or in that of the host.
class PlaneModes {
 public:
  PlaneModes(const MeshExchange& exchange, bool on_device) : exchange_(exchange), is_on_device_(on_device) {
    const std::size_t modes = at(exchange.part().planes.count()) * plane();
    if (on_device)
      on_device_ = cuda::DeviceArray<FieldMode>(modes);
    else
      on_host_ = Array<Complex>(modes);
  }

  /// modes (device): of plane x of this rank.
  void put(int x, const FieldMode* modes) {
    const std::size_t begin = at(x) * plane(), bytes = plane() * sizeof(FieldMode);
    if (is_on_device_)
      cuda::device_copy(on_device_.data() + begin, modes, bytes);
    else
      cuda::device_download(on_host_.data() + begin, modes, bytes);
  }
  /// Collective, after all planes are there and before rows are taken.
  void exchange(const DeviceExchange& between_gpus) {
    if (is_on_device_)
      on_device_ = rows_between_gpus(exchange_, between_gpus, std::move(on_device_));
    else
      on_host_ = exchange_.rows_of(std::move(on_host_));
  }
  /// modes (out, device): [x][half], those of row y of this rank.
  void take(int y, FieldMode* modes) const {
    const MeshPart& part = exchange_.part();
    const std::size_t width = at(part.half()) * sizeof(FieldMode), pitch = at(part.rows.count()) * width;
    const void* const from = is_on_device_ ? static_cast<const void*>(on_device_.data())
                                           : static_cast<const void*>(on_host_.data());
    cuda::gather_rows(modes, static_cast<const std::byte*>(from) + at(y) * width, pitch, width,
                      at(part.points));
  }

 private:
  std::size_t plane() const { return at(exchange_.part().points) * at(exchange_.part().half()); }

  const MeshExchange& exchange_;
  bool is_on_device_;
  cuda::DeviceArray<FieldMode> on_device_;
  Array<Complex> on_host_;
};

/// One estimate.
class Measurement {
 public:
  Measurement(const Communicator& comm, const PowerMesh& mesh, bool on_device)
      : mesh_(mesh), exchange_(comm, mesh.points), transforms_(mesh.points) {
    modes_.reserve(mesh.used_offsets().size());
    for (std::size_t i = 0; i < mesh.used_offsets().size(); ++i) modes_.emplace_back(exchange_, on_device);
  }

  const MeshPart& part() const { return exchange_.part(); }

  /// Planes first ... last - 1 of this rank. Collective.
  void make_planes(int first, int last, std::span<const Vec3d> position, std::span<const double> mass) {
    const MeshPlanes planes{mesh_.points, part().planes.first + first, part().planes.first + last};
    const std::size_t points = at(mesh_.points) * at(mesh_.points), all = points * at(last - first);
    std::vector<cuda::DeviceArray<std::int64_t>> sums;
    for (std::size_t i = 0; i < modes_.size(); ++i) sums.emplace_back(all).clear();
    cuda::DeviceArray<MassPoint> some(particles_at_once);
    bring_to_planes(exchange_.comm(), part(), position, mass, mesh_.mass,
                    [&](std::span<const MassPoint> particles) {
                      for (std::size_t done = 0; done < particles.size(); done += particles_at_once) {
                        const std::size_t count = std::min(particles_at_once, particles.size() - done);
                        some.upload(particles.subspan(done, count));
                        for (std::size_t i = 0; i < modes_.size(); ++i)
                          cuda::deposit_mass(some.data(), count, mesh_.mass, mesh_.used_offsets()[i], planes,
                                             sums[i].data());
                      }
                    });
    const double factor = density_factor(mesh_.mass, mesh_.points);
    const cuda::DeviceArray<double> density(points);
    const cuda::DeviceArray<FieldMode> modes(at(mesh_.points) * at(part().half()));
    for (std::size_t i = 0; i < modes_.size(); ++i)
      for (int x = first; x < last; ++x) {
        cuda::make_densities(sums[i].data() + at(x - first) * points, factor, points, density.data());
        transforms_.transform_plane(density.data(), modes.data());
        modes_[i].put(x, modes.data());
      }
  }

  /// After all planes. Collective.
  std::vector<ShellTotals> sum(const DeviceExchange& between_gpus) {
    for (PlaneModes& modes : modes_) modes.exchange(between_gpus);
    const ShellTables tables(mesh_.mass.assignment, mesh_.points);
    cuda::ShellSums shells(tables.shells(mesh_.first, mesh_.last, mesh_.interlaced));
    std::vector<cuda::DeviceArray<FieldMode>> rows;
    for (std::size_t i = 0; i < modes_.size(); ++i) rows.emplace_back(at(mesh_.points) * at(part().half()));
    for (int y = 0; y < part().rows.count(); ++y) {
      for (std::size_t i = 0; i < modes_.size(); ++i) {
        modes_[i].take(y, rows[i].data());
        transforms_.transform_row(rows[i].data());
      }
      shells.add_row(part().number(part().rows.first + y), rows.front().data(), rows.back().data());
    }
    std::vector<ShellTotals> totals = shells.totals();
    sum_over_ranks(exchange_.comm(), totals);
    return totals;
  }

 private:
  const PowerMesh& mesh_;
  MeshExchange exchange_;
  cuda::MeshTransforms transforms_;
  std::vector<PlaneModes> modes_;  ///< of each mesh
};

}  // namespace

std::vector<ShellTotals> DevicePower::totals(const Communicator& comm, std::span<const Vec3d> position,
                                             std::span<const double> mass, const PowerMesh& mesh) const {
  const MeshRoom need(mesh);
  const double room = this->room(), free = room - need.fixed;
  if (comm.max(free < need.of_plane ? 1 : 0) > 0) return HostPower().totals(comm, position, mass, mesh);
  const int planes = MeshPart::of(mesh.points, comm.rank(), comm.size()).planes.count();
  // Beside the modes of all meshes there are first the sums, later what one mesh sends and receives, or has
  // received and becomes.
  const double of_exchange =
      comm.size() > 1 ? 2 * need.of_modes / static_cast<double>(mesh.used_offsets().size()) : 0;
  const double beside_modes = std::max(need.of_plane, of_exchange);
  const bool stays = comm.max(Count{planes * (need.of_modes + beside_modes) < free ? 0 : 1}) == 0;
  const int at_once = stays ? planes : static_cast<int>(std::min<double>(planes, free / need.of_plane));
  const int blocks = comm.max(at_once > 0 ? (planes + at_once - 1) / at_once : 1);
  const cuda::SpareMemory spare;
  const cuda::MemoryPurpose purpose("the power spectrum", mass.size(),
                                    room / std::max<double>(1, static_cast<double>(mass.size())));
  Measurement measurement(comm, mesh, stays);
  for (int block = 0; block < blocks; ++block) {
    const int first = std::min(planes, block * at_once);
    measurement.make_planes(first, std::min(planes, first + at_once), position, mass);
  }
  return measurement.sum(exchange_);
}

/// A share of what nobody has taken, with some of it left.
double DevicePower::room() const {
  return 0.9 * static_cast<double>(cuda::available_device_memory() - cuda::device_memory_use().now) / users_;
}

}  // namespace grove
