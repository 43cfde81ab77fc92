#pragma once

#include "kernels/cuda/trees/leaf_update.cuh"
#include "kernels/cuda/trees/tree_refit.hpp"

namespace grove::cuda {

/// Particles of a node that are in groups which it holds the whole of, but for a group that is the node; from
/// end to end if there are none.
struct WholeGroups {
  std::int32_t begin, end;

  __device__ bool exist() const { return begin < end; }
};

/// The data that kernels need beside the trees. Nodes by their number among all. Wide nodes hold the whole of
/// some group of particles.
struct TreeRefit::View {
  std::uint32_t* parent;   ///< [nodes] no_node: a root
  std::uint32_t* pending;  ///< [nodes] children that are divided and not done
  std::uint32_t* slot;     ///< [nodes] of those that are divided, among the sums of these
  Place* ready[2];  ///< nodes that wait for no other, of a pass and of the next: of the first pass divided
                    ///< nodes all whose children are buckets, and roots that are buckets
  Place* wide;      ///< wide nodes that are divided
  Sizes* sizes;
  std::uint32_t* radius2;  ///< [nodes] of wide ones: bits of a float, not negative, which sort as it does
  /// [groups] a node that begins with the group; wide nodes that hold all of the group are above it
  std::uint32_t* first_node;
  bool groups_are_nodes;  ///< TreeGroups; only what is in here looks at it
  MomentSum* sums;        ///< by slot
  std::byte* extents;     ///< by slot: of the type that the criterion takes

  template <class Extent>
  __device__ Extent& extent(std::uint32_t at) const {
    return reinterpret_cast<Extent*>(extents)[at];
  }

  __device__ WholeGroups whole_groups(const NodeLinks& link, const LeafPlaces& leaf) const {
    const std::int32_t end = link.first + link.count;
    if (groups_are_nodes) return {link.count > group_size ? link.first : end, end};
    // The leaf's last group is whole if it ends there.
    const std::int32_t first_whole = (link.first + group_size - 1) / group_size * group_size,
                       last_whole = end == leaf.count ? end : end / group_size * group_size;
    return first_whole < last_whole ? WholeGroups{first_whole, last_whole} : WholeGroups{end, end};
  }

  /// Note the groups that begin with a node, n. They are to be called for all roots, children and buckets.
  __device__ void note_root(const NodeLinks& link, const LeafPlaces& leaf, std::uint32_t n) const {
    if (groups_are_nodes && link.count <= group_size) first_node[leaf.group] = n;
  }
  __device__ void note_child(const NodeLinks& parent, const NodeLinks& child, const GroupRun* runs,
                             const LeafPlaces& leaf, std::uint32_t n) const {
    if (groups_are_nodes) note_largest(parent, child, runs, leaf, n);
  }
  __device__ void note_bucket(const NodeLinks& link, const LeafPlaces& leaf, std::uint32_t n) const {
    if (!groups_are_nodes && link.first % group_size == 0)
      first_node[leaf.group + static_cast<std::uint32_t>(link.first / group_size)] = n;
  }

 private:
  __device__ void note_largest(const NodeLinks& parent, const NodeLinks& child, const GroupRun* runs,
                               const LeafPlaces& leaf, std::uint32_t n) const {
    if (parent.count > group_size && child.count <= group_size)
      first_node[leaf.group +
                 static_cast<std::uint32_t>(group_at(runs + leaf.group, leaf.groups, child.first))] = n;
  }
};

}  // namespace grove::cuda
