#include "kernels/cuda/walk/walk_kernel.cuh"

namespace grove::cuda {

template void walk_groups<true, group_size>(const GravityParameters&, const WalkRule&, const WalkSources&,
                                            const WalkTargets&, const WalkOutput&, WalkMemory&);
template void walk_groups<false, group_size>(const GravityParameters&, const WalkRule&, const WalkSources&,
                                             const WalkTargets&, const WalkOutput&, WalkMemory&);

}  // namespace grove::cuda
