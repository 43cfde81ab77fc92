#pragma once

#include <cstddef>
#include <cstdint>

namespace grove {

/// Planes or rows of a mesh that a rank has.
struct Slab {
  int first = 0, last = 0;  ///< last: behind it
  int count() const { return last - first; }
};

/// The number of a Fourier mode along each axis: wavenumber over 2 pi / L.
struct Mode {
  int x, y, z;

  std::int64_t square() const { return std::int64_t{x} * x + std::int64_t{y} * y + std::int64_t{z} * z; }
};

/// The part of a mesh of n^3 points, and of its Fourier modes, that one of `ranks` ranks has. Real values are
/// divided into planes of equal x, modes into those of equal y, equally many on each rank; ranks beyond n
/// have none. z goes fastest in both. As real values have modes f(-k) = conj(f(k)), only those with z from 0
/// to n/2 are there.
struct MeshPart {
  int points = 0;  ///< n
  Slab planes;     ///< of real values: value (x, y, z) is number ((x - planes.first) n + y) n + z
  Slab rows;       ///< of modes: mode (x, y, z), each counted from 0, is ((x rows.count()) + y - rows.first)
                   ///< half() + z

  static MeshPart of(int points, int rank, int ranks);

  int half() const { return points / 2 + 1; }
  std::size_t values() const { return size(planes.count(), points, points); }
  std::size_t modes() const { return size(points, rows.count(), half()); }

  /// The mode number of a place in the transform: from -(n-1)/2 to n/2.
  int number(int place) const { return place <= points / 2 ? place : place - points; }

  /// Calls visit(Mode, index) for the modes of this part in the order of their indices.
  template <class Visit>
  void for_each_mode(const Visit& visit) const {
    std::size_t index = 0;
    for (int x = 0; x < points; ++x)
      for (int y = rows.first; y < rows.last; ++y)
        for (int z = 0; z < half(); ++z) visit(Mode{number(x), number(y), z}, index++);
  }
  /// How many modes of a real field one stands for: itself, and its mirror image where that is not there.
  int copies(const Mode& mode) const { return mode.z == 0 || 2 * mode.z == points ? 1 : 2; }

 private:
  static std::size_t size(int a, int b, int c) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
  }
};

}  // namespace grove
