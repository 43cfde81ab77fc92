#include "decomposition/leaf_balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decomposition/leaf_runs.hpp"

namespace grove {
namespace {

/// The least share of the time that is to be saved.
constexpr double noise = 1.0 / 32;
/// The weight of a new measurement in its mean with the one before.
constexpr double weight_of_new = 0.5;

/// How long shares in the ratio of some speeds take on ranks of others, if all work is 1.
double time_of_shares(std::span<const double> shares, std::span<const double> speeds) {
  double longest = 0;
  for (std::size_t rank = 0; rank < shares.size(); ++rank)
    longest = std::max(longest, shares[rank] / speeds[rank]);
  return longest / std::accumulate(shares.begin(), shares.end(), 0.0);
}

}  // namespace

void LeafBalance::stepped(std::span<const RankSteps> steps) {
  speeds_.add(steps);
  last_.assign(steps.begin(), steps.end());
}

void LeafBalance::decomposed(double now) {
  if (is_decomposed_) {
    const double interval = now - last_decomposition_;
    interval_ = interval_ == 0 ? interval : interval_ + weight_of_new * (interval - interval_);
  }
  is_decomposed_ = true;
  refused_.reset();
  last_decomposition_ = now;
}

void LeafBalance::moved(Count particles, double seconds) {
  constexpr double most = 4;  // a single stall does not end all moves
  const double ratio = std::min(seconds / cost(particles), most);
  slowness_ *= 1 + weight_of_new * (ratio - 1);
}

/// Until the next decomposition. One that is late is expected to take as long again.
double LeafBalance::steps_left(double now) const {
  const double age = now - last_decomposition_;
  return age < interval_ ? interval_ - age : age;
}

bool LeafBalance::pays(double before, double after, double cost, double now) const {
  const double saving = before - after;
  return saving > noise * before && saving * steps_left(now) > cost;
}

std::vector<std::uint32_t> LeafBalance::speeds_of_shares() {
  constexpr double unit = 1 << 20;
  if (speeds_.are_known()) {
    const std::vector<double> typical = bounded_speeds(speeds_.typical());
    const bool all_agree =
        std::all_of(speeds_.seen().begin(), speeds_.seen().end(), [&](const std::vector<double>& speeds) {
          return time_of_shares(typical, speeds) < (1 - noise) * time_of_shares(in_force_, speeds);
        });
    if (all_agree) in_force_ = typical;
  }
  const double most = *std::max_element(in_force_.begin(), in_force_.end());
  std::vector<std::uint32_t> result;
  for (const double speed : in_force_)
    result.push_back(std::max(1U, static_cast<std::uint32_t>(std::lround(unit * speed / most))));
  return result;
}

std::uint32_t LeafBalance::particle_cost() {
  if (!speeds_.are_known()) return particle_cost_;
  constexpr double change = 1.25, most = ~std::uint32_t{0};
  const double seen = std::min(speeds_.particle_cost(), most), known = particle_cost_;
  if (seen > change * known || change * seen < known)
    particle_cost_ = static_cast<std::uint32_t>(std::lround(seen));
  return particle_cost_;
}

LeafBalance::Times LeafBalance::times() const {
  const std::vector<double> speeds = speeds_.typical();
  Times result;
  double all = 0;
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    const double own = work(last_[rank]);
    result.longest = std::max(result.longest, own / speeds[rank]);
    all += own;
  }
  result.least = all / std::accumulate(speeds.begin(), speeds.end(), 0.0);
  return result;
}

void LeafBalance::refuse(double now) {
  const Times taken = times();
  // Typical speeds have changed; those of all steps that are remembered will have soon, so that moves pay.
  if (refused_ && refused_->times.differ_from(taken)) pause_ = 1;
  refused_ = Refusal{taken, now + pause_};
  pause_ *= 2;
}

bool LeafBalance::Times::differ_from(const Times& o) const {
  return std::abs(longest - o.longest) > noise * o.longest || std::abs(least - o.least) > noise * o.least;
}

bool LeafBalance::may_pay(double now) const {
  if (!speeds_.are_known()) return false;
  if (refused_ && now < refused_->until && !refused_->times.differ_from(times())) return false;
  double all = 0;
  for (const RankSteps& steps : last_) all += work(steps);
  return std::all_of(speeds_.seen().begin(), speeds_.seen().end(), [&](const std::vector<double>& speeds) {
    double longest = 0;
    for (std::size_t rank = 0; rank < speeds.size(); ++rank)
      longest = std::max(longest, work(last_[rank]) / speeds[rank]);
    return pays(longest, all / std::accumulate(speeds.begin(), speeds.end(), 0.0), cost(0), now);
  });
}

std::optional<std::vector<std::int32_t>> LeafBalance::choose(std::span<const Count> interactions,
                                                             std::span<const Count> particles,
                                                             std::span<const std::int32_t> current,
                                                             double now) {
  if (!speeds_.are_known()) return std::nullopt;
  // All ranks make the same steps.
  RankSteps steps;
  for (const RankSteps& own : last_) steps += own;
  const Count all = std::accumulate(particles.begin(), particles.end(), Count{0}),
              of_particle = Count{particle_cost_} * (all > 0 ? steps.particles / all : 0);
  std::vector<Count> work(interactions.begin(), interactions.end());
  for (std::size_t i = 0; i < work.size(); ++i) work[i] += of_particle * particles[i];
  std::vector<std::int32_t> runs = runs_of_least_time(work, particles, current, speeds_.typical());
  const double expected = cost(most_moved(particles, current, runs));
  const bool all_agree =
      std::all_of(speeds_.seen().begin(), speeds_.seen().end(), [&](const std::vector<double>& speeds) {
        return pays(longest_time(work, current, speeds), longest_time(work, runs, speeds), expected, now);
      });
  if (!all_agree) {
    refuse(now);
    return std::nullopt;
  }
  pause_ = 1;
  refused_.reset();
  return runs;
}

}  // namespace grove
