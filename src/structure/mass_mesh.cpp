#include "structure/mass_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "comm/exchange_plan.hpp"

namespace grove {
namespace {

/// A particle on its way to a mesh: its place in spacings, from 0 to n.
struct Deposit {
  Vec3d u;
  double mass;
};

/// The number of a point in a periodic mesh. It is hardly ever further than an edge away: a division would
/// take longer.
int periodic(int number, int points) {
  while (number < 0) number += points;
  while (number >= points) number -= points;
  return number;
}

/// In [0, points).
double place_on(const MassMesh& mesh, int points, double x) {
  const double parts = x / mesh.box * mesh.scale;
  double u = (parts - std::floor(parts)) * points - mesh.offset;
  if (u < 0) u += points;
  return u < points ? u : 0;
}

/// The rank that has each plane.
std::vector<int> owners_of_planes(const MeshTransform& transform) {
  const int points = transform.part().points, ranks = transform.comm().size();
  std::vector<int> owners;
  for (int rank = 0; rank < ranks; ++rank)
    owners.resize(static_cast<std::size_t>(MeshPart::of(points, rank, ranks).planes.last), rank);
  return owners;
}

/// Calls visit(rank) for those that have points of a particle, each once.
template <class Visit>
void for_each_receiver(const std::vector<int>& owners, Assignment assignment, const Deposit& particle,
                       const Visit& visit) {
  const int first = axis_weights(assignment, particle.u.x).first;
  int receivers[3];
  for (int i = 0; i < points_of(assignment); ++i) {
    const int plane = periodic(first + i, static_cast<int>(owners.size()));
    receivers[i] = owners[static_cast<std::size_t>(plane)];
    if (std::find(receivers, receivers + i, receivers[i]) == receivers + i) visit(receivers[i]);
  }
}

/// Adds what a particle gives to this rank's points.
void deposit(const MeshPart& part, Assignment assignment, const Deposit& particle, int exponent,
             Array<std::int64_t>& sums) {
  const int n = part.points, points = points_of(assignment);
  const AxisWeights x = axis_weights(assignment, particle.u.x), y = axis_weights(assignment, particle.u.y),
                    z = axis_weights(assignment, particle.u.z);
  const double mass = std::ldexp(particle.mass, exponent);
  for (int i = 0; i < points; ++i) {
    const int plane = periodic(x.first + i, n);
    if (plane < part.planes.first || plane >= part.planes.last) continue;
    for (int j = 0; j < points; ++j) {
      const auto row = (static_cast<std::size_t>(plane - part.planes.first) * static_cast<std::size_t>(n) +
                        static_cast<std::size_t>(periodic(y.first + j, n))) *
                       static_cast<std::size_t>(n);
      const double share = mass * (x.share[i] * y.share[j]);
      for (int k = 0; k < points; ++k)
        sums[row + static_cast<std::size_t>(periodic(z.first + k, n))] += std::llrint(share * z.share[k]);
    }
  }
}

/// Those of them that have points on this rank, from all ranks.
Array<Deposit> exchanged(const Communicator& comm, const std::vector<int>& owners, Assignment assignment,
                         const std::vector<Deposit>& particles) {
  std::vector<Count> counts(static_cast<std::size_t>(comm.size()), 0);
  for (const Deposit& particle : particles)
    for_each_receiver(owners, assignment, particle,
                      [&](int rank) { ++counts[static_cast<std::size_t>(rank)]; });
  const ExchangePlan plan(comm, counts);
  Array<Deposit> sent(static_cast<std::size_t>(plan.send_total()));
  std::vector<Count> next(plan.send_offsets().begin(), plan.send_offsets().end());
  for (const Deposit& particle : particles)
    for_each_receiver(owners, assignment, particle, [&](int rank) {
      sent[static_cast<std::size_t>(next[static_cast<std::size_t>(rank)]++)] = particle;
    });
  plan.apply(sent);
  return sent;
}

}  // namespace

AxisWeights axis_weights(Assignment assignment, double u) {
  if (assignment == Assignment::cic) {
    const double below = std::floor(u), f = u - below;
    return {static_cast<int>(below), {1 - f, f, 0}};
  }
  const double nearest = std::floor(u + 0.5), d = u - nearest;
  return {static_cast<int>(nearest) - 1,
          {0.5 * (0.5 - d) * (0.5 - d), 0.75 - d * d, 0.5 * (0.5 + d) * (0.5 + d)}};
}

Array<double> density_mesh(const MeshTransform& transform, std::span<const Vec3d> position,
                           std::span<const double> mass, const MassMesh& mesh) {
  constexpr std::size_t most_at_once = std::size_t{1} << 20;
  const Communicator& comm = transform.comm();
  const MeshPart& part = transform.part();
  const std::vector<int> owners = owners_of_planes(transform);
  const int exponent = 61 - std::ilogb(mesh.total) - 1;
  Array<std::int64_t> sums(part.values());
  std::fill(sums.begin(), sums.end(), 0);
  const auto rounds = comm.max(static_cast<Count>((position.size() + most_at_once - 1) / most_at_once));
  std::vector<Deposit> some;
  for (Count round = 0; round < rounds; ++round) {
    const std::size_t first = std::min(position.size(), static_cast<std::size_t>(round) * most_at_once);
    const std::size_t last = std::min(position.size(), first + most_at_once);
    some.clear();
    for (std::size_t i = first; i < last; ++i) {
      Deposit& particle = some.emplace_back(Deposit{{}, mass[i]});
      for (int axis = 0; axis < 3; ++axis) particle.u[axis] = place_on(mesh, part.points, position[i][axis]);
    }
    for (const Deposit& particle : exchanged(comm, owners, mesh.assignment, some))
      deposit(part, mesh.assignment, particle, exponent, sums);
  }
  const double points = std::pow(part.points, 3), factor = std::ldexp(points / mesh.total, -exponent);
  Array<double> density(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) density[i] = static_cast<double>(sums[i]) * factor;
  return density;
}

}  // namespace grove
