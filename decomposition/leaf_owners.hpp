#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "kernels/math/own_leaves.hpp"

namespace grove {

/// The rank that has one of some things that stand rank by rank. first: of each rank, length P + 1. Cost: log
/// P.
int owner_of(std::int32_t number, std::span<const std::int32_t> first);

/// Which rank owns which leaves of the ORB, the same on every rank: runs of leaves, of which a rank may have
/// several, or none.
class LeafOwners {
 public:
  /// The leaves from this one up to the next run.
  struct Run {
    LeafNumber first_leaf;
    int rank;

    friend bool operator==(const Run&, const Run&) = default;
  };

  LeafOwners() = default;
  /// runs: left to right, the first one at 0; those of the same rank that follow each other become one. Empty
  /// ones are left out. leaves: of all.
  LeafOwners(std::span<const Run> runs, LeafNumber leaves, int ranks);

  int ranks() const { return ranks_; }
  LeafNumber leaves() const { return leaves_; }
  std::span<const Run> runs() const { return runs_; }
  /// The end of a run.
  LeafNumber end(std::size_t run) const {
    return run + 1 < runs_.size() ? runs_[run + 1].first_leaf : leaves_;
  }

  /// The owner of a leaf. Cost: the logarithm of the runs.
  int owner(LeafNumber leaf) const { return runs_[run_of(leaf)].rank; }
  /// True if some leaves that follow each other have one owner. Cost: as above.
  bool have_one(LeafNumber first, LeafNumber leaves) const {
    return run_of(first) == run_of(first + leaves - 1);
  }
  /// The owners of some leaves that follow each other, each rank once, ascending. Cost: as above, and their
  /// runs.
  std::vector<int> owners(LeafNumber first, LeafNumber leaves) const;
  /// Those of a rank. Cost: the runs.
  OwnLeaves own(int rank) const;

  friend bool operator==(const LeafOwners&, const LeafOwners&) = default;

 private:
  std::size_t run_of(LeafNumber leaf) const;

  std::vector<Run> runs_;  ///< neighbours have different ranks
  LeafNumber leaves_ = 0;
  int ranks_ = 0;
};

}  // namespace grove
