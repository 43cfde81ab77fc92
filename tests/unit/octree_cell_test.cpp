// The criterion opening_cell: the cells of nodes, and walks against the octree of the root cube, divided
// level by level without a tree of Grove's.
#include "kernels/math/octree_cell.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "support/distributions.hpp"
#include "support/grown.hpp"

namespace grove {
namespace {

using testing::Grown;

constexpr double theta = 0.6;

GravityParameters cells_of_octrees(Count bucket) {
  GravityParameters gravity;
  gravity.criterion = Criterion::opening_cell;
  gravity.theta = theta;
  gravity.tree = LocalTreeKind::octree;
  gravity.bucket = bucket;
  gravity.order = Order::monopole;
  gravity.walk = WalkKind::rope;
  return gravity;
}

/// Places are multiples of 2^-12 of the box: offsets from each other are exact in single precision.
Particles on_a_grid(testing::Shape shape, std::size_t count) {
  Particles particles = testing::make_shape(shape, count);
  for (Vec3d& x : particles.position)
    for (int axis = 0; axis < 3; ++axis) x[axis] = std::round(x[axis] * 0x1p12) * 0x1p-12;
  return particles;
}

Grown grow(Particles& particles, const GravityParameters& gravity, Count quantum, const CellAxes& axes = {}) {
  Grown grown;
  grown.prepare(particles);
  grown.box.axes = axes;
  grown.sort(particles, quantum);
  grown.build(particles, *tree_builder(gravity));
  grown.moments(particles, gravity, 0);
  return grown;
}

/// The deepest level on which all are in one cell.
int level_by_definition(const Box& box, std::span<const Vec3d> positions) {
  std::vector<IntegerPosition> places;
  for (const Vec3d& x : positions) places.push_back(box.coordinates(x));
  int level = 32;
  const auto is_divided = [&] {
    const auto cell_of = [&](Coordinate c) { return level == 0 ? 0 : c >> (32 - level); };
    return std::any_of(places.begin(), places.end(), [&](const IntegerPosition& p) {
      for (int axis = 0; axis < 3; ++axis)
        if (cell_of(p[axis]) != cell_of(places[0][axis])) return true;
      return false;
    });
  };
  while (is_divided()) --level;
  return level;
}

/// The length from which a node in a cell of a level is accepted.
double reach_by_definition(const Box& box, int level, const Vec3d& centre) {
  // Along the axes of the cells; turned coordinates are halved.
  const CellAxes& axes = box.axes;
  const bool is_turned = !(axes == CellAxes());
  const double edge = std::ldexp(box.edge, -level) * (is_turned ? 2 : 1);
  const Vec3d middle = box.low + Vec3d{1, 1, 1} * (box.edge / 2);
  double offset2 = 0;
  const Vec3d shift = axes.middle.as<double>() * 0x1p-32;
  const Vec3<std::int64_t> rows[] = {axes.x, axes.y, axes.z};
  for (int k = 0; k < 3; ++k) {
    const double place = dot(rows[k].as<double>() * 0x1p-31, centre - middle) / box.edge + shift[k];
    const double in_cell = std::ldexp(place, level) - std::floor(std::ldexp(place, level)) - 0.5;
    offset2 += in_cell * in_cell;
  }
  return edge / theta + std::sqrt(offset2) * edge;
}

/// Nodes of a leaf are accepted from the definition's distance, in cells of these levels; or where these are
/// empty, in the smallest that hold them, and their levels are entered.
///
/// reach2 is rounded up by 1e-6; places, edges, offsets and the square are rounded some ten times by 2^-24,
/// and the rows of turned axes are half of one but for 1e-9.
void expect_reaches(const Grown& grown, const Particles& particles, std::int32_t leaf,
                    std::vector<int>& levels) {
  const SourceTree tree = grown.forest.tree(leaf);
  const Vec3d* const first = particles.position.data() + grown.leaf_begin[static_cast<std::size_t>(leaf)];
  const bool is_new = levels.empty();
  for (std::int32_t n = 0; n < tree.nodes; ++n) {
    const NodeLinks& link = tree.links[n];
    if (is_new)
      levels.push_back(
          level_by_definition(grown.box, {first + link.first, static_cast<std::size_t>(link.count)}));
    const Vec3d centre = tree.origin + tree.core[n].centre.as<double>() * grown.units.length;
    const double expected =
        std::max(reach_by_definition(grown.box, levels[static_cast<std::size_t>(n)], centre),
                 tree.core[n].radius * grown.units.length);
    ASSERT_NEAR(std::sqrt(tree.core[n].reach2) * grown.units.length, expected,
                2e-6 * expected + 0x1p-40 * grown.box.edge)
        << "leaf " << leaf << ", node " << n;
  }
}

TEST(OctreeCell, is_the_smallest_that_holds_the_node_and_keeps_its_size) {
  for (const CellAxes& axes : {CellAxes(), CellAxes::turned(1), CellAxes::turned(3),
                               CellAxes::shifted(0, true), CellAxes::shifted(7, true)})
    for (const Count bucket : {1, 8})
      for (const Count quantum : {2000, 250}) {
        Particles particles = on_a_grid(testing::Shape::plummer, 2000);
        const GravityParameters gravity = cells_of_octrees(bucket);
        Grown grown = grow(particles, gravity, quantum, axes);
        std::vector<std::vector<int>> levels(static_cast<std::size_t>(grown.forest.leaves()));
        for (std::int32_t leaf = 0; leaf < grown.forest.leaves(); ++leaf)
          expect_reaches(grown, particles, leaf, levels[static_cast<std::size_t>(leaf)]);
        for (std::size_t i = 0; i < particles.size(); ++i)
          particles.position[i] += Vec3d{0.05, -0.02, 0.03} * std::sin(static_cast<double>(i));
        grown.moments(particles, gravity, 0);
        for (std::int32_t leaf = 0; leaf < grown.forest.leaves(); ++leaf)
          expect_reaches(grown, particles, leaf, levels[static_cast<std::size_t>(leaf)]);
      }
}

/// The published walk: a cell is accepted, or divided into octants until one particle is left.
class PublishedWalk {
 public:
  PublishedWalk(const Grown& grown, const Particles& particles) : box_(grown.box), particles_(particles) {
    for (std::uint32_t i = 0; i < particles.size(); ++i) all_.push_back(i);
  }

  /// Interactions of a target, itself among them.
  Count interactions(const Vec3d& target) const { return cell(all_, box_.low, box_.edge, target); }

 private:
  Count cell(const std::vector<std::uint32_t>& members, const Vec3d& low, double edge,
             const Vec3d& target) const {
    if (members.size() <= 1) return static_cast<Count>(members.size());
    Vec3d centre{0, 0, 0};
    double mass = 0;
    for (const std::uint32_t i : members) {
      centre += particles_.position[i] * particles_.mass[i];
      mass += particles_.mass[i];
    }
    centre *= 1 / mass;
    const Vec3d middle = low + Vec3d{1, 1, 1} * (edge / 2);
    if (edge / theta + norm(centre - middle) < norm(target - centre)) return 1;
    std::array<std::vector<std::uint32_t>, 8> octants;
    for (const std::uint32_t i : members) {
      const Vec3d& x = particles_.position[i];
      octants[(x.x >= middle.x) + 2U * (x.y >= middle.y) + 4U * (x.z >= middle.z)].push_back(i);
    }
    Count sum = 0;
    for (std::size_t octant = 0; octant < 8; ++octant) {
      Vec3d corner = low;
      for (int axis = 0; axis < 3; ++axis)
        if (octant >> axis & 1) corner[axis] = middle[axis];
      sum += cell(octants[octant], corner, edge / 2, target);
    }
    return sum;
  }

  const Box& box_;
  const Particles& particles_;
  std::vector<std::uint32_t> all_;
};

// The tree has one node where the published one has a chain of cells with the same particles: of these the
// smallest is accepted first, as l/theta halves and s grows by less than half a diagonal. Only rounding may
// decide otherwise: of 1e-7 of all tests, which is far less than one here.
TEST(OctreeCell, walks_as_the_octree_of_the_root_cube) {
  for (const testing::Shape shape : {testing::Shape::uniform, testing::Shape::hernquist}) {
    Particles particles = testing::make_shape(shape, 1500);
    const GravityParameters gravity = cells_of_octrees(1);
    const Grown grown = grow(particles, gravity, 1500);
    grown.walk_along_ropes(particles, gravity, 0);
    const PublishedWalk published(grown, particles);
    Count differing = 0;
    for (std::size_t i = 0; i < particles.size(); i += 5)
      differing += published.interactions(particles.position[i]) != particles.work[i];
    EXPECT_LE(differing, 1);
  }
}

}  // namespace
}  // namespace grove
