#include "decomposition/root_cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/how_many.hpp"
#include "kernels/host/bisection_native.hpp"

namespace grove {

namespace {

/// Bounds of numbers x y z x y z ..., and whether all are finite.
class Extent {
 public:
  void add(std::span<const Vec3d> positions) {
    const double* numbers = positions.empty() ? nullptr : &positions[0].x;
    const std::size_t count = 3 * positions.size(), whole = count / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes)
      for (std::size_t k = 0; k < lanes; ++k) add(k, numbers[i + k]);
    for (std::size_t i = whole; i < count; ++i) add(i - whole, numbers[i]);
  }

  Vec3d low() const {
    return fold(low_, [](double a, double b) { return std::min(a, b); });
  }
  Vec3d high() const {
    return fold(high_, [](double a, double b) { return std::max(a, b); });
  }
  bool is_inside(const Box& box) const { return is_finite() && box.contains(low()) && box.contains(high()); }
  bool is_finite() const {
    return std::all_of(zero_.begin(), zero_.end(), [](double x) { return x == 0; });
  }

 private:
  /// Eight particles at once: a multiple of the three axes and of the widest vector.
  static constexpr std::size_t lanes = 24;
  using Lanes = std::array<double, lanes>;

  void add(std::size_t k, double x) {
    low_[k] = x < low_[k] ? x : low_[k];
    high_[k] = x > high_[k] ? x : high_[k];
    zero_[k] += 0 * x;
  }
  template <class Choose>
  static Vec3d fold(const Lanes& values, Choose choose) {
    Vec3d result{values[0], values[1], values[2]};
    for (std::size_t k = 3; k < lanes; ++k)
      result[static_cast<int>(k % 3)] = choose(result[static_cast<int>(k % 3)], values[k]);
    return result;
  }
  static Lanes all(double x) {
    Lanes lanes_of_x;
    lanes_of_x.fill(x);
    return lanes_of_x;
  }

  Lanes low_ = all(std::numeric_limits<double>::max());
  Lanes high_ = all(-std::numeric_limits<double>::max());
  Lanes zero_ = all(0);
};

[[noreturn]] void refuse_first_not_finite(const Particles& particles) {
  for (std::size_t i = 0; i < particles.size(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      if (!std::isfinite(particles.position[i][axis]))
        throw InputError(
            fmt::format("particle id {} has a position that is not a finite number", particles.id[i]));
  throw std::logic_error("all positions are finite");
}

/// Makes the records of a rank's particles.
class RecordMaker {
 public:
  explicit RecordMaker(RankParticles& own) : own_(own), positions_(own.particles.position) {
    own.records.reserve(positions_.size() + positions_.size() / 16);  // for the few that may come
    own.records.resize(positions_.size());
  }

  /// As long as positions are in the box. True if all are. extent: of all.
  bool make_inside(const Box& box, Extent& extent) {
    bounds_ = CellBounds::of_nothing();
    bool fits = true;
    for_each_block([&](std::size_t first, std::size_t count) {
      extent.add(positions_.subspan(first, count));
      fits = fits && extent.is_inside(box);
      if (fits) make(box, first, count);
    });
    return fits;
  }
  void make_all(const Box& box) {
    bounds_ = CellBounds::of_nothing();
    for_each_block([&](std::size_t first, std::size_t count) { make(box, first, count); });
  }
  /// The tight bounds of the records.
  const CellBounds& bounds() const { return bounds_; }

 private:
  void make(const Box& box, std::size_t first, std::size_t count) {
    make_records(box, own_.positions(first), count, &own_.records[first], first);
    const bisection::Bounds made = bisection::Native::bounds(&own_.records[first], count);
    bounds_ |= {made.low_corner(), made.high_corner()};
  }
  /// Blocks that stay in cache between two readings.
  template <class Visit>
  void for_each_block(Visit visit) const {
    constexpr std::size_t block = 512;
    for (std::size_t done = 0; done < positions_.size(); done += block)
      visit(done, std::min(block, positions_.size() - done));
  }

  RankParticles& own_;
  std::span<const Vec3d> positions_;
  CellBounds bounds_ = CellBounds::of_nothing();
};

}  // namespace

bool make_records_inside(RankParticles& own, const Box& box) {
  Extent extent;
  return RecordMaker(own).make_inside(box, extent);
}

Box take_all(const Communicator& comm, RankParticles& own, const CellAxes& axes,
             const std::optional<Box>& previous, Cell& root) {
  Box box = previous.value_or(Box{});
  box.axes = axes;
  RecordMaker records(own);
  Extent extent;
  if (previous)
    records.make_inside(box, extent);
  else
    extent.add(own.particles.position);

  Vec3d low = extent.low(), high = extent.high();
  comm.together([&] {
    if (!extent.is_finite()) refuse_first_not_finite(own.particles);
  });
  comm.min(std::span<double>(&low.x, 3));
  comm.max(std::span<double>(&high.x, 3));
  if (!previous || !box.contains(low) || !box.contains(high)) {
    comm.together([&] { box = Box::around(low, high); });
    box.axes = axes;
    records.make_all(box);
  }
  unite_bounds(comm, records.bounds(), root);
  return box;
}

void unite_bounds(const Communicator& comm, CellBounds own, Cell& root) {
  comm.min(std::span<Coordinate>(&own.low.x, 3));
  comm.max(std::span<Coordinate>(&own.high.x, 3));
  root.low = own.low;
  root.high = own.high;
}

CellAxes axes_of(const DecompositionParameters& parameters) {
  const bool turns = parameters.period == 0;
  switch (parameters.rule) {
    case CutRule::domains:
      return CellAxes::shifted(parameters.epoch, turns);
    case CutRule::middle:
      return turns ? CellAxes::turned(parameters.epoch) : CellAxes();
    default:
      return {};
  }
}

CutScheme scheme_of(const DecompositionParameters& parameters, Cell& root) {
  const Count count = root.count;
  if (count == 0) throw InputError("there are no particles to decompose");
  if (parameters.leaves > count)
    throw InputError(fmt::format("{} leaves were asked for, but there {} only {}", parameters.leaves,
                                 count == 1 ? "is" : "are", how_many(count, "particle")));
  const Count size = leaf_size_of(parameters, count);
  const bool exact = parameters.rule == CutRule::halves && parameters.leaf_size == 0 && parameters.leaves > 0;
  root.leaves = exact ? parameters.leaves : quanta(count, size);
  CutScheme scheme{parameters.rule, size, parameters.epoch};
  if (scheme.rule == CutRule::domains)
    scheme.domain_cell = std::max(
        parameters.domain_cell > 0 ? parameters.domain_cell : default_domain_cell(count, size), size);
  return scheme;
}

void check_leaves(const DecompositionParameters& parameters, LeafNumber leaves, int ranks) {
  constexpr LeafNumber most =
      std::numeric_limits<std::int32_t>::max() / 2;  // their cells have 32-bit indices
  if (parameters.all_cells && leaves > most)
    throw InputError(
        fmt::format("{} leaves are too many, as every rank gets all cells: choose larger leaves", leaves));
  if (leaves / ranks > most)
    throw InputError(fmt::format("{} leaves on {} are too many: choose larger leaves, or use more ranks",
                                 leaves, how_many(ranks, "rank")));
}

Count leaf_size_of(const DecompositionParameters& parameters, Count particles) {
  if (parameters.leaf_size > 0) return parameters.leaf_size;
  return parameters.leaves > 0 ? quanta(particles, parameters.leaves) : default_leaf_size(particles);
}

Count default_leaf_size(Count particles) {
  constexpr Count most = 4096, least = 64, multiple = 32;
  return std::clamp((particles / 64 + multiple / 2) / multiple * multiple, least, most);
}

Count default_domain_cell(Count particles, Count leaf_size) {
  return std::clamp(particles / 256, leaf_size, 32 * leaf_size);
}

}  // namespace grove
