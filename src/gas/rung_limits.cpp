// Gas: time steps. Neighbours' steps differ by a factor of four at most, so that gas which is at rest hears
// of a shock before it is there (Saitoh and Makino 2009, ApJ 697, L99).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "gas/gas.hpp"

namespace grove {
namespace {

constexpr int most_apart = 2;

/// Raises the rung that a neighbour has to have at least. The largest of some whole numbers does not depend
/// on the order of threads.
struct AskNeighbours {
  struct Sum {};
  const std::uint8_t* is_asking;  ///< in: own particles
  const std::uint8_t* rung;       ///< in: own and imported
  std::uint8_t* least;            ///< in/out: the same

  bool is_target(std::uint32_t i) const { return is_asking[i] != 0; }
  void particle(Sum&, const NeighbourPair& pair) const {
    const int wanted = rung[pair.target] - most_apart;
    if (wanted <= rung[pair.source]) return;
    std::atomic_ref<std::uint8_t> asked(least[pair.source]);
    for (std::uint8_t now = asked.load(std::memory_order_relaxed);
         wanted > now &&
         !asked.compare_exchange_weak(now, static_cast<std::uint8_t>(wanted), std::memory_order_relaxed);) {
    }
  }
  void finish(std::uint32_t, const Sum&) const {}
};

}  // namespace

RungCounts Gas::limit_rungs(const Domain& domain, const StepRule& rule, int first_active,
                            const InsideSteps& inside) {
  limit_by_signals(rule, first_active);
  if (rule.deepest > 0) limit_by_neighbours(domain, first_active, inside);
  RungCounts counts{};
  for (const std::uint8_t rung : particles_.rung) ++counts[rung];
  return counts;
}

/// Courant's condition.
void Gas::limit_by_signals(const StepRule& rule, int first_active) {
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    if (!is_gas(i) || particles_.rung[i] < first_active) continue;
    const double most = parameters_.courant * particles_.smoothing_length[i];
    const auto speed = static_cast<double>(particles_.signal_speed[i]);
    std::uint8_t& rung = particles_.rung[i];
    while (rung < rule.deepest && !(std::ldexp(rule.longest, -rung) * speed <= most)) ++rung;
  }
}

/// Those whose rung was raised ask their neighbours in turn, until none is too high.
void Gas::limit_by_neighbours(const Domain& domain, int first_active, const InsideSteps& inside) {
  const std::size_t count = particles_.size();
  Array<double> reach(count);
  Array<std::uint8_t> is_asking(count);
  for (std::size_t i = 0; i < count; ++i) {
    reach[i] = is_gas(i) ? particles_.smoothing_length[i] : -1;
    is_asking[i] = is_gas(i) && particles_.rung[i] >= first_active && particles_.rung[i] > most_apart ? 1 : 0;
  }
  if (comm_.max(std::count(is_asking.begin(), is_asking.end(), 1)) == 0) return;
  Neighbours neighbours(comm_, domain, shapes_, images_);
  neighbours.search(particles_.position, reach, NeighbourSearch::symmetric);
  for (bool goes_on = true; goes_on;) {
    const Array<std::uint8_t> rung = neighbours.share(std::span<const std::uint8_t>(particles_.rung));
    Array<std::uint8_t> least(rung.size(), 0);
    neighbours.walk(AskNeighbours{is_asking.data(), rung.data(), least.data()});
    neighbours.give_back(std::span<std::uint8_t>(least),
                         [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
    bool is_complete = true;
    for (std::size_t i = 0; i < count; ++i) {
      is_asking[i] = least[i] > particles_.rung[i] ? 1 : 0;
      if (!is_asking[i]) continue;
      shorten_step(i, least[i], inside);
      is_complete = false;
    }
    goes_on = comm_.max(is_complete ? 0 : 1) != 0;
  }
}

/// Velocity and energy become those of the middle of the shorter step, and the place one on its straight
/// line.
void Gas::shorten_step(std::size_t i, std::uint8_t rung, const InsideSteps& inside) {
  const std::uint8_t before = std::exchange(particles_.rung[i], rung);
  const double back = inside.since_middle.of[before] - inside.since_middle.of[rung];
  const double ahead = inside.is_straight ? inside.behind.of[before] - inside.behind.of[rung] : 0;
  const Vec3d acceleration = particles_.acceleration[i].as<double>();
  particles_.velocity[i] += back * acceleration;
  particles_.position[i] -= ahead * acceleration;
  particles_.internal_energy[i] = heated(particles_.internal_energy[i], particles_.energy_rate[i], back);
}

}  // namespace grove
