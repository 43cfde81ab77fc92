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
/// one exchange per field. A rank alone exchanges nothing.
class IdOrder {
 public:
  /// Collective. `index`: the particles taking part, into the arrays of `particles`. bounds: length P + 1,
  /// from 0 to the number of them over all ranks, increasing. InputError if two of them have the same id.
  IdOrder(const Communicator& comm, const Particles& particles, Array<std::uint32_t> index,
          std::span<const Count> bounds);

  /// Collective. This rank's part of the ordered field.
  template <class T>
  Array<T> apply(const Array<T>& field) const {
    if (is_alone_) return gathered(field, index_);
    Array<T> received(order_.size());
    const auto pack = [&](std::size_t begin, std::span<T> piece) {
      for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = field[index_[begin + i]];
    };
    plan_.apply(pack, std::span<T>(received));
    return gathered(received, order_);
  }

 private:
  template <class T>
  static Array<T> gathered(const Array<T>& field, const Array<std::uint32_t>& index) {
    Array<T> values(index.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = field[index[i]];
    return values;
  }

  Array<std::uint32_t> index_;  ///< own particles in order of id
  ExchangePlan plan_;
  Array<std::uint32_t> order_;  ///< received particles in order of id; empty on a rank alone
  bool is_alone_;
};

}  // namespace grove
