#include "let/gpu/whole_trees.hpp"

#include <cstddef>

namespace grove {

WholeTrees::WholeTrees(const DeviceForest& forest, int rank, int ranks)
    : forest_(forest), rank_(rank), ranks_(ranks) {}

std::vector<cuda::SelectedTree> WholeTrees::trees() const {
  std::vector<cuda::SelectedTree> trees;
  for (int to = 0; to < ranks_; ++to) {
    if (to == rank_) continue;
    for (std::size_t leaf = 0; leaf < forest_.places().size(); ++leaf)
      trees.push_back(
          {static_cast<std::int32_t>(leaf), to, forest_.places()[leaf].nodes, forest_.places()[leaf].count});
  }
  return trees;
}

cuda::LetArrays WholeTrees::pack() const {
  const auto copies = [&]<class T>(const T* own, std::size_t count) {
    const auto others = static_cast<std::size_t>(ranks_ - 1);
    cuda::DeviceArray<T> all(own ? others * count : 0);
    for (std::size_t i = 0; own && i < others; ++i)
      cuda::device_copy(all.data() + i * count, own, count * sizeof(T));
    return all;
  };
  const cuda::LeafTrees own = forest_.trees();
  const std::size_t nodes = forest_.nodes(), particles = forest_.particles();
  return {copies(static_cast<const NodeCore*>(own.core), nodes),
          copies(static_cast<const NodeMoments*>(own.moments), nodes),
          copies(own.links, nodes),
          copies(static_cast<const std::uint8_t*>(own.children), nodes),
          copies(static_cast<const SourceParticle*>(own.sources), particles),
          copies(static_cast<const float*>(own.softening), particles)};
}

}  // namespace grove
