#pragma once

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "fourier/line_transform.hpp"
#include "fourier/mesh_exchange.hpp"

namespace grove {

/// Fourier transforms of real values on a mesh that all ranks share. Every transform of one dimension is done
/// whole by one rank, so that results have the same bits on any number of ranks.
///
/// Cost: 3 n^2 transforms of n points, half of them over two rows at once or over conjugate modes only; one
/// exchange of all modes. Memory of a rank beside its arguments: one copy of its modes, 8 bytes for each of
/// its points, and the pieces that are under way.
class MeshTransform {
 public:
  /// points: n, at least 1, of any prime factors. The communicator must outlive this.
  MeshTransform(const Communicator& comm, int points) : exchange_(comm, points), line_(points) {}

  const Communicator& comm() const { return exchange_.comm(); }
  const MeshPart& part() const { return exchange_.part(); }

  /// modes[k] = sum over x of values[x] exp(-2 pi i k x / n). values: length part().values(), of modes:
  /// part().modes(). Collective.
  Array<Complex> forward(Array<double> values) const;
  /// values[x] = sum over k of modes[k] exp(2 pi i k x / n), where forward() and then this multiply by n^3.
  /// The imaginary parts of modes that are their own mirror images along z count as the others make them.
  /// Collective.
  Array<double> backward(Array<Complex> modes) const;

 private:
  Array<Complex> planes_of(Array<double> values) const;
  void transform_columns(Complex* data, std::size_t columns, bool forward) const;

  MeshExchange exchange_;
  LineTransform line_;
};

}  // namespace grove
