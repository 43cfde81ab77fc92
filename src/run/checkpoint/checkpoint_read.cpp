#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "checkpoint.hpp"
#include "checkpoint_arrays.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "decomposition/shares.hpp"
#include "decomposition/whole_cells.hpp"
#include "io/array_file.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

/// The part of a piece that belongs to this rank.
struct Overlap {
  std::size_t leaf;       ///< of the own leaves, the first one that the piece has
  std::int64_t in_piece;  ///< number of that leaf in the piece
  std::size_t leaves;
  Count particle_in_piece;  ///< where its particles begin there
};

std::optional<Overlap> overlap(const Domain& domain, std::int32_t first, std::int32_t end,
                               const CheckpointPiece& piece) {
  const std::int32_t from = std::max(first, piece.first_leaf),
                     to = std::min(end, piece.first_leaf + piece.leaves);
  if (from >= to) return std::nullopt;
  Count before = 0;
  for (std::int32_t leaf = piece.first_leaf; leaf < from; ++leaf) before += domain.leaf(leaf).count;
  return Overlap{static_cast<std::size_t>(from - first), from - piece.first_leaf,
                 static_cast<std::size_t>(to - from), before};
}

void read_particles(const ArrayFileReader& file, const Overlap& part, std::span<const Count> leaf_begin,
                    Particles& particles) {
  const auto begin = static_cast<std::size_t>(leaf_begin[part.leaf]),
             end = static_cast<std::size_t>(leaf_begin[part.leaf + part.leaves]);
  for_each_field([&](const auto& field) {
    if (field.info.checkpoint && particles.holds(field.info))
      file.read(std::string(field.info.name), part.particle_in_piece,
                std::span(particles.*field.array).subspan(begin, end - begin));
  });
}

/// Appends the trees; parts come left to right. levels: whether nodes have these.
void read_trees(const ArrayFileReader& file, const Overlap& part, bool levels, Forest::Shape& shape) {
  std::vector<Count> begin(part.leaves + 1);
  file.read(arrays::node_begin, part.in_piece, std::span(begin));
  TreeShapes& trees = shape.trees;
  const std::size_t before = trees.links.size(), count = static_cast<std::size_t>(begin.back() - begin[0]);
  trees.links.resize(before + count);
  file.read(arrays::links, begin[0], std::span(trees.links).subspan(before));
  if (levels && count > 0) {
    trees.levels.resize(before + count);
    file.read(arrays::levels, begin[0], std::span(trees.levels).subspan(before));
  }
  for (std::size_t leaf = 1; leaf <= part.leaves; ++leaf)
    trees.node_begin.push_back(static_cast<Count>(before) + begin[leaf] - begin[0]);
  if (file.rows(arrays::origins) == 0) return;
  shape.origins.resize(part.leaf + part.leaves);
  file.read(arrays::origins, part.in_piece, std::span(shape.origins).subspan(part.leaf));
}

/// Equal work for all ranks; where none was counted yet, equal numbers.
std::vector<std::int32_t> runs_of_ranks(const Domain& domain, std::vector<Count> work, int ranks) {
  Count total = 0;
  for (std::int32_t leaf = 0; leaf < domain.leaves(); ++leaf) {
    Count& weight = work[static_cast<std::size_t>(leaf)];
    weight = std::max(weight, domain.leaf(leaf).count);
    total += weight;
  }
  const WholeCells whole(domain);
  return whole.to_leaves(Shares(total, ranks).runs(whole.sums(work)));
}

void read_state(const Communicator& comm, Checkpoint& checkpoint) {
  const ArrayFileReader file(checkpoint.path + "/" + state_file);
  checkpoint.run = file.value<RunState>(arrays::run);
  checkpoint.gravity = file.value<GravityState>(arrays::gravity);
  if (file.has(arrays::above)) checkpoint.rebuild_above = file.value<RebuildAbove::State>(arrays::above);
  Domain& domain = checkpoint.domain;
  const auto head = file.value<DomainHead>(arrays::domain);
  domain.box = head.box;
  domain.leaf_size = head.leaf_size;
  domain.domain_cell = head.domain_cell;
  domain.cells = file.all<Cell>(arrays::cells);
  domain.leaf_cell = file.all<std::int32_t>(arrays::leaf_cells);
  domain.give_out(runs_of_ranks(domain, file.all<Count>(arrays::leaf_work), comm.size()), comm);
}

}  // namespace

Checkpoint open_checkpoint(const Communicator& comm, const std::string& path) {
  Checkpoint checkpoint;
  checkpoint.path = path;
  std::string text;
  const std::string manifest = manifest_of_checkpoint(path);
  comm.together([&] {
    if (comm.is_master()) text = read_manifest(path);
  });
  text = comm.broadcast(text);
  comm.together([&] { checkpoint.manifest = parse_manifest(text, manifest); });
  comm.together([&] {
    const auto& pieces = checkpoint.manifest.pieces;
    for (auto i = static_cast<std::size_t>(comm.rank()); i < pieces.size();
         i += static_cast<std::size_t>(comm.size()))
      check_piece(path, pieces[i]);
  });
  comm.together([&] { read_state(comm, checkpoint); });
  return checkpoint;
}

Checkpoint::Own Checkpoint::read_own(const Communicator& comm, bool levels) const {
  Own own;
  comm.together([&] {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const auto size = static_cast<std::size_t>(domain.leaf_begin.back());
    check_size(size);
    own.particles.has_gas = run.has_gas;
    own.particles.resize(size);
    own.trees.trees.node_begin = {0};
    for (const CheckpointPiece& piece : manifest.pieces) {
      const auto part = overlap(domain, domain.first_leaf[rank], domain.first_leaf[rank + 1], piece);
      if (!part) continue;
      const ArrayFileReader file(path + "/" + piece.name);
      read_particles(file, *part, domain.leaf_begin, own.particles);
      read_trees(file, *part, levels, own.trees);
    }
  });
  return own;
}

}  // namespace grove
