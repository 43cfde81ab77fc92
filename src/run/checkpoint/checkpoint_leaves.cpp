#include "checkpoint_leaves.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "checkpoint_arrays.hpp"
#include "decomposition/hand_over.hpp"
#include "decomposition/join_cells.hpp"
#include "decomposition/run_values.hpp"
#include "decomposition/shares.hpp"
#include "decomposition/whole_cells.hpp"
#include "io/array_file.hpp"

namespace grove {
namespace {

/// The owners of leaves if each piece were a rank.
LeafOwners as_written(const CheckpointManifest& manifest) {
  std::vector<LeafOwners::Run> runs;
  for (std::size_t piece = 0; piece < manifest.pieces.size(); ++piece)
    for (const auto& [begin, end] : manifest.pieces[piece].leaves)
      runs.push_back({begin, static_cast<int>(piece)});
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.first_leaf < b.first_leaf; });
  return {runs, manifest.leaves, static_cast<int>(manifest.pieces.size())};
}

/// The leaves as they lie on the ranks that read their pieces.
class LeavesAsRead {
 public:
  LeavesAsRead(const Communicator& comm, const CheckpointManifest& manifest, Domain& domain)
      : comm_(comm), manifest_(manifest), domain_(domain) {
    domain_.owners = as_written(manifest);
    std::vector<LeafOwners::Run> runs(domain_.owners.runs().begin(), domain_.owners.runs().end());
    for (LeafOwners::Run& run : runs) run.rank = (run.rank - 1) % comm.size();  // piece 0 has no leaves
    readers_ = LeafOwners(runs, manifest.leaves, comm.size());
    own_ = readers_.own(comm.rank());
    work_.resize(static_cast<std::size_t>(own_.size()));
  }

  /// Reads the pieces of this rank. Not collective.
  void read(const std::string& path) {
    const Holdings holdings(domain_);
    std::vector<std::int32_t> uncut;
    std::vector<Cell> below;
    for (auto piece = static_cast<std::size_t>(comm_.rank()) + 1; piece < manifest_.pieces.size();
         piece += static_cast<std::size_t>(comm_.size())) {
      const CheckpointPiece& part = manifest_.pieces[piece];
      const ArrayFileReader file(path + "/" + part.name);
      const auto cells = file.all<Cell>(arrays::cells);
      below.insert(below.end(), cells.begin(), cells.end());
      uncut.insert(uncut.end(), holdings.held.begin() + holdings.first[piece],
                   holdings.held.begin() + holdings.first[piece + 1]);
      read_work(file, part);
    }
    domain_.take_part(join_cells(holdings.cells, uncut, below), own_);
    domain_.owners = readers_;
    for (std::int32_t leaf = 0; leaf < own_.size(); ++leaf) {
      Count& weight = work_[static_cast<std::size_t>(leaf)];
      weight = std::max(weight, domain_.leaf(own_.leaf(leaf)).count);
    }
  }

  /// Collective.
  LeafOwners owners_of_equal_work() const {
    const WholeCells cells(domain_);
    const std::vector<Count> weights = cells.sums(work_), left_of_runs = work_left_of_runs();
    const Shares shares(left_of_runs.back(), comm_.size());
    std::vector<int> to;
    std::size_t run = 0;
    Count left = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (run < own_.runs().size() && cells.own_leaf(i) == own_.runs()[run].before)
        left = left_of_runs[run++];
      to.push_back(shares.owner(left, weights[i]));
      left += weights[i];
    }
    return cells.owners(comm_, to);
  }

 private:
  void read_work(const ArrayFileReader& file, const CheckpointPiece& part) {
    std::int64_t in_piece = 0;
    for (const auto& [begin, end] : part.leaves) {
      const std::span<Count> of_run = std::span(work_).subspan(static_cast<std::size_t>(own_.before(begin)),
                                                               static_cast<std::size_t>(end - begin));
      file.read(arrays::leaf_work, in_piece, of_run);
      in_piece += end - begin;
    }
  }

  /// The work to the left of each own run of leaves, and that of all. Collective.
  std::vector<Count> work_left_of_runs() const {
    std::vector<Count> own, left_of_own;
    for (const OwnLeaves::Run& run : own_.runs()) {
      const auto begin = work_.begin() + run.before;
      own.push_back(std::accumulate(begin, begin + (run.end - run.begin), Count{0}));
    }
    const std::vector<Count> all = values_of_runs(comm_, readers_, own);
    Count left = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (readers_.runs()[i].rank == comm_.rank()) left_of_own.push_back(left);
      left += all[i];
    }
    left_of_own.push_back(left);
    return left_of_own;
  }

  const Communicator& comm_;
  const CheckpointManifest& manifest_;
  Domain& domain_;
  LeafOwners readers_;
  OwnLeaves own_;
  std::vector<Count> work_;  ///< by own leaf
};

}  // namespace

void read_leaves(const Communicator& comm, const std::string& path, const CheckpointManifest& manifest,
                 Domain& domain) {
  std::optional<LeavesAsRead> leaves;
  comm.together([&] { leaves.emplace(comm, manifest, domain).read(path); });
  hand_over(comm, domain, leaves->owners_of_equal_work());
}

}  // namespace grove
