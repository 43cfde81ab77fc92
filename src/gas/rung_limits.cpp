// Gas: time steps. Neighbours' steps differ by a factor of four at most, so that gas which is at rest hears
// of a shock before it is there (Saitoh and Makino 2009, ApJ 697, L99).
#include <algorithm>
#include <atomic>

#include "gas/host_gas.hpp"
#include "kernels/math/gas_visitors.hpp"

namespace grove {
namespace {

struct RaiseOnHost {
  void operator()(std::uint32_t& number, std::uint32_t wanted) const {
    const std::atomic_ref<std::uint32_t> asked(number);
    for (std::uint32_t now = asked.load(std::memory_order_relaxed);
         wanted > now && !asked.compare_exchange_weak(now, wanted, std::memory_order_relaxed);) {
    }
  }
};

}  // namespace

RungCounts HostGas::limit_rungs(const Domain& domain, const StepRule& rule, int first_active,
                                const InsideSteps& inside) {
  limit_by_signals(rule, first_active);
  if (rule.deepest > 0) limit_by_neighbours(domain, first_active, inside);
  RungCounts counts{};
  for (const std::uint8_t rung : particles_.rung) ++counts[rung];
  return counts;
}

void HostGas::limit_by_signals(const StepRule& rule, int first_active) {
  const GasFields of = fields();
  for (std::size_t i = 0; i < particles_.size(); ++i)
    if (of.is_active_gas(i, first_active)) of.limit_by_signal(parameters(), rule, i);
}

/// Those whose rung was raised ask their neighbours in turn, until none is too high.
void HostGas::limit_by_neighbours(const Domain& domain, int first_active, const InsideSteps& inside) {
  const std::size_t count = particles_.size();
  const GasFields of = fields();
  Array<double> reach(count);
  Array<std::uint8_t> is_asking(count);
  for (std::size_t i = 0; i < count; ++i) {
    reach[i] = is_gas(i) ? particles_.smoothing_length[i] : -1;
    is_asking[i] = of.is_active_gas(i, first_active) && particles_.rung[i] > most_rungs_apart ? 1 : 0;
  }
  if (comm_.max(std::count(is_asking.begin(), is_asking.end(), 1)) == 0) return;
  Neighbours neighbours(comm_, domain, shapes_, images_);
  neighbours.search(particles_.position, reach, NeighbourSearch::symmetric);
  for (bool goes_on = true; goes_on;) {
    const Array<std::uint8_t> rung = neighbours.share(std::span<const std::uint8_t>(particles_.rung));
    Array<std::uint32_t> least(rung.size(), 0);
    neighbours.walk(AskNeighbours<RaiseOnHost>{is_asking.data(), rung.data(), least.data(), {}});
    neighbours.give_back(std::span<std::uint32_t>(least),
                         [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    bool is_complete = true;
    for (std::size_t i = 0; i < count; ++i) {
      is_asking[i] = least[i] > particles_.rung[i] ? 1 : 0;
      if (!is_asking[i]) continue;
      of.shorten_step(i, static_cast<std::uint8_t>(least[i]), inside);
      is_complete = false;
    }
    goes_on = comm_.max(is_complete ? 0 : 1) != 0;
  }
}

}  // namespace grove
