#include "tuning/rebuild_above.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace grove {

static_assert(std::is_trivially_copyable_v<RebuildAbove::State>);

void RebuildAbove::walked(const ForceReport& forces) {
  for (std::size_t rung = 0; rung < rung_count; ++rung) {
    state_.active[rung] += forces.active_of[rung];
    state_.work[rung] += forces.work[rung];
  }
  if (std::accumulate(state_.active.begin(), state_.active.end(), Count{0}) >= forces.particles)
    pass_verdict();
}

/// Taken over the rungs whose reference is known; 1: none is.
double RebuildAbove::growth() const {
  double expected = 0, seen = 0;
  for (std::size_t rung = 0; rung < rung_count; ++rung) {
    if (state_.fresh[rung] == 0) continue;
    expected += state_.fresh[rung] * static_cast<double>(state_.active[rung]);
    seen += static_cast<double>(state_.work[rung]);
  }
  return expected > 0 ? seen / expected : 1;
}

void RebuildAbove::pass_verdict() {
  const double grown = growth();
  for (std::size_t rung = 0; rung < rung_count; ++rung)
    if (state_.fresh[rung] == 0 && state_.active[rung] > 0)
      state_.fresh[rung] = static_cast<double>(state_.work[rung]) / static_cast<double>(state_.active[rung]) /
                           std::max(1.0, grown);
  state_.active.fill(0);
  state_.work.fill(0);
  state_.is_due = grown > 1 + above_;
}

}  // namespace grove
