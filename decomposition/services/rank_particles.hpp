#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "base/errors.hpp"
#include "base/types.hpp"
#include "comm/communicator.hpp"
#include "kernels/host/bisection.hpp"
#include "kernels/math/cell.hpp"
#include "particles/particles.hpp"

namespace grove {

/// InputError if a rank holds more particles than Record::index can number.
inline void check_size(std::size_t particles) {
  if (particles > std::numeric_limits<std::uint32_t>::max())
    throw InputError("more than 2^32 - 1 particles on one rank: use more ranks");
}

/// Collective. The same on all ranks together. all: particles of all ranks; if one could hold them, none is
/// asked.
inline void check_sizes(const Communicator& comm, std::size_t particles, Count all) {
  if (all > static_cast<Count>(std::numeric_limits<std::uint32_t>::max()))
    comm.together([&] { check_size(particles); });
}

class DeviceRank;    // decomposition/gpu
struct AxisCounter;  // decomposition/gpu

/// A rank's own data in the memory of the host, on which services run.
struct RankParticles {
  const Particles& particles;
  double lead = 0;                        ///< LedPositions::lead of the records
  const std::uint32_t* weight = nullptr;  ///< by particle; nullptr: every particle weighs 1

  Array<Record> records{};           ///< one per particle; those of a top cell are contiguous
  Array<std::uint32_t> scratch{};    ///< for partition
  Array<Coordinate> axis{};          ///< parallel to records: the coordinate that the cell is being cut on
  std::vector<Count> begin{};        ///< by top cell: its first record
  std::vector<Count> end{};          ///< by top cell: behind its last record
  std::vector<Count> cell_weight{};  ///< by top cell: of its records
  std::vector<Cell> own_cells{};     ///< cells that the rank cut alone

  /// The places that records are made of, from particle `first` on.
  LedPositions positions(std::size_t first = 0) const {
    return {particles.position.data() + first, lead == 0 ? nullptr : particles.velocity.data() + first, lead};
  }

  /// Makes top cell 0 of all records.
  void make_root(Count weight_of_all);

  /// Makes the first `left` records of a top cell its left child, the rest its right one, of number child
  /// + 1. Cost: a pass over the lesser part, if particles have weights.
  void divide(std::int32_t cell, std::int32_t child, Count left);

  std::span<Record> records_of(std::int32_t cell) { return part(records, cell); }
  std::span<Coordinate> axis_of(std::int32_t cell) { return part(axis, cell); }
  Count weight_of(const Record& record) const { return weight ? weight[record.index] : 1; }
  ParticleId id_of(const Record& record) const { return particles.id[record.index]; }

 private:
  template <class T>
  std::span<T> part(Array<T>& values, std::int32_t cell) const {
    const auto c = static_cast<std::size_t>(cell);
    return std::span<T>(values).subspan(static_cast<std::size_t>(begin[c]),
                                        static_cast<std::size_t>(end[c] - begin[c]));
  }
};

}  // namespace grove
