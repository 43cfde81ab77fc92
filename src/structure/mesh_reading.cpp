#include "structure/mesh_reading.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "comm/exchange_plan.hpp"

namespace grove {
namespace {

/// The rank that has a plane.
int owner_of_plane(const MeshTransform& transform, int plane) {
  const int points = transform.part().points, ranks = transform.comm().size();
  int rank = 0;
  while (MeshPart::of(points, rank, ranks).planes.last <= plane) ++rank;
  return rank;
}

/// Gives a plane of values to the rank that has plane number `to`; returns the one that comes in turn. Ranks
/// without planes take part with none.
Array<double> exchanged_plane(const MeshTransform& transform, const Array<double>& values, int plane,
                              int to) {
  const MeshPart& part = transform.part();
  const auto n = static_cast<std::size_t>(part.points), size = n * n;
  std::vector<Count> counts(static_cast<std::size_t>(transform.comm().size()), 0);
  Array<double> sent;
  if (part.planes.count() > 0) {
    const int receiver = (to + part.points) % part.points;
    counts[static_cast<std::size_t>(owner_of_plane(transform, receiver))] = static_cast<Count>(size);
    const double* const first = values.data() + static_cast<std::size_t>(plane - part.planes.first) * size;
    sent.assign(first, first + size);
  }
  ExchangePlan(transform.comm(), counts).apply(sent);
  return sent;
}

}  // namespace

MeshReading::MeshReading(const MeshTransform& transform, Array<double> values)
    : points_(transform.part().points), planes_(transform.part().planes), own_(std::move(values)) {
  before_ = exchanged_plane(transform, own_, planes_.last - 1, planes_.last);
  behind_ = exchanged_plane(transform, own_, planes_.first, planes_.first - 1);
}

double MeshReading::at(const Vec3d& u) const {
  const AxisWeights x = axis_weights(Assignment::tsc, u.x), y = axis_weights(Assignment::tsc, u.y),
                    z = axis_weights(Assignment::tsc, u.z);
  const auto n = static_cast<std::size_t>(points_);
  const auto place = [&](int number) { return static_cast<std::size_t>((number + points_) % points_); };
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int plane = x.first + i;
    const double* const values = plane < planes_.first ? before_.data()
                                 : plane >= planes_.last
                                     ? behind_.data()
                                     : own_.data() + static_cast<std::size_t>(plane - planes_.first) * n * n;
    for (int j = 0; j < 3; ++j) {
      const double* const row = values + place(y.first + j) * n;
      double line = 0;
      for (int k = 0; k < 3; ++k) line += z.share[k] * row[place(z.first + k)];
      sum += x.share[i] * y.share[j] * line;
    }
  }
  return sum;
}

double cloud_transform(int number, int points) {
  const double x = std::numbers::pi * number / points;
  return number == 0 ? 1 : std::pow(std::sin(x) / x, 3);
}

}  // namespace grove
