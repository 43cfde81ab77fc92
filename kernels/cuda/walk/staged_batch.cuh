#pragma once

namespace grove::cuda {

/// Sources in a batch: one per lane.
inline constexpr int batch_size = 32;
/// The number of sources that sums take at a time; batches are filled up to multiples with sources of no
/// mass.
inline constexpr int round_size = 4;

/// A batch in shared memory: first those beyond the reach of softening, at the very end the others.
struct StagedBatch {
  static constexpr int slots = batch_size + round_size;
  float4 place[slots];   ///< and mass
  float4 second[slots];  ///< traceless second moments xx, yy, zz, xy of a cell
  float4 rest[slots];    ///< xz, yz and trace of a cell; softening scale of a cell or particle;
                         ///< where cells have octupoles, these in place of trace and scale
};

/// How many are where.
struct BatchCounts {
  int far;  ///< filled up
  int near;
};

/// The sums of a warp by lane, and the rests that rounding has left out of them. They are in global memory.
struct KeptSums {
  float sum[8][32], rest[8][32];
};

}  // namespace grove::cuda
