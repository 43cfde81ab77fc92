#pragma once

#include <vector>

#include "kernels/cuda/let_selection.hpp"
#include "let/gpu/device_forest.hpp"

namespace grove {

/// What cuda::LetSelection would give if every rank opened everything: all trees of this one, whole, for each
/// of the others. What locally essential trees are measured against; several GPUs of one host exchange it in
/// less time where particles are few. Cost: a copy of the forest for each rank, in device memory.
class WholeTrees {
 public:
  /// forest: must outlive this.
  WholeTrees(const DeviceForest& forest, int rank, int ranks);

  std::vector<cuda::SelectedTree> trees() const;
  cuda::LetArrays pack() const;

 private:
  const DeviceForest& forest_;
  int rank_, ranks_;
};

}  // namespace grove
