#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/shares.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"

namespace grove {

/// Brings rows of a table, each with its number, to the ranks in order: every rank gets an equal share of all
/// rows, one after the other.
class RowOrder {
 public:
  /// Collective. row: numbers of the own rows, each of 0 .. total - 1 on one rank.
  RowOrder(const Communicator& comm, std::span<const Count> row, Count total)
      : first_(share_begin(total, comm.rank(), comm.size())),
        end_(share_begin(total, comm.rank() + 1, comm.size())),
        own_(row.size()) {
    std::vector<Count> begin;
    for (int rank = 0; rank <= comm.size(); ++rank) begin.push_back(share_begin(total, rank, comm.size()));
    for (std::size_t i = 0; i < row.size(); ++i) own_[i] = i;
    std::sort(own_.begin(), own_.end(), [&](std::size_t a, std::size_t b) { return row[a] < row[b]; });
    std::vector<Count> counts(static_cast<std::size_t>(comm.size()), 0);
    for (const Count r : row)
      ++counts[static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), r) - begin.begin() - 1)];
    plan_.emplace(comm, std::span<const Count>(counts));
    Array<Count> sorted(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) sorted[i] = row[own_[i]];
    place_.resize(static_cast<std::size_t>(plan_->receive_total()));
    plan_->apply(std::span<const Count>(sorted), std::span<Count>(place_));
  }

  Count first() const { return first_; }
  Count count() const { return end_ - first_; }

  /// Collective. values: of the own rows. The share of this rank, in order.
  template <Wire T>
  Array<T> apply(std::span<const T> values) const {
    Array<T> received(place_.size()), ordered(place_.size());
    plan_->apply(
        [&](std::size_t begin, std::span<T> piece) {
          for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = values[own_[begin + i]];
        },
        std::span<T>(received));
    for (std::size_t i = 0; i < received.size(); ++i)
      ordered[static_cast<std::size_t>(place_[i] - first_)] = received[i];
    return ordered;
  }

 private:
  Count first_, end_;
  std::vector<std::size_t> own_;  ///< own rows in order of their numbers
  std::optional<ExchangePlan> plan_;
  Array<Count> place_;  ///< numbers of the rows that come
};

}  // namespace grove
