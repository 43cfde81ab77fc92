#include "results.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "comm/exchange_plan.hpp"

namespace grove::python {
namespace {

struct Force {
  Vec3f acceleration;
  float potential;
};
struct Found {
  ParticleId id;
  Force force;
};

/// An exchange of one element per particle, to the rank that its id names.
class Meeting {
 public:
  Meeting(const Communicator& comm, std::span<const ParticleId> ids)
      : comm_(comm), counts_(counts(ids)), plan_(comm, counts_), order_(ids.size()) {
    std::vector<Count> next(plan_.send_offsets().begin(), plan_.send_offsets().end() - 1);
    for (std::size_t i = 0; i < ids.size(); ++i) order_[static_cast<std::size_t>(next[place(ids[i])]++)] = i;
  }

  /// The array of make(i) for each particle i, as it arrives.
  template <class T, class Make>
  Array<T> bring(const Make& make) const {
    Array<T> there(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) there[k] = make(order_[k]);
    plan_.apply(there);
    return there;
  }

  /// The way back: an answer for each that arrived, in the order of the particles.
  template <class T>
  Array<T> answer(Array<T> answers) const {
    std::vector<Count> back(counts_.size());
    for (std::size_t rank = 0; rank < back.size(); ++rank)
      back[rank] = plan_.receive_offsets()[rank + 1] - plan_.receive_offsets()[rank];
    ExchangePlan(comm_, back).apply(answers);
    Array<T> sorted(answers.size());
    for (std::size_t k = 0; k < order_.size(); ++k) sorted[order_[k]] = answers[k];
    return sorted;
  }

 private:
  std::size_t place(ParticleId id) const { return id % static_cast<std::uint64_t>(comm_.size()); }

  std::vector<Count> counts(std::span<const ParticleId> ids) const {
    std::vector<Count> counts(static_cast<std::size_t>(comm_.size()), 0);
    for (const ParticleId id : ids) ++counts[place(id)];
    return counts;
  }

  const Communicator& comm_;
  std::vector<Count> counts_;
  ExchangePlan plan_;
  std::vector<std::size_t> order_;  ///< the particle of each element that is sent
};

}  // namespace

Results results_of(const Communicator& comm, std::span<const ParticleId> ids, const Particles& particles) {
  const Meeting wanted(comm, ids), there(comm, particles.id);
  const Array<ParticleId> asked = wanted.bring<ParticleId>([&](std::size_t i) { return ids[i]; });
  Array<Found> found = there.bring<Found>([&](std::size_t i) {
    return Found{particles.id[i], {particles.acceleration[i], particles.potential[i]}};
  });
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.id < b.id; });
  if (asked.size() != found.size()) throw std::runtime_error("particles were lost between ranks");
  std::vector<std::size_t> order(asked.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return asked[a] < asked[b]; });
  Array<Force> answers(asked.size());
  for (std::size_t k = 0; k < order.size(); ++k) answers[order[k]] = found[k].force;
  answers = wanted.answer(std::move(answers));
  Results results{Array<Vec3f>(ids.size()), Array<float>(ids.size())};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    results.acceleration[i] = answers[i].acceleration;
    results.potential[i] = answers[i].potential;
  }
  return results;
}

}  // namespace grove::python
