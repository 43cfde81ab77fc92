#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/box.hpp"
#include "decomposition/domain.hpp"
#include "forest/forest.hpp"
#include "forest/top_tree.hpp"
#include "kernels/host/bisection.hpp"
#include "kernels/host/rope_walk.hpp"
#include "kernels/host/walk.hpp"
#include "kernels/math/cut_rule.hpp"
#include "particles/particles.hpp"

namespace grove::testing {

/// A forest over all particles on one rank, without messages: what tests and benchmarks of trees and walks
/// stand on.
struct Grown {
  Box box;
  WalkUnits units;
  std::vector<Cell> cells;
  std::vector<Count> leaf_begin;
  Array<Record> records;
  Forest forest;
  TopMoments top;

  /// Cuts all particles into leaves of at most `quantum`; the particles stay where they are.
  void sort(const Particles& particles, Count quantum, CutRule rule = CutRule::middle) {
    const auto count = static_cast<Count>(particles.size());
    records.resize(particles.size());
    make_records(box, {particles.position.data()}, particles.size(), records.data());
    const CutScheme scheme{rule, quantum};
    Cell root{};
    root.count = root.weight = count;
    root.leaves = scheme.leaves_of(count);
    cells = cut_to_leaves(scheme, root, records, particles.id.data(), nullptr);
    leaf_begin.assign(1, 0);
    Domain domain;
    domain.box = box;
    domain.take_whole(cells);
    for (std::int32_t leaf = 0; leaf < cells[0].leaves; ++leaf)
      leaf_begin.push_back(leaf_begin.back() + domain.leaf(leaf).count);
  }

  /// Brings the particles into tree order.
  void build(Particles& particles, const TreeBuilder& builder = bisection_builder()) {
    forest.build(particles, box, leaf_begin, records, builder);
  }

  void moments(const Particles& particles, const GravityParameters& gravity, double median_acceleration) {
    forest.update(particles, gravity, units, median_acceleration);
    std::vector<LeafRoot> roots;
    for (std::int32_t i = 0; i < forest.leaves(); ++i) roots.push_back(forest.root(i));
    top.combine(cells, roots, units, AcceptanceRule::of(gravity, units, median_acceleration));
  }

  WalkCounts walk(Particles& particles, const GravityParameters& gravity) const {
    const WalkSetup setup{gravity, units, static_cast<float>(gravity.critical_separation / units.length)};
    const Forest::OwnLeaves own = forest.own_leaves(particles, particles);
    WalkCounts counts = walk_own(setup, own.targets, own.trees, own.outputs);
    counts += walk_others(setup, own.targets, top.view(), own.trees, own.outputs);
    return counts;
  }

  /// Each particle by itself, for the history in its old_acceleration.
  WalkCounts walk_along_ropes(Particles& particles, const GravityParameters& gravity,
                              double median_acceleration) const {
    const Forest::OwnLeaves own = forest.own_leaves(particles, particles);
    return rope_walk({gravity, units}, median_acceleration, {top.view(), own.trees, {}}, own.targets,
                     own.outputs);
  }

  /// Box and units that suit the particles.
  void prepare(const Particles& particles, double largest_softening = 0) {
    Vec3d low = particles.position[0], high = low;
    double largest = 0;
    for (std::size_t i = 0; i < particles.size(); ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], particles.position[i][axis]);
        high[axis] = std::max(high[axis], particles.position[i][axis]);
      }
      largest = std::max(largest, particles.mass[i]);
    }
    box = Box::around(low, high);
    units = WalkUnits::of(box.edge, largest_softening, largest, static_cast<Count>(particles.size()));
  }
};

}  // namespace grove::testing
