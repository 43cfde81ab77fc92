#include "backend/memory_needs.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/host/local_tree.hpp"
#include "kernels/math/cut_rule.hpp"
#include "kernels/math/interaction.hpp"
#include "kernels/math/node.hpp"
#include "particles/particles.hpp"

namespace grove {
namespace {

constexpr auto links = static_cast<double>(sizeof(NodeLinks)), level = 1.0;
/// Nodes of bisections a particle. Their memory was measured with these in it.
constexpr double nodes_of_bisections = 2.0 / bucket_size;

/// Arrays of nodes that stay from step to step, on the host and on GPUs: Forest, DeviceForest.
double node_arrays(const GravityParameters& gravity) {
  return links + static_cast<double>(sizeof(NodeCore) + sizeof(NodeMoments)) +
         (needs_boxes(gravity.criterion) ? static_cast<double>(sizeof(NodeBox)) : 0) +
         (gravity.criterion == Criterion::opening_cell ? level : 0);
}

}  // namespace

double nodes_per_particle(const GravityParameters& gravity) {
  const auto bucket = static_cast<double>(gravity.bucket);
  switch (gravity.tree) {
    case LocalTreeKind::bisection:
      return nodes_of_bisections;
    case LocalTreeKind::octree:
      return 9 / (bucket + 4);
    case LocalTreeKind::kd:
      return 4 / (bucket + 1);
  }
  throw std::logic_error("no such kind of tree");
}

double host_bytes_per_particle(const GravityParameters& gravity, bool has_gas) {
  constexpr double with_bisections = 232, of_gas = 345;
  constexpr double builder = 2 * links;  // a builder's own nodes, which grow by doubling
  constexpr double without_nodes =
      with_bisections - nodes_of_bisections * (links + sizeof(NodeCore) + sizeof(NodeMoments) + builder);
  return without_nodes + (has_gas ? of_gas : 0) +
         nodes_per_particle(gravity) * (node_arrays(gravity) + builder);
}

double host_bytes_of_leaf(double particles, const GravityParameters& gravity) {
  // Nodes that groups walk are gathered in arrays that grow by doubling. Measured in single leaves, without
  // the masses and the list of expansions: 219 bytes a node and 36 a particle; along ropes, where growth
  // takes most, 132 a node.
  constexpr double gathered = 2 * static_cast<double>(sizeof(LocalNode) + sizeof(CellSource) +
                                                      sizeof(LocalTree::Origin) + sizeof(float) +
                                                      2 * sizeof(std::int32_t)),
                   listed = 36, grown = 132;
  const bool has_groups = gravity.walk == WalkKind::groups;
  return particles *
         (has_groups ? listed + gathered * nodes_per_particle(gravity) : grown * nodes_per_particle(gravity));
}

double device_bytes_per_particle(int ranks, const GravityParameters& gravity, bool has_gas) {
  // Arrays of DeviceGas::evaluate() while it finds rates, and nodes in which neighbours are searched.
  constexpr double of_gas = 64 + 64 + 40 + 9 + 92 * nodes_of_bisections;
  const auto of_fields = static_cast<double>(bytes_of_fields(has_gas)) + (has_gas ? of_gas : 0);
  // Records and cuts of domain cells that are renewed, beside the trees; on several ranks also the fields of
  // particles that travel.
  if (follows_from_counts(gravity.tree)) return of_fields + (ranks == 1 ? 96 : 218);
  // Trees of any other kind take more: cuda::TreeRefit by node, cuda::KdTreeBuilder or OctreeBuilder by
  // particle. Memory that they give back stays with the process, in pieces.
  constexpr double children = 1, refit = 80;
  const double builder = gravity.tree == LocalTreeKind::kd ? 75 : 32 + 60 * nodes_per_particle(gravity) / 2;
  return of_fields + (ranks == 1 ? 168 : 198) + builder +
         nodes_per_particle(gravity) * (node_arrays(gravity) + children + refit);
}

double checkpoint_bytes_per_particle(const GravityParameters& gravity, bool has_gas) {
  const auto of_fields = static_cast<double>(
      bytes_of_fields([=](const FieldInfo& info) { return info.checkpoint && (has_gas || !info.of_gas); }));
  constexpr double headers = 4;  // and what there is by leaf
  const double levels = gravity.criterion == Criterion::opening_cell ? level : 0;
  return of_fields + headers + nodes_per_particle(gravity) * (links + levels);
}

}  // namespace grove
