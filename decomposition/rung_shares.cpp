#include "decomposition/rung_shares.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace grove {
namespace {

constexpr std::size_t classes = PartWork::classes;

/// Work by kind of step: in steps of class c all particles of it and of deeper ones walk. Of every longest
/// step, by PartWork; and particles.
struct Load {
  std::array<double, classes> of_step{};
  double particles = 0;

  static Load of(const PartWork& part) {
    Load load;
    load.particles = static_cast<double>(part.particles);
    // A particle of class c has 2^c steps in one of class 0; of these one is of class 0, and 2^(s - 1) are of
    // class s.
    for (std::size_t c = 0; c < classes; ++c) {
      const double of_a_step = static_cast<double>(part.work[c]) / static_cast<double>(1U << c);
      load.of_step[0] += of_a_step;
      for (std::size_t s = 1; s <= c; ++s) load.of_step[s] += of_a_step * static_cast<double>(1U << (s - 1));
    }
    return load;
  }
  double all() const { return std::accumulate(of_step.begin(), of_step.end(), 0.0); }
  Load& operator+=(const Load& o) {
    for (std::size_t s = 0; s < classes; ++s) of_step[s] += o.of_step[s];
    particles += o.particles;
    return *this;
  }
  friend Load operator+(Load a, const Load& b) { return a += b; }
  friend Load operator-(Load a, const Load& b) {
    for (std::size_t s = 0; s < classes; ++s) a.of_step[s] -= b.of_step[s];
    a.particles -= b.particles;
    return a;
  }
};

/// Some parts in a row, shared by two sides in turn.
class Halving {
 public:
  /// left: of the speeds, what the left side has; most_left, most_right: particles.
  Halving(std::span<const Load> parts, double left, double most_left, double most_right)
      : left_(left), most_left_(most_left), most_right_(most_right), before_(parts.size() + 1) {
    for (std::size_t i = 0; i < parts.size(); ++i) before_[i + 1] = before_[i] + parts[i];
    all_ = before_.back();
    time_of_all_ = all_.all();
  }

  struct Cuts {
    std::array<std::size_t, 3> at{};
    std::size_t number = 1;
    bool left_first = true;

    bool is_left(std::size_t part) const {
      const auto passed = std::count_if(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(number),
                                        [part](std::size_t cut) { return cut <= part; });
      return (passed % 2 == 0) == left_first;
    }
  };

  Cuts best() const {
    const std::vector<std::size_t> grid = coarse();
    Best best;
    for (std::size_t a = 0; a < grid.size(); ++a) {
      consider({{grid[a]}, 1, true}, best);
      for (std::size_t b = a + 1; b < grid.size(); ++b) {
        for (const bool left_first : {true, false}) consider({{grid[a], grid[b]}, 2, left_first}, best);
        for (std::size_t c = b + 1; c < grid.size(); ++c)
          for (const bool left_first : {true, false})
            consider({{grid[a], grid[b], grid[c]}, 3, left_first}, best);
      }
    }
    refine(best);
    return best.cuts;
  }

 private:
  struct Best {
    Cuts cuts;
    double cost = std::numeric_limits<double>::infinity();
  };

  /// Places of cuts that have about equal parts of the work of all kinds of steps between them.
  std::vector<std::size_t> coarse() const {
    constexpr double places = 24;
    const auto measure = [&](const Load& load) {
      double sum = load.particles / std::max(all_.particles, 1.0);
      for (std::size_t s = 0; s < classes; ++s)
        if (all_.of_step[s] > 0) sum += load.of_step[s] / all_.of_step[s];
      return sum;
    };
    const double step = measure(all_) / places;
    std::vector<std::size_t> grid{0};
    for (std::size_t i = 1; i + 1 < before_.size(); ++i)
      if (measure(before_[i + 1] - before_[grid.back()]) > step) grid.push_back(i);
    grid.push_back(before_.size() - 1);
    return grid;
  }

  double cost(const Cuts& cuts) const {
    constexpr double of_a_cut = 1.0 / 64;
    Load side = before_[cuts.at[0]];  // the one that begins
    if (cuts.number > 1) side += (cuts.number > 2 ? before_[cuts.at[2]] : all_) - before_[cuts.at[1]];
    const double share = cuts.left_first ? left_ : 1 - left_,
                 most = cuts.left_first ? most_left_ : most_right_,
                 most_of_rest = cuts.left_first ? most_right_ : most_left_;
    double time = 0;
    for (std::size_t s = 0; s < classes; ++s)
      time += std::max(side.of_step[s] / share, (all_.of_step[s] - side.of_step[s]) / (1 - share));
    time *= 1 + of_a_cut * static_cast<double>(cuts.number - 1);
    const double excess =
        std::max(side.particles / most, (all_.particles - side.particles) / most_of_rest) - 1;
    return excess > 0 ? time + time_of_all_ * (1 + excess) : time;  // more than can be gained otherwise
  }
  void consider(const Cuts& cuts, Best& best) const {
    const double found = cost(cuts);
    if (found < best.cost) best = {cuts, found};
  }

  /// Cut by cut to the best place between its neighbours.
  void refine(Best& best) const {
    constexpr int rounds = 2;
    for (int round = 0; round < rounds; ++round)
      for (std::size_t c = 0; c < best.cuts.number; ++c) {
        const std::size_t from = c == 0 ? 0 : best.cuts.at[c - 1],
                          to = c + 1 == best.cuts.number ? before_.size() - 1 : best.cuts.at[c + 1];
        for (std::size_t place = from; place <= to; ++place) {
          Cuts cuts = best.cuts;
          cuts.at[c] = place;
          consider(cuts, best);
        }
      }
  }

  double left_, most_left_, most_right_;
  std::vector<Load> before_;  ///< [parts + 1] of those before each
  Load all_;
  double time_of_all_;  ///< that one rank would take
};

class RungShares {
 public:
  RungShares(std::span<const PartWork> parts, std::span<const std::uint32_t> speeds)
      : parts_(parts), speeds_(speeds), owners_(parts.size(), 0) {
    for (const PartWork& part : parts) loads_.push_back(Load::of(part));
    Load all;
    for (const Load& load : loads_) all += load;
    particles_of_speed_ = all.particles / sum_of_speeds(0, speeds.size());
  }

  std::vector<int> run() {
    std::vector<std::size_t> all(loads_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    share(all, 0, speeds_.size());
    return std::move(owners_);
  }

 private:
  double sum_of_speeds(std::size_t begin, std::size_t end) const {
    return std::accumulate(speeds_.begin() + static_cast<std::ptrdiff_t>(begin),
                           speeds_.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
  }

  /// Some parts among the ranks from one up to another one.
  void share(const std::vector<std::size_t>& parts, std::size_t first, std::size_t end) {
    if (end - first == 1) {
      for (const std::size_t part : parts) owners_[part] = static_cast<int>(first);
      return;
    }
    const std::size_t middle = first + (end - first) / 2;
    const double left = sum_of_speeds(first, middle), right = sum_of_speeds(middle, end);
    std::vector<Load> loads;
    for (const std::size_t part : parts) loads.push_back(loads_[part]);
    const Halving::Cuts cuts = Halving(loads, left / (left + right), most_particles(left, middle - first),
                                       most_particles(right, end - middle))
                                   .best();
    std::vector<std::size_t> sides[2];
    for (std::size_t i = 0; i < parts.size(); ++i) sides[cuts.is_left(i) ? 0 : 1].push_back(parts[i]);
    if (left == right && mean_rank(sides[0]) > mean_rank(sides[1])) std::swap(sides[0], sides[1]);
    share(sides[0], first, middle);
    share(sides[1], middle, end);
  }

  /// Of some ranks together, fewer than each may have, so that there is room left to divide them.
  double most_particles(double speed, std::size_t ranks) const {
    constexpr double more = 0.25;
    return (1 + more / (1 + std::log2(static_cast<double>(ranks)))) * particles_of_speed_ * speed;
  }

  /// That has the particles of some parts now: the side with the lesser one gets the lower ranks, so that
  /// fewer change hands.
  double mean_rank(const std::vector<std::size_t>& parts) const {
    double ranks = 0, particles = 0;
    for (const std::size_t part : parts) {
      ranks += static_cast<double>(parts_[part].ranks);
      particles += static_cast<double>(parts_[part].particles);
    }
    return particles > 0 ? ranks / particles : 0;
  }

  std::span<const PartWork> parts_;
  std::span<const std::uint32_t> speeds_;
  std::vector<Load> loads_;
  double particles_of_speed_;
  std::vector<int> owners_;
};

}  // namespace

double time_over_least(std::span<const PartWork> work, std::span<const std::uint32_t> speeds) {
  const double all_speeds = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  Load all, longest;
  for (std::size_t rank = 0; rank < work.size(); ++rank) {
    const Load load = Load::of(work[rank]);
    all += load;
    for (std::size_t s = 0; s < classes; ++s)
      longest.of_step[s] = std::max(longest.of_step[s], load.of_step[s] * all_speeds / speeds[rank]);
  }
  return all.all() > 0 ? longest.all() / all.all() : 1;
}

std::vector<int> owners_by_rungs(std::span<const PartWork> parts, std::span<const std::uint32_t> speeds) {
  return RungShares(parts, speeds).run();
}

}  // namespace grove
