#pragma once

#include <complex>
#include <cstddef>
#include <memory>

namespace grove {

using Complex = std::complex<double>;

/// Discrete Fourier transforms of one dimension, by KissFFT in double precision. Not for several threads at
/// once. Cost: n log n operations for each prime factor's size; slow where n has large ones.
class LineTransform {
 public:
  explicit LineTransform(int points);
  ~LineTransform();

  int points() const { return points_; }

  /// to[k] = sum over x of from[x] exp(-2 pi i k x / n), or with +; both of length n, not overlapping.
  void forward(const Complex* from, Complex* to) const;
  void backward(const Complex* from, Complex* to) const;

 private:
  struct Plans;
  int points_;
  std::unique_ptr<Plans> plans_;
};

}  // namespace grove
