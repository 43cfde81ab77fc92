#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/host/bisection_portable.hpp"

/// The search for the threshold on one axis that has a given number of particles below it.
namespace grove::bisection {

/// The order of particles on an axis.
struct Before {
  int axis;
  const ParticleId* id;
  bool operator()(const Record& a, const Record& b) const {
    return a[axis] != b[axis] ? a[axis] < b[axis] : id[a.index] < id[b.index];
  }
};

/// Puts the first k records of the order on the left, whatever the ties.
template <class Simd>
Parts divide_ties(std::span<Record> records, std::size_t k, int axis, const ParticleId* id) {
  const auto middle = records.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(records.begin(), middle, records.end(), Before{axis, id});
  return {k, Simd::bounds(records.data(), k), Simd::bounds(records.data() + k, records.size() - k)};
}

/// An interval of coordinates that holds the k-th key (from 0) of a set, or begins right where it should be
/// cut: `below` keys are less than low, `upto` less than high, below <= k < upto.
struct Bracket {
  std::uint64_t low, high;
  std::size_t below, upto;
  bool splits(std::size_t k) const { return below == k; }
};

/// Keys in which a bracket is looked for: at least all of those inside it.
struct Keys {
  const Coordinate* data;
  std::size_t count;
  std::size_t below;  ///< keys less than the bracket's low end that are not among them
};

/// Narrows a bracket until exactly k keys are less than its low end, or else it holds keys of one value only,
/// and the cut has to go between equal coordinates.
///
/// Interpolation on the counts at both ends takes few steps, because on the scale of a few particles the keys
/// in a cell are spread evenly; every third step halves the interval, which bounds their number whatever the
/// distribution. selected: scratch of keys.count + padding, may be keys.data.
template <class Simd>
Bracket narrow(Bracket b, std::size_t k, Keys keys, Coordinate* selected) {
  for (int step = 1; !b.splits(k) && b.high - b.low > 1; ++step) {
    if (keys.count > 256 && (b.upto - b.below) * 4 < keys.count) {
      const auto inside = Simd::select(keys.data, keys.count, static_cast<Coordinate>(b.low),
                                       static_cast<Coordinate>(b.high - 1), selected);
      keys = {selected, inside.count, b.below};
    }
    const std::uint64_t width = b.high - b.low;
    const std::uint64_t guess = step % 3 == 0 ? width / 2 : width * (k - b.below) / (b.upto - b.below);
    const std::uint64_t t = std::clamp(b.low + guess, b.low + 1, b.high - 1);
    const std::size_t less = keys.below + Simd::count_less(keys.data, keys.count, static_cast<Coordinate>(t));
    if (less <= k) {
      b.low = t;
      b.below = less;
    } else {
      b.high = t;
      b.upto = less;
    }
  }
  return b;
}

/// A sorted sample of many keys, evenly spaced in memory; it says roughly where a rank lies. The result of a
/// search is exact all the same.
class KeySample {
 public:
  KeySample(const Coordinate* keys, std::size_t count) : spacing_(count / size) {
    for (std::size_t i = 0; i < size; ++i) sample_[i] = keys[i * spacing_];
    std::sort(sample_.begin(), sample_.end());
  }

  /// Coordinates between which, most likely, lies the key of rank k.
  std::array<Coordinate, 2> around_rank(std::size_t k, Coordinate low, Coordinate high) const {
    const double fraction = static_cast<double>(k) / static_cast<double>(size * spacing_);
    const double spread = 3 * std::sqrt(size * std::max(0., fraction * (1 - fraction))) + 2;
    return window(static_cast<std::ptrdiff_t>(fraction * size), static_cast<std::ptrdiff_t>(spread), low,
                  high);
  }

  /// Coordinates that lie, most likely, at least `margin` ranks on either side of one.
  std::array<Coordinate, 2> around(Coordinate middle, Count margin, Coordinate low, Coordinate high) const {
    const double needed = static_cast<double>(margin) / static_cast<double>(spacing_);
    const double spread = needed + 3 * std::sqrt(needed) + 2;
    const auto rank = std::lower_bound(sample_.begin(), sample_.end(), middle) - sample_.begin();
    return window(rank, static_cast<std::ptrdiff_t>(spread), low, high);
  }

 private:
  static constexpr std::size_t size = 256;

  std::array<Coordinate, 2> window(std::ptrdiff_t rank, std::ptrdiff_t spread, Coordinate low,
                                   Coordinate high) const {
    const std::ptrdiff_t from = rank - spread, to = rank + spread;
    return {from < 0 ? low : sample_[static_cast<std::size_t>(from)],
            to >= static_cast<std::ptrdiff_t>(size) ? high : sample_[static_cast<std::size_t>(to)]};
  }

  std::array<Coordinate, size> sample_;
  std::size_t spacing_;
};

/// The search for one cut among the keys of a cell: one pass over all of them finds a window around the cut,
/// the rest happens in the window.
///
/// Select: called as select(low, high, selected), does Simd::select() on the keys of the cell.
template <class Simd, class Select>
class SearchWindow {
 public:
  /// keys: count, in low..high. selected: scratch of count + padding.
  SearchWindow(const Coordinate* keys, std::size_t count, Coordinate low, Coordinate high,
               Coordinate* selected, const Select& select)
      : select_(select),
        all_{keys, count, 0},
        low_(low),
        high_(high),
        selected_(selected),
        window_(all_),
        bracket_{low, std::uint64_t{high} + 1, 0, count} {}

  /// How many keys lie left of the middle. The cut will be at most `margin` ranks away.
  Count count_left_of(Coordinate middle, Count margin) {
    if (all_.count >= least_to_sample)
      open(KeySample(all_.data, all_.count).around(middle, margin, low_, high_));
    const std::size_t less = window_.below + Simd::count_less(window_.data, window_.count, middle);
    split_ = {middle, less};
    return static_cast<Count>(less);
  }

  /// The bracket of the k-th key, as narrow() leaves it.
  Bracket search(std::size_t k) {
    if (all_.count >= least_to_sample && window_.data == all_.data)
      open(KeySample(all_.data, all_.count).around_rank(k, low_, high_));
    Bracket b = bracket_;
    Keys keys = window_;
    if (k < b.below) {
      b = {low_, b.low, 0, b.below};
      keys = all_;
    } else if (k >= b.upto) {
      b = {b.high, std::uint64_t{high_} + 1, b.upto, all_.count};
      keys = all_;
    }
    if (split_.coordinate > b.low && split_.coordinate < b.high) {
      if (split_.less <= k)
        b.low = split_.coordinate, b.below = split_.less;
      else
        b.high = split_.coordinate, b.upto = split_.less;
    }
    return narrow<Simd>(b, k, keys, selected_);
  }

 private:
  static constexpr std::size_t least_to_sample = 2048;

  void open(const std::array<Coordinate, 2>& range) {
    const Selection inside = select_(range[0], range[1], selected_);
    window_ = {selected_, inside.count, inside.below};
    bracket_ = {range[0], std::uint64_t{range[1]} + 1, inside.below, inside.below + inside.count};
  }

  const Select& select_;
  Keys all_;
  Coordinate low_, high_;
  Coordinate* selected_;
  Keys window_;
  Bracket bracket_;
  struct {
    Coordinate coordinate = 0;
    std::size_t less = 0;
  } split_;  ///< what is known of the middle
};

}  // namespace grove::bisection
