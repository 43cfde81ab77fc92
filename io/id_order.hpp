#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "comm/exchange_plan.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Brings particles of one type into the order of their ids over all ranks: rank r gets those whose place in
/// that order is in [bounds[r], bounds[r + 1]). So what is written does not depend on which rank held what.
///
/// Cost: a local sort, at most 64 reductions of P - 1 counts (the ids at the bounds are found by bisection),
/// one exchange per field.
class IdOrder {
 public:
  /// Collective. `index`: the particles taking part, into the arrays of `particles`. bounds: length P + 1,
  /// from 0 to the number of them over all ranks, increasing. InputError if two of them have the same id.
  IdOrder(const Communicator& comm, const Particles& particles, Array<std::uint32_t> index,
          std::span<const Count> bounds);

  /// Collective. This rank's part of the ordered field.
  template <class T>
  Array<T> apply(const Array<T>& field) const {
    Array<T> moved(index_.size());
    for (std::size_t i = 0; i < index_.size(); ++i) moved[i] = field[index_[i]];
    plan_.apply(moved);
    Array<T> ordered(moved.size());
    for (std::size_t i = 0; i < moved.size(); ++i) ordered[i] = moved[order_[i]];
    return ordered;
  }

 private:
  Array<std::uint32_t> index_;  ///< own particles in order of id
  ExchangePlan plan_;
  Array<std::uint32_t> order_;  ///< received particles in order of id
};

}  // namespace grove
