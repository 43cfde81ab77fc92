#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/trees/leaf_trees.hpp"

/// Who is to be walked, and in which order.
namespace grove::cuda {

/// Classes of groups by how many interactions their targets had, to a factor of two: in class k up to
/// most_work_of(k).
inline constexpr int work_classes = 33;
constexpr std::int64_t most_work_of(int work_class) {
  return (std::int64_t{1} << (work_classes - 1 - work_class)) - 1;
}

/// Numbers of groups, or of particles. Device memory.
struct ActiveList {
  DeviceArray<std::uint32_t> numbers;  ///< the first `count`
  std::uint32_t count = 0;
  std::array<std::uint32_t, work_classes> of_class{};  ///< how many there are, from active_groups()

  /// The sum of most_work_of() for all.
  std::int64_t work() const {
    std::int64_t sum = 0;
    for (int k = 0; k < work_classes; ++k) sum += most_work_of(k) * of_class[static_cast<std::size_t>(k)];
    return sum;
  }
};

/// The groups of some leaves as an update leaves them, and what tells how long their walks will take. Device
/// memory.
struct WalkableGroups {
  LeafTrees trees;
  const std::uint32_t* leaf_of_group;
  std::uint32_t count;
  const std::uint32_t* work;  ///< by particle, work_per_cycle() of its last walk
  const std::uint8_t* rung;   ///< by particle
};

/// Groups that have active particles. targets_per_warp: group_size; or twice that: of each pair of groups of
/// a leaf, the first, if either has any.
///
/// Those come first whose first active particle had the most interactions when it last walked, to a factor of
/// two or so, as a group whose box reaches into a dense place may have twenty times as many as most: begun
/// last it would keep the GPU waiting. In which order groups walk changes no bit of the forces. Cost: two
/// passes over the groups, and a wait of the host.
ActiveList active_groups(const WalkableGroups& groups, int targets_per_warp);

/// The same while the host goes on: what it waits for next brings the counts.
class ActiveSearch {
 public:
  ActiveSearch(const WalkableGroups& groups, int targets_per_warp);
  /// Once. Waits, if the host has not waited since.
  ActiveList list();

 private:
  using OfClass = decltype(ActiveList::of_class);
  DeviceArray<std::uint32_t> numbers_;
  std::optional<Arriving<OfClass>> of_class_;
};

/// The same where all are active, without a wait. count: of all groups, or pairs.
ActiveList all_groups(const WalkableGroups& groups, int targets_per_warp, std::uint32_t count);

/// Particles on rungs of at least first_active, in ascending order. rung (device): `count`. Cost: one pass.
ActiveList active_particles(const std::uint8_t* rung, std::size_t count, int first_active);

}  // namespace grove::cuda
