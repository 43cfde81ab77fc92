#include "structure/mass_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "comm/exchange_plan.hpp"

namespace grove {
namespace {

/// The ranks that get particles whose place along x is between two planes: those with points of their clouds
/// on any mesh that is meant, and perhaps one more.
class Receivers {
 public:
  Receivers(int points, int ranks) : points_(points) {
    std::vector<int> owners;
    for (int rank = 0; rank < ranks; ++rank)
      owners.resize(static_cast<std::size_t>(MeshPart::of(points, rank, ranks).planes.last), rank);
    for (int plane = 0; plane < points; ++plane) {
      begin_.push_back(ranks_.size());
      for (int other = plane - reach; other <= plane + reach; ++other) {
        const int owner = owners[static_cast<std::size_t>(periodic_point(other, points))];
        const auto own = ranks_.begin() + static_cast<std::ptrdiff_t>(begin_.back());
        if (std::find(own, ranks_.end(), owner) == ranks_.end()) ranks_.push_back(owner);
      }
    }
    begin_.push_back(ranks_.size());
  }

  std::size_t plane_below(const MassMesh& mesh, const MassPoint& particle) const {
    return static_cast<std::size_t>(mesh.place(particle.position.x, points_, 0));
  }
  std::span<const int> of(std::size_t plane) const {
    return std::span(ranks_).subspan(begin_[plane], begin_[plane + 1] - begin_[plane]);
  }

 private:
  /// A cloud of three points around u - 1/2 begins at floor(u) - 2, one around u ends at floor(u) + 2.
  static constexpr int reach = 2;

  int points_;
  std::vector<int> ranks_;          ///< of all planes
  std::vector<std::size_t> begin_;  ///< of each plane's
};

/// Those of them that have points on this rank, from all ranks.
Array<MassPoint> exchanged(const Communicator& comm, const Receivers& receivers, const MassMesh& mesh,
                           const std::vector<MassPoint>& particles) {
  std::vector<Count> counts(static_cast<std::size_t>(comm.size()), 0);
  std::vector<std::size_t> planes;
  for (const MassPoint& particle : particles) {
    planes.push_back(receivers.plane_below(mesh, particle));
    for (const int rank : receivers.of(planes.back())) ++counts[static_cast<std::size_t>(rank)];
  }
  const ExchangePlan plan(comm, counts);
  Array<MassPoint> sent(static_cast<std::size_t>(plan.send_total()));
  std::vector<Count> next(plan.send_offsets().begin(), plan.send_offsets().end());
  for (std::size_t i = 0; i < particles.size(); ++i)
    for (const int rank : receivers.of(planes[i]))
      sent[static_cast<std::size_t>(next[static_cast<std::size_t>(rank)]++)] = particles[i];
  plan.apply(sent);
  return sent;
}

}  // namespace

void bring_to_planes(const Communicator& comm, const MeshPart& part, std::span<const Vec3d> position,
                     std::span<const double> mass, const MassMesh& mesh,
                     const std::function<void(std::span<const MassPoint>)>& use) {
  constexpr std::size_t most_at_once = std::size_t{1} << 20;
  const Receivers receivers(part.points, comm.size());
  const auto rounds = comm.max(static_cast<Count>((position.size() + most_at_once - 1) / most_at_once));
  std::vector<MassPoint> some;
  for (Count round = 0; round < rounds; ++round) {
    const std::size_t first = std::min(position.size(), static_cast<std::size_t>(round) * most_at_once);
    const std::size_t last = std::min(position.size(), first + most_at_once);
    some.clear();
    for (std::size_t i = first; i < last; ++i) some.push_back({position[i], mass[i]});
    if (comm.size() == 1)
      use(some);
    else
      use(exchanged(comm, receivers, mesh, some));
  }
}

double density_factor(const MassMesh& mesh, int points) {
  return std::ldexp(std::pow(points, 3) / mesh.total, -mesh.exponent());
}

Array<double> density_mesh(const MeshTransform& transform, std::span<const Vec3d> position,
                           std::span<const double> mass, const MassMesh& mesh, double offset) {
  const MeshPart& part = transform.part();
  const MeshPlanes planes{part.points, part.planes.first, part.planes.last};
  const int exponent = mesh.exponent();
  Array<std::int64_t> sums(part.values());
  std::fill(sums.begin(), sums.end(), 0);
  bring_to_planes(transform.comm(), part, position, mass, mesh, [&](std::span<const MassPoint> particles) {
    for (const MassPoint& particle : particles)
      spread_mass(mesh, offset, exponent, planes, particle,
                  [&](std::size_t i, std::int64_t share) { sums[i] += share; });
  });
  const double factor = density_factor(mesh, part.points);
  Array<double> density(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) density[i] = static_cast<double>(sums[i]) * factor;
  return density;
}

}  // namespace grove
