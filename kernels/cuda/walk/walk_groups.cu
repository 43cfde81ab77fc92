#include "kernels/cuda/walk/walk_kernel.cuh"

namespace grove::cuda {

template void walk_groups<OwnLeaf, OneGroup>(const GravityParameters&, const ForceUnits&, const WalkSources&,
                                             const WalkTargets&, const ForceOutput&, WalkMemory&);
template void walk_groups<OtherLeaves, OneGroup>(const GravityParameters&, const ForceUnits&,
                                                 const WalkSources&, const WalkTargets&, const ForceOutput&,
                                                 WalkMemory&);

}  // namespace grove::cuda
