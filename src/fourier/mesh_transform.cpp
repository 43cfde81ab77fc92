#include "fourier/mesh_transform.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace grove {
namespace {

std::size_t at(int place) { return static_cast<std::size_t>(place); }

}  // namespace

/// Along the slowest of two axes, the other being `columns` long: a few lines side by side, which share the
/// lines of a cache.
void MeshTransform::transform_columns(Complex* data, std::size_t columns, bool forward) const {
  constexpr std::size_t beside = 8;
  const std::size_t n = at(part().points);
  std::vector<Complex> in(beside * n), out(beside * n);
  for (std::size_t first = 0; first < columns; first += beside) {
    const std::size_t some = std::min(beside, columns - first);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < some; ++c) in[c * n + i] = data[i * columns + first + c];
    for (std::size_t c = 0; c < some; ++c)
      forward ? line_.forward(&in[c * n], &out[c * n]) : line_.backward(&in[c * n], &out[c * n]);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < some; ++c) data[i * columns + first + c] = out[c * n + i];
  }
}

/// Transforms along z, two rows at once as real and imaginary parts of one, and along y.
Array<Complex> MeshTransform::planes_of(Array<double> values) const {
  const std::size_t n = at(part().points), half = at(part().half());
  Array<Complex> modes(at(part().planes.count()) * n * half);
  std::vector<Complex> in(n), out(n);
  for (std::size_t x = 0; x < at(part().planes.count()); ++x) {
    const double* const from = values.data() + x * n * n;
    Complex* const to = modes.data() + x * n * half;
    for (std::size_t y = 0; y < n; y += 2) {
      const bool two = y + 1 < n;
      for (std::size_t z = 0; z < n; ++z) in[z] = {from[y * n + z], two ? from[(y + 1) * n + z] : 0};
      line_.forward(in.data(), out.data());
      for (std::size_t z = 0; z < half; ++z) {
        const Complex a = out[z], b = std::conj(out[z == 0 ? 0 : n - z]);
        to[y * half + z] = 0.5 * (a + b);
        if (two) to[(y + 1) * half + z] = {0.5 * (a.imag() - b.imag()), -0.5 * (a.real() - b.real())};
      }
    }
    transform_columns(to, half, true);
  }
  return modes;
}

Array<Complex> MeshTransform::forward(Array<double> values) const {
  Array<Complex> modes = exchange_.rows_of(planes_of(std::move(values)));
  transform_columns(modes.data(), at(part().rows.count()) * at(part().half()), true);
  return modes;
}

Array<double> MeshTransform::backward(Array<Complex> modes) const {
  const std::size_t n = at(part().points), half = at(part().half());
  transform_columns(modes.data(), at(part().rows.count()) * half, false);
  Array<Complex> planes = exchange_.planes_of(std::move(modes));

  Array<double> values(part().values());
  std::vector<Complex> in(n), out(n);
  for (std::size_t x = 0; x < at(part().planes.count()); ++x) {
    Complex* const from = planes.data() + x * n * half;
    double* const to = values.data() + x * n * n;
    transform_columns(from, half, false);
    for (std::size_t y = 0; y < n; y += 2) {
      const bool two = y + 1 < n;
      for (std::size_t z = 0; z < half; ++z) {
        const bool is_own_image = z == 0 || 2 * z == n;
        Complex a = from[y * half + z], b = two ? from[(y + 1) * half + z] : 0;
        if (is_own_image) a = a.real(), b = b.real();
        in[z] = {a.real() - b.imag(), a.imag() + b.real()};
        if (!is_own_image) in[n - z] = {a.real() + b.imag(), b.real() - a.imag()};
      }
      line_.backward(in.data(), out.data());
      for (std::size_t z = 0; z < n; ++z) {
        to[y * n + z] = out[z].real();
        if (two) to[(y + 1) * n + z] = out[z].imag();
      }
    }
  }
  return values;
}

}  // namespace grove
