#include "kernels/cuda/walk/walk_kernel.cuh"

namespace grove::cuda {

template void walk_groups<true, 2 * group_size>(const GravityParameters&, const ForceUnits&,
                                                const WalkSources&, const WalkTargets&, const ForceOutput&,
                                                WalkMemory&);
template void walk_groups<false, 2 * group_size>(const GravityParameters&, const ForceUnits&,
                                                 const WalkSources&, const WalkTargets&, const ForceOutput&,
                                                 WalkMemory&);

}  // namespace grove::cuda
