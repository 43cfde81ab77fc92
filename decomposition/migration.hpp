#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "decomposition/rank_particles.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The move of particles between ranks: who leaves and who comes is settled once, then every field follows.
///
/// Particles are numbered so that those of this rank come first, those that leave included, then the
/// arrivals, in order of their source rank. Each field is moved with one gather, into an order given by these
/// numbers.
class Migration {
 public:
  /// Collective. departing (in): indices of the particles that leave, in order of their destination;
  /// send_counts (in): how many for each rank, length P, 0 for this one.
  Migration(const Communicator& comm, std::vector<std::uint32_t> departing,
            std::span<const Count> send_counts)
      : departing_(std::move(departing)), plan_(comm, send_counts) {}

  const ExchangePlan& plan() const { return plan_; }

  /// Collective. The values of the arrivals.
  template <Wire T>
  Array<T> arrivals(const Array<T>& field) const {
    Array<T> send(departing_.size()), received(static_cast<std::size_t>(plan_.receive_total()));
    for (std::size_t i = 0; i < send.size(); ++i) send[i] = field[departing_[i]];
    plan_.apply(std::span<const T>(send), std::span<T>(received));
    return received;
  }

  /// Collective. Lengthens a field by the values of the arrivals, so that particle numbers index it.
  template <Wire T>
  void append_arrivals(Array<T>& field) const {
    const Array<T> arrived = arrivals(field);
    field.insert(field.end(), arrived.begin(), arrived.end());
  }

  /// Replaces a field by its values in the order given by particle numbers. Cost: one gather, memory for one
  /// more field.
  template <Wire T>
  static void rearrange(Array<T>& field, const Array<T>& arrived, std::span<const std::uint32_t> order) {
    Array<T> result(order.size());
    const std::size_t old = field.size();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t number = order[i];
      const T* source = number < old ? field.data() + number : arrived.data() + (number - old);
      result[i] = *source;
    }
    field.swap(result);
  }

 private:
  std::vector<std::uint32_t> departing_;
  ExchangePlan plan_;
};

}  // namespace grove
