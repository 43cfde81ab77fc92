#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/cell.hpp"
#include "kernels/math/cell_questions.hpp"
#include "kernels/math/delegated_record.hpp"

namespace grove::cuda {

/// The records of a rank in the memory of its GPU, divided into top cells: what the services of a
/// decomposition work on. A question is about many cells and answered by one launch of a kernel or a few,
/// whatever the size of the cells; only questions and answers cross to the host.
///
/// Answers have one element per question, or as many as said, and come zeroed.
class ResidentCells {
 public:
  /// Makes top cell 0 of all records. ids, weights (device, by record index, of `particles` elements): owned
  /// by the caller; weights = nullptr: every particle weighs 1. weight_of_all: of these records.
  ResidentCells(DeviceRecords records, const ParticleId* ids, const std::uint32_t* weights,
                std::size_t particles, Count weight_of_all);
  ~ResidentCells();

  Tally tally(std::int32_t cell) const;

  /// Chooses the axis that later questions about a cell mean. answer: AxisChoice::answers() for each. Cost:
  /// none; one pass where a middle is given.
  void make_axis(std::span<const AxisChoice> choices, std::span<Count> answer);

  /// answer: the candidates of all questions, one after the other. Cost: one pass over the axis.
  void count_left(std::span<const CandidateCuts> cuts, std::span<Tally> answer) const;

  /// In no order. Cost: one pass over the axis.
  std::vector<GatheredKey> gather_keys(std::span<const KeyInterval> intervals) const;

  /// The greatest id of all particles. Cost: one pass over the ids.
  ParticleId greatest_id() const;

  /// answer: the candidates of all questions, one after the other. Cost: one pass over the axis.
  void select_tie(std::span<const TiedCuts> cuts, std::span<Tally> answer) const;

  /// Divides cells, stably. Cost: one pass over the axis, and one reading and writing of all columns.
  void partition(std::span<const CellDivision> divisions, std::span<DivisionResult> answer);

  /// Writes the records of cells one after the other to device memory. Cost: one pass.
  void pack(std::span<const std::int32_t> cells, DelegatedRecord* to) const;

  /// Divides cells, stably, into the leaves of their subtrees. top: all top cells, whose numbers the leaves
  /// get; cells: left to right. Cost: see sort_by_leaf().
  void divide_into_leaves(std::span<const std::int32_t> cells, std::span<const Cell> top);

  /// Ends the questions: the records, those of cells that were not divided together in one set of columns in
  /// the order of the array; the other set for use.
  struct Records {
    DeviceRecords records, spare;
  };
  Records take();
  /// The first record of a cell.
  std::uint64_t first(std::int32_t cell) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grove::cuda
