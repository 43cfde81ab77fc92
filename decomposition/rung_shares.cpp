#include "decomposition/rung_shares.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>

namespace grove {
namespace {

constexpr std::size_t classes = PartWork::classes;

/// Work in a longest step by kind of step: in steps of class c all particles of it and of deeper ones walk.
struct Load {
  std::array<double, classes> of_step{};
  double particles = 0;

  /// in_each: what the particles of the part add to each step. deepest: the deepest class that has work.
  static Load of(const PartWork& part, double in_each, std::size_t deepest) {
    Load load;
    load.particles = static_cast<double>(part.particles);
    for (std::size_t s = 0; s <= deepest; ++s) load.of_step[s] = in_each * (s == 0 ? 1 : 1U << (s - 1));
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

/// Places at which sides change, ascending; the left side begins.
using Cuts = std::vector<std::size_t>;

/// Some parts in a row, shared by two sides in turn.
class Halving {
 public:
  /// left: what the left side has of all speeds; most_left, most_right: particles.
  Halving(std::span<const Load> parts, double left, double most_left, double most_right)
      : share_(left),
        most_left_(most_left),
        most_right_(most_right),
        before_(parts.size() + 1),
        left_before_(parts.size() + 1) {
    for (std::size_t i = 0; i < parts.size(); ++i) before_[i + 1] = before_[i] + parts[i];
    time_of_all_ = before_.back().all();
  }

  /// One cut, then stretches change sides as long as that saves time.
  Cuts best() {
    const std::vector<std::size_t> grid = coarse();
    cut_at({before_.size() - 1});
    find([&] {
      for (const std::size_t place : grid) consider(place, before_.size() - 1, 1);
    });
    refine();
    const auto flip_any = [&] {
      for (std::size_t a = 0; a < grid.size(); ++a)
        for (std::size_t b = a + 1; b < grid.size(); ++b)
          consider(grid[a], grid[b], cuts_.size() + added(grid[a]) + added(grid[b]));
    };
    while (find(flip_any)) refine();
    return cuts_;
  }

 private:
  /// Takes these cuts.
  void cut_at(Cuts cuts) {
    cuts_ = std::move(cuts);
    std::size_t next = 0;
    for (std::size_t i = 0; i + 1 < before_.size(); ++i) {
      while (next < cuts_.size() && cuts_[next] <= i) ++next;
      left_before_[i + 1] = left_before_[i];
      if (next % 2 == 0) left_before_[i + 1] += before_[i + 1] - before_[i];
    }
    best_ = {0, 0, cost(left_before_.back(), cuts_.size())};
  }

  /// Calls look(), which considers changes, and makes the best one. False: none saves anything.
  template <class Look>
  bool find(const Look& look) {
    look();
    if (best_.from == best_.to) return false;
    const Cuts ends{best_.from, best_.to};
    Cuts cuts;
    std::set_symmetric_difference(cuts_.begin(), cuts_.end(), ends.begin(), ends.end(),
                                  std::back_inserter(cuts));
    cut_at(std::move(cuts));
    return true;
  }
  /// The parts from one place to another one change sides, so that there are so many cuts.
  void consider(std::size_t from, std::size_t to, std::size_t cuts) {
    const Load left = left_before_[to] - left_before_[from], all = before_[to] - before_[from];
    const double found = cost(left_before_.back() + all - left - left, cuts);
    if (found < best_.cost) best_ = {from, to, found};
  }
  /// How many cuts more there are if parts change sides from a place on.
  std::size_t added(std::size_t place) const {
    return std::binary_search(cuts_.begin(), cuts_.end(), place) ? ~std::size_t{0} : 1;
  }

  /// Cut by cut to the best place between its neighbours.
  void refine() {
    constexpr int rounds = 2;
    for (int round = 0; round < rounds; ++round)
      for (std::size_t c = 0; c < cuts_.size(); ++c)
        find([&] {
          const std::size_t from = c == 0 ? 0 : cuts_[c - 1] + 1,
                            to = c + 1 == cuts_.size() ? before_.size() : cuts_[c + 1], own = cuts_[c];
          for (std::size_t place = from; place < to; ++place)
            consider(std::min(own, place), std::max(own, place), cuts_.size());
        });
  }

  /// Places of cuts that have about equal parts of the work of all kinds of steps between them.
  std::vector<std::size_t> coarse() const {
    constexpr double places = 32;
    const Load& all = before_.back();
    const auto measure = [&](const Load& load) {
      double sum = load.particles / std::max(all.particles, 1.0);
      for (std::size_t s = 0; s < classes; ++s)
        if (all.of_step[s] > 0) sum += load.of_step[s] / all.of_step[s];
      return sum;
    };
    const double step = measure(all) / places;
    std::vector<std::size_t> grid{0};
    for (std::size_t i = 1; i + 1 < before_.size(); ++i)
      if (measure(before_[i] - before_[grid.back()]) >= step) grid.push_back(i);
    grid.push_back(before_.size() - 1);
    return grid;
  }

  double cost(const Load& left, std::size_t cuts) const {
    constexpr double of_a_cut = 1.0 / 128;
    const Load right = before_.back() - left;
    double time = 0;
    for (std::size_t s = 0; s < classes; ++s)
      time += std::max(left.of_step[s] / share_, right.of_step[s] / (1 - share_));
    time *= 1 + of_a_cut * static_cast<double>(cuts);
    const double excess = std::max(left.particles / most_left_, right.particles / most_right_) - 1;
    return excess > 0 ? time + time_of_all_ * (1 + excess) : time;  // more than can be gained otherwise
  }

  struct Change {
    std::size_t from, to;
    double cost;  ///< afterwards
  };

  double share_, most_left_, most_right_;
  std::vector<Load> before_;       ///< [parts + 1] of those before each
  std::vector<Load> left_before_;  ///< of these the left ones
  double time_of_all_;             ///< that one rank would take
  Cuts cuts_;
  Change best_{};
};

class RungShares {
 public:
  RungShares(std::span<const PartWork> parts, std::span<const std::uint32_t> speeds, Count particle_work)
      : parts_(parts), speeds_(speeds), owners_(parts.size(), 0) {
    std::size_t deepest = 0;
    for (const PartWork& part : parts)
      for (std::size_t c = 0; c < classes; ++c)
        if (part.work[c] > 0) deepest = std::max(deepest, c);
    const double in_each = static_cast<double>(particle_work) / static_cast<double>(1U << deepest);
    for (const PartWork& part : parts)
      loads_.push_back(Load::of(part, in_each * static_cast<double>(part.particles), deepest));
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
    const Cuts cuts = Halving(loads, left / (left + right), most_particles(left, middle - first),
                              most_particles(right, end - middle))
                          .best();
    std::vector<std::size_t> sides[2];
    auto next = cuts.begin();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      while (next != cuts.end() && *next <= i) ++next;
      sides[(next - cuts.begin()) % 2].push_back(parts[i]);
    }
    const bool are_alike = left == right && middle - first == end - middle;
    if (are_alike && mean_rank(sides[0]) > mean_rank(sides[1])) std::swap(sides[0], sides[1]);
    share(sides[0], first, middle);
    share(sides[1], middle, end);
  }

  /// For some ranks together, fewer than each may have, so that there is room left to divide them.
  double most_particles(double speed, std::size_t ranks) const {
    constexpr double more = 0.25;
    return (1 + more / static_cast<double>(std::bit_width(ranks))) * particles_of_speed_ * speed;
  }

  /// The mean rank that has the particles of some parts now. The side with the lesser one gets the lower
  /// ranks, so that fewer particles change hands.
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

std::vector<int> owners_by_rungs(std::span<const PartWork> parts, std::span<const std::uint32_t> speeds,
                                 Count particle_work) {
  return RungShares(parts, speeds, particle_work).run();
}

}  // namespace grove
