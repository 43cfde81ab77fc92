#include "tuning/renewal_turns.hpp"

#include <numeric>
#include <utility>

namespace grove {

std::optional<int> RenewalTurns::next(std::optional<int> from, const RungCounts& particles,
                                      bool follows_cuts) {
  const State before = std::exchange(state_, none);
  if (!from) return {};
  const Count active = std::accumulate(particles.begin() + *from, particles.end(), Count{0});
  if (active <= few_ && before.last <= *from && !follows_cuts) return {};
  state_.last = *from;
  return from;
}

}  // namespace grove
