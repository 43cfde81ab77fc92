// Sections `gravity`, `decomposition` and `tuning`: what decides which forces act, and what they cost.
#include "io/schema.hpp"
#include "io/schema_slots.hpp"
#include "kernels/math/cut_rule.hpp"

namespace grove::schema {
namespace {

/// When a node acts, and how.
std::vector<Row> expansion_rows() {
  using G = GravityParameters;
  constexpr auto in = &Parameters::gravity;
  return {
      {"gravity", "criterion", choice(in, &G::criterion), dimension::none, any, optional,
       "when a node may stand for its particles: opening angle with the edge of the node's box "
       "(`opening_edge`) or of the octree's cell (`opening_cell`, of octrees) or with its radius, or an "
       "error relative to the median acceleration (`multipole`) or to the particle's own (`acceleration`; "
       "with the edge of the node's box `relative_edge`)"},
      {"gravity", "theta", at(in, &G::theta), dimension::none, Range{0, 2}, optional,
       "opening angle; of the first evaluation also where the criterion is an accuracy"},
      {"gravity", "delta", at(in, &G::delta), dimension::none, Range{0, 1, false}, optional,
       "accuracy of `multipole`, `acceleration` and `relative_edge`; unset: as `accuracy` says; in a "
       "periodic box `acceleration` takes a smaller one while matter is nearly homogeneous, and for nodes "
       "with octupoles 0.62 to 1.45 times as much, by the number of particles: docs/cosmology.md"},
      {"gravity", "first", choice(in, &G::first), dimension::none, any, optional,
       "forces from which a criterion that needs an acceleration has its first one: by the opening angle "
       "`theta` (`angle`), or direct sums"},
      {"gravity", "order", choice(in, &G::order), dimension::none, any, optional,
       "terms of the expansion of a node's force; unless given `octupole` in a periodic box, with the "
       "criterion `acceleration`, the kernel `spline` and the walk `groups`; octupoles of these boxes act in "
       "steps of many active particles, quadrupoles in others"},
      {"gravity", "kernel", choice(in, &G::kernel), dimension::none, any, optional,
       "shape of softened particles"},
  };
}

/// The trees, and what goes through them.
std::vector<Row> tree_rows() {
  using G = GravityParameters;
  constexpr auto in = &Parameters::gravity;
  return {
      {"gravity", "tree", choice(in, &G::tree), dimension::none, any, optional,
       "what stands in each leaf of the decomposition: its bisection continued, an octree, or a kd-tree "
       "(`kd`). With `decomposition.rule: centre` octrees are the global one, as in one leaf that holds "
       "all particles (`decomposition.leaf_size`)"},
      {"gravity", "curve", choice(in, &G::curve), dimension::none, any, optional,
       "order of an octree's cells and of the particles in its leaves"},
      {"gravity", "split", choice(in, &G::split), dimension::none, any, optional,
       "where a kd-tree cuts nodes of fewer than 256 particles: where volume times mass of both parts is "
       "least, in the box that the cuts above leave (`vmh`) or in the particles' tight box (`vmh-tight`), "
       "in the spatial middle, or at the median"},
      {"gravity", "bucket", at(in, &G::bucket), dimension::none, Range{1, group_size}, optional,
       "largest number of particles of a node that an octree or a kd-tree does not divide"},
      {"gravity", "walk", choice(in, &G::walk), dimension::none, any, optional,
       "what goes through the trees: groups of particles, or each particle along the links of the nodes "
       "(`rope`), which tests it at its own place, is several times as slow, and errs by some 2.7 times as "
       "much at the same `delta`, as a group opens what any of its particles needs"},
      {"gravity", "critical_separation", at(in, &G::critical_separation), dimension::length, not_negative,
       optional,
       "groups of particles that walk octrees are split into parts that reach no farther than this; 0: "
       "what costs least"},
  };
}

std::vector<Row> softening_rows() {
  using G = GravityParameters;
  constexpr auto in = &Parameters::gravity;
  return {
      {"gravity", "self_gravity", at(in, &G::self_gravity), dimension::none, any, optional,
       "false: particles do not attract each other; gas and `potentials` act alone"},
      {"gravity", "direct_below", at(in, &G::direct_below), dimension::none, Range{0, 1e9}, optional,
       "fewer particles than this attract each other directly, without a tree; 0: never. "
       "docs/performance.md says where that is faster"},
      {"gravity", "softening",
       MapOfTypes{at(in, &G::softening), [](Parameters& p) -> std::uint8_t& { return p.softened; }},
       dimension::length, not_negative, required,
       "Plummer-equivalent softening length, one for all types or a map from type to length, with a length "
       "for each type that there are particles of"},
      {"gravity", "max_physical_softening",
       Slot<PerType>([](auto& p) -> auto& { return p.max_physical_softening; }), dimension::length,
       not_negative, optional,
       "largest softening in physical length in expanding space, for all types or a map: from the scale "
       "factor "
       "on at which a comoving softening has grown to it, it stays; 0: none"},
  };
}

}  // namespace

std::vector<Row> gravity_rows() { return together({expansion_rows(), tree_rows(), softening_rows()}); }

std::vector<Row> decomposition_rows() {
  using D = DecompositionParameters;
  constexpr auto in = &Parameters::decomposition;
  const std::string s = "decomposition";
  return {
      {s, "rule", choice(in, &D::rule), dimension::none, any, optional,
       "where cells are cut: as the root cube is halved (`centre`, for octrees), near the middle of their "
       "box "
       "(`middle`), the former down to domain cells and the latter in them (`domains`), or into equal "
       "weights "
       "(`halves`)"},
      {s, "leaf_size", at(in, &D::leaf_size), dimension::none, Range{0, 1 << 30}, optional,
       "the most particles in a leaf; 0: 4096, fewer for few particles"},
      {s, "domain_cell", at(in, &D::domain_cell), dimension::none, Range{0, 1 << 30}, optional,
       "under `domains`: the most particles in a domain cell, the smallest part of space that moves between "
       "ranks; 0: 32 leaves, but at most a 256th of all particles and at least a leaf"},
      {s, "leaves", at(in, &D::leaves), dimension::none, Range{0, 1 << 30}, optional,
       "number of leaves; 0: follows from the leaf size; under `centre` there are more than these"},
      {s, "method", choice(in, &D::method), dimension::none, any, optional,
       "how cuts are searched; the cuts are the same"},
      {s, "schedule", choice(in, &D::schedule), dimension::none, any, optional,
       "which cells all ranks cut together; the cuts are the same"},
      {s, "transport", choice(in, &D::transport), dimension::none, any, optional,
       "how services travel over the ranks; the cuts are the same"},
  };
}

std::vector<Row> tuning_rows() {
  using T = TuningParameters;
  constexpr auto in = &Parameters::tuning;
  return {
      {"tuning", "rebuild_interval", at(in, &T::rebuild_interval), dimension::none, Range{0, 1e6}, optional,
       "steps from one decomposition and growth of trees to the next; between them trees are refitted, and "
       "those of active leaves cut anew; 0: what costs least, see `tuning.cost`"},
      {"tuning", "rebuild_above", at(in, &T::rebuild_above), dimension::none, positive, optional,
       "new cuts and trees when the walk takes more than 1 + this times the interactions per active "
       "particle that it took after the last ones; between them trees are refitted; 0.2 is the rule of the "
       "published kd-tree"},
      {"tuning", "cost", choice(in, &T::cost), dimension::none, any, optional,
       "what new trees and cuts cost there: as many interactions as on a reference machine (`counted`), or "
       "as the walks of this run make in that time (`measured`): then another run may cut all anew at other "
       "steps, so that results differ, within the accuracy of the forces"},
  };
}

}  // namespace grove::schema
