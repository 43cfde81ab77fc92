#include "fourier/mesh_transform.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/shares.hpp"
#include "comm/exchange_plan.hpp"

namespace grove {
namespace {

std::size_t at(int place) { return static_cast<std::size_t>(place); }

Slab share(int points, int rank, int ranks) {
  return {static_cast<int>(share_begin(points, rank, ranks)),
          static_cast<int>(share_begin(points, rank + 1, ranks))};
}

/// A piece of the modes that a rank exchanges with another: of whole planes [x][rows of one rank][z], beside
/// which the planes have all rows. Calls copy(in planes, in piece, count) for each run.
template <class Copy>
void for_each_run(const MeshPart& part, const Slab& rows, std::size_t begin, std::size_t count,
                  const Copy& copy) {
  const std::size_t run = at(rows.count()) * at(part.half()), plane = at(part.points) * at(part.half());
  for (std::size_t done = 0; done < count;) {
    const std::size_t x = (begin + done) / run, inside = (begin + done) % run;
    const std::size_t some = std::min(run - inside, count - done);
    copy(x * plane + at(rows.first) * at(part.half()) + inside, done, some);
    done += some;
  }
}

/// The rank whose elements begin at offsets[rank] or before.
int rank_of(std::span<const Count> offsets, std::size_t begin) {
  const auto after = std::upper_bound(offsets.begin(), offsets.end(), static_cast<Count>(begin));
  return static_cast<int>(after - offsets.begin()) - 1;
}

}  // namespace

MeshPart MeshPart::of(int points, int rank, int ranks) {
  return {points, share(points, rank, ranks), share(points, rank, ranks)};
}

MeshTransform::MeshTransform(const Communicator& comm, int points)
    : comm_(comm), part_(MeshPart::of(points, comm.rank(), comm.size())), line_(points) {}

/// How many modes are exchanged with each rank: of this rank's planes and its rows, or the other way around.
std::vector<Count> MeshTransform::elements(bool of_planes) const {
  std::vector<Count> counts;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const int other = share(part_.points, rank, comm_.size()).count();
    counts.push_back(Count{other} * (of_planes ? part_.planes : part_.rows).count() * part_.half());
  }
  return counts;
}

/// Along the slowest of two axes, the other being `columns` long: a few lines side by side, which share the
/// lines of a cache.
void MeshTransform::transform_columns(Complex* data, std::size_t columns, bool forward) const {
  constexpr std::size_t beside = 8;
  const std::size_t n = at(part_.points);
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
  const std::size_t n = at(part_.points), half = at(part_.half());
  Array<Complex> modes(at(part_.planes.count()) * n * half);
  std::vector<Complex> in(n), out(n);
  for (std::size_t x = 0; x < at(part_.planes.count()); ++x) {
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
  const Array<Complex> planes = planes_of(std::move(values));
  const ExchangePlan plan(comm_, elements(true), elements(false));
  Array<Complex> modes(part_.modes());
  plan.apply(
      [&](std::size_t begin, std::span<Complex> piece) {
        const int to = rank_of(plan.send_offsets(), begin);
        for_each_run(part_, share(part_.points, to, comm_.size()),
                     begin - static_cast<std::size_t>(plan.send_offsets()[at(to)]), piece.size(),
                     [&](std::size_t place, std::size_t i, std::size_t count) {
                       std::copy_n(planes.data() + place, count, piece.data() + i);
                     });
      },
      std::span<Complex>(modes));
  transform_columns(modes.data(), at(part_.rows.count()) * at(part_.half()), true);
  return modes;
}

Array<double> MeshTransform::backward(Array<Complex> modes) const {
  const std::size_t n = at(part_.points), half = at(part_.half());
  transform_columns(modes.data(), at(part_.rows.count()) * half, false);
  const ExchangePlan plan(comm_, elements(false), elements(true));
  Array<Complex> planes(at(part_.planes.count()) * n * half);
  Array<Complex> arriving;
  plan.apply({[&](std::size_t begin, std::size_t) { return modes.data() + begin; },
              [&](std::size_t, std::size_t count) {
                arriving.resize(count);
                return arriving.data();
              },
              [&](std::size_t begin, std::size_t count) {
                const int from = rank_of(plan.receive_offsets(), begin);
                for_each_run(part_, share(part_.points, from, comm_.size()),
                             begin - static_cast<std::size_t>(plan.receive_offsets()[at(from)]), count,
                             [&](std::size_t place, std::size_t i, std::size_t some) {
                               std::copy_n(arriving.data() + i, some, planes.data() + place);
                             });
              }},
             sizeof(Complex));
  Array<Complex>().swap(modes);

  Array<double> values(part_.values());
  std::vector<Complex> in(n), out(n);
  for (std::size_t x = 0; x < at(part_.planes.count()); ++x) {
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
