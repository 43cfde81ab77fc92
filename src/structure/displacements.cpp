#include "structure/displacements.hpp"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "structure/gaussian_field.hpp"
#include "structure/mesh_reading.hpp"

namespace grove {
namespace {

int component(const Mode& mode, int axis) { return axis == 0 ? mode.x : axis == 1 ? mode.y : mode.z; }

/// Values at the middles of cells rather than at their corners.
void shift_to_middles(const MeshPart& part, Array<Complex>& modes) {
  std::vector<Complex> factor;  // of mode numbers from -n on
  for (int m = -part.points; m <= part.points; ++m)
    factor.push_back(std::polar(1.0, std::numbers::pi * m / part.points));
  const auto of = [&](int m) { return factor[static_cast<std::size_t>(m + part.points)]; };
  part.for_each_mode(
      [&](const Mode& mode, std::size_t index) { modes[index] *= of(mode.x) * of(mode.y) * of(mode.z); });
}

}  // namespace

Displacements::Displacements(const MeshTransform& transform, Array<Complex> density, double box,
                             bool second_order, const std::function<void()>& pause, bool for_clouds)
    : transform_(transform), box_(box), for_clouds_(for_clouds), first_(std::move(density)) {
  shift_to_middles(transform_.part(), first_);
  if (second_order) second_ = source(pause);
}

/// Second derivatives of phi1.
Array<double> Displacements::tidal(int i, int j) const {
  Array<Complex> modes(first_.size());
  transform_.part().for_each_mode([&](const Mode& mode, std::size_t index) {
    const bool counts = mode.square() > 0 && !is_nyquist(transform_.part(), mode);
    const double factor = counts ? static_cast<double>(component(mode, i) * component(mode, j)) /
                                       static_cast<double>(mode.square())
                                 : 0;
    modes[index] = factor * first_[index];
  });
  return transform_.backward(std::move(modes));
}

Array<Complex> Displacements::source(const std::function<void()>& pause) const {
  const auto done = [&] {
    if (pause) pause();
  };
  Array<double> sum = tidal(0, 0), result(sum.size());
  done();
  for (int axis = 1; axis < 3; ++axis) {
    const Array<double> next = tidal(axis, axis);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      result[i] = (axis == 1 ? 0 : result[i]) + sum[i] * next[i];
      sum[i] += next[i];
    }
    done();
  }
  Array<double>().swap(sum);
  for (const auto& [i, j] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
    const Array<double> mixed = tidal(i, j);
    for (std::size_t k = 0; k < result.size(); ++k) result[k] -= mixed[k] * mixed[k];
    done();
  }
  Array<Complex> modes = transform_.forward(std::move(result));
  const double points = std::pow(transform_.part().points, 3);
  for (Complex& mode : modes) mode /= points;
  return modes;
}

/// Along an axis, of minus the inverse Laplacian.
Array<double> Displacements::gradient(const Array<Complex>& from, int axis, double sign) const {
  Array<Complex> modes(from.size());
  const double unit = sign * box_ / (2 * std::numbers::pi);
  const auto cloud = [n = transform_.part().points](int number) { return cloud_transform(number, n); };
  transform_.part().for_each_mode([&](const Mode& mode, std::size_t index) {
    const bool counts = mode.square() > 0 && !is_nyquist(transform_.part(), mode);
    double factor = counts ? unit * component(mode, axis) / static_cast<double>(mode.square()) : 0;
    if (for_clouds_) factor /= cloud(mode.x) * cloud(mode.y) * cloud(mode.z);
    modes[index] = Complex(-factor * from[index].imag(), factor * from[index].real());
  });
  return transform_.backward(std::move(modes));
}

}  // namespace grove
