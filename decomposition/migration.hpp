#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "particles/particles.hpp"

namespace grove {

/// The move of particles between ranks: who leaves, who comes and where they are put is settled once, then
/// every field follows. Particles that stay keep their places as far as possible; arrivals take the places of
/// those that left, or are appended. So the cost grows with the number of particles that move only.
class Migration {
 public:
  /// Collective; InputError on all ranks together if one would hold more particles than records can number.
  /// particles (in): number on this rank. departing (in): indices of those that leave, in order
  /// of their destination. send_counts (in): how many for each rank, length P, 0 for this one. round_bytes
  /// (in): of a field, how much is under way from a rank at a time; the same on all ranks. all (in):
  /// particles of all ranks, or more; if one could hold them, none is asked whether it can.
  Migration(const Communicator& comm, std::size_t particles, std::vector<std::uint32_t> departing,
            std::span<const Count> send_counts, std::size_t round_bytes = ExchangePlan::default_round_bytes,
            Count all = std::numeric_limits<Count>::max());
  /// The same where the plan is made already.
  Migration(const Communicator& comm, std::size_t particles, std::vector<std::uint32_t> departing,
            ExchangePlan plan, Count all);

  const ExchangePlan& plan() const { return plan_; }
  /// Particles on this rank afterwards.
  std::size_t size() const { return size_; }

  /// The new index of arrival j, j counted in order of the source ranks.
  std::uint32_t place_of_arrival(std::size_t j) const { return places_[j]; }
  /// True if any particle that stays gets another place.
  bool moves_staying() const { return !new_place_.empty(); }
  /// The new index of a particle that stays.
  std::uint32_t place_of_staying(std::uint32_t index) const {
    return index < size_ ? index : new_place_[index - size_];
  }

  /// Between two ranks at most so many particles go as they are, all fields of each together in one message;
  /// of more each field goes by itself, to save memory.
  static constexpr Count few = 4096;

  /// Collective. Moves all fields; those that do not migrate are only made as long as the others.
  /// Memory: what arrives in one field, at most 24 bytes a particle, and one round of what leaves, and of few
  /// from a rank all that arrives; where more come than leave and the field has no room behind it, also its
  /// new array. Arrivals take the places of any that leave, so those must all be out of the way first.
  void apply(Particles& particles) const;

 private:
  class Rows;
  template <Wire T>
  void move(Array<T>& field, const Rows& rows, std::size_t offset) const;
  void settle_places(std::size_t particles);

  std::vector<std::uint32_t> departing_;
  ExchangePlan plan_;
  std::size_t size_;
  std::vector<std::uint32_t> places_;     ///< by arrival
  std::vector<std::uint32_t> new_place_;  ///< of particles from index size_ on, if they stay
};

/// Collective. The particles of all ranks in the order of their ids, on every rank. For few particles.
Particles gathered_by_id(const Communicator& comm, const Particles& mine);

}  // namespace grove
