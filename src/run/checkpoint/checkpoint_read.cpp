#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "checkpoint.hpp"
#include "checkpoint_arrays.hpp"
#include "checkpoint_leaves.hpp"
#include "decomposition/services/rank_particles.hpp"
#include "io/array_file.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

/// Own leaves that a piece has one after the other.
struct Overlap {
  const CheckpointPiece* piece;
  std::size_t leaf;       ///< number of the first one here
  std::int64_t in_piece;  ///< and in the piece
  std::size_t leaves;
};

void add_overlaps(const OwnLeaves& own_leaves, const CheckpointPiece& piece, std::vector<Overlap>& overlaps) {
  std::int64_t before = 0;
  for (const auto& [begin, end] : piece.leaves) {
    for (const OwnLeaves::Run& own : own_leaves.runs()) {
      const LeafNumber from = std::max(own.begin, begin), to = std::min(own.end, end);
      if (from < to)
        overlaps.push_back({&piece, static_cast<std::size_t>(own.before + from - own.begin),
                            before + from - begin, static_cast<std::size_t>(to - from)});
    }
    before += end - begin;
  }
}

/// By own leaf. Cost: O(runs of leaves of all pieces).
std::vector<Overlap> overlaps_of(const OwnLeaves& own, std::span<const CheckpointPiece> pieces) {
  std::vector<Overlap> overlaps;
  for (const CheckpointPiece& piece : pieces) add_overlaps(own, piece, overlaps);
  std::sort(overlaps.begin(), overlaps.end(), [](const auto& a, const auto& b) { return a.leaf < b.leaf; });
  return overlaps;
}

void read_particles(const ArrayFileReader& file, const Overlap& part, std::span<const Count> leaf_begin,
                    Particles& particles) {
  const auto begin = static_cast<std::size_t>(leaf_begin[part.leaf]),
             end = static_cast<std::size_t>(leaf_begin[part.leaf + part.leaves]);
  Count in_piece = 0;
  file.read(arrays::leaf_begin, part.in_piece, std::span(&in_piece, 1));
  for_each_field([&](const auto& field) {
    if (field.info.checkpoint && particles.holds(field.info))
      file.read(std::string(field.info.name), in_piece,
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

/// Fills in all but the manifest and the domain. Returns that with the cells above all pieces.
Domain read_state(Checkpoint& checkpoint) {
  const ArrayFileReader file(checkpoint.path + "/" + state_file);
  checkpoint.run = file.value<RunState>(arrays::run);
  checkpoint.gravity = file.value<GravityState>(arrays::gravity);
  if (file.has(arrays::above)) checkpoint.rebuild_above = file.value<RebuildAbove::State>(arrays::above);
  const auto head = file.value<DomainHead>(arrays::domain);
  Domain domain;
  domain.box = head.box;
  domain.leaf_size = head.leaf_size;
  domain.domain_cell = head.domain_cell;
  domain.cells = file.all<Cell>(arrays::cells);
  return domain;
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
  comm.together([&] { checkpoint.domain = read_state(checkpoint); });
  read_leaves(comm, path, checkpoint.manifest, checkpoint.domain);
  return checkpoint;
}

Checkpoint::Own Checkpoint::read_own(const Communicator& comm, bool levels) const {
  Own own;
  comm.together([&] {
    const auto size = static_cast<std::size_t>(domain.leaf_begin.back());
    check_size(size);
    own.particles.has_gas = run.has_gas;
    own.particles.resize(size);
    own.trees.trees.node_begin = {0};
    std::map<const CheckpointPiece*, ArrayFileReader> files;
    for (const Overlap& part : overlaps_of(domain.own, manifest.pieces)) {
      const ArrayFileReader& file =
          files.try_emplace(part.piece, path + "/" + part.piece->name).first->second;
      read_particles(file, part, domain.leaf_begin, own.particles);
      read_trees(file, part, levels, own.trees);
    }
  });
  return own;
}

}  // namespace grove
