#include "let/selection.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "kernels/math/acceptance.hpp"

namespace grove {
namespace {

/// Descends one tree. The receivers that opened the node at hand stand at the end of a list used as a stack.
class Descent {
 public:
  Descent(const SourceTree& tree, std::span<const Receiver> receivers, float drift, Selection& selection)
      : tree_(tree),
        receivers_(receivers),
        drift_(drift),
        selection_(selection),
        first_(selection.source.size()) {}

  Selection::Tree run(std::int32_t leaf) {
    openers_.resize(receivers_.size());
    std::iota(openers_.begin(), openers_.end(), 0u);
    emit(0, -1);
    open(0, 0, 0);
    return {leaf, selected(), particles_};
  }

 private:
  std::int32_t selected() const { return static_cast<std::int32_t>(selection_.source.size() - first_); }
  NodeLinks& link(std::int32_t number) { return selection_.links[first_ + static_cast<std::size_t>(number)]; }

  void emit(std::int32_t node, std::int32_t next) {
    const NodeLinks& from = tree_.links[node];
    selection_.source.push_back(node);
    selection_.links.push_back({NodeLinks::pruned, next, 0, from.count});
    if (from.child < 0) return;
    // Most nodes sent are opened, and memory takes longer than the tests until then.
    __builtin_prefetch(&tree_.core[from.child]);
    __builtin_prefetch(&tree_.links[from.child]);
  }

  /// Opens node `node`, number `number` of those selected; its openers begin at `begin`.
  void open(std::int32_t node, std::int32_t number, std::size_t begin) {
    const NodeLinks& from = tree_.links[node];
    link(number).first = particles_;
    if (from.is_bucket()) {
      link(number).child = NodeLinks::bucket;
      particles_ += from.count;
      return;
    }
    const std::int32_t first_child = selected(), next = link(number).next;
    link(number).child = first_child;
    std::int32_t children = 0;
    for (bool last = false; !last; ++children) {
      const std::int32_t child = from.child + children;
      last = tree_.links[child].next == from.next;
      emit(child, last ? next : selected() + 1);
    }
    const std::size_t end = openers_.size();
    for (std::int32_t i = 0; i < children; ++i) {
      keep_openers(drifted(tree_.core[from.child + i], drift_), begin, end);
      if (openers_.size() > end) open(from.child + i, first_child + i, end);
      openers_.resize(end);
    }
  }

  /// Appends those of the openers in [begin, end) that may open this node too.
  void keep_openers(const NodeCore& core, std::size_t begin, std::size_t end) {
    openers_.resize(end + (end - begin));
    std::size_t kept = end;
    for (std::size_t i = begin; i < end; ++i) {
      const Receiver& receiver = receivers_[openers_[i]];
      const float distance2 = receiver.bounds.distance2(core.centre + receiver.shift);
      openers_[kept] = openers_[i];
      // Without a branch, which could not be predicted.
      kept += accepts(core, distance2, receiver.bounds.inverse_tolerance, selection_margin) ? 0 : 1;
    }
    openers_.resize(kept);
  }

  const SourceTree& tree_;
  std::span<const Receiver> receivers_;
  float drift_;
  Selection& selection_;
  std::size_t first_;  // of this tree's nodes in the selection
  std::int32_t particles_ = 0;
  std::vector<std::uint32_t> openers_;
};

}  // namespace

void select_nodes(const SourceTree& tree, std::int32_t leaf, std::span<const Receiver> receivers, float drift,
                  Selection& selection) {
  selection.trees.push_back(Descent(tree, receivers, drift, selection).run(leaf));
}

void select_cells(const TopTree& top, std::span<const std::int32_t> covers,
                  std::span<const std::int32_t> nodes, const ReceiverSearch& receivers,
                  const std::function<SourceTree(std::int32_t leaf)>& tree, const DriftRoom& room,
                  Selection& selection) {
  selection.covers.assign(covers.begin(), covers.end());
  for (const std::int32_t node : nodes) selection.cells.push_back({node});
  std::vector<Receiver> openers;
  for (std::size_t i = 0; i < selection.cells.size(); ++i) {
    const std::int32_t node = selection.cells[i].node;
    const TopLinks& links = top.links[node];
    if (!links.is_leaf()) {
      if (!receivers.may_open(top.centre[node], grown(top.core[node], room.of_cells),
                              top.balls[node].grown(room.of_cells)))
        continue;
      selection.cells[i].child = static_cast<std::int32_t>(selection.cells.size());
      selection.cells.push_back({links.child});
      selection.cells.push_back({links.child + 1});
      continue;
    }
    const SourceTree source = tree(links.first_leaf);
    const float drift = room.of_leaf(links.first_leaf);
    receivers.find(top.centre[node], drifted(top.core[node], drift),
                   top.balls[node].drifted(drift * receivers.unit_length()), source.origin, openers);
    if (openers.empty()) continue;
    selection.cells[i].tree = static_cast<std::int32_t>(selection.trees.size());
    select_nodes(source, links.first_leaf, openers, drift, selection);
  }
}

}  // namespace grove
