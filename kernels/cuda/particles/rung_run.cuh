#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/launch.cuh"
#include "kernels/cuda/device/warp.cuh"

/// How kernels find the active particles. In most block steps few are, and next to each other: a lane looks
/// at the rungs of four neighbours with one request, and a warp passes over those of which nobody is active.
/// With more rungs in a request, a warp whose particles are all active would be busy with these for too long.
namespace grove::cuda {

/// The rungs of a warp's run of particles. By all lanes of a warp.
class RungRun {
 public:
  static constexpr int per_lane = 4, size = 32 * per_lane;

  /// begin: its first particle. rung: of the first of all particles, aligned to per_lane bytes.
  __device__ RungRun(const std::uint8_t* rung, std::size_t count, std::size_t begin) : begin_(begin) {
    const std::size_t first = begin + static_cast<std::size_t>(lane_index()) * per_lane;
    if (first + per_lane <= count) {
      four_ = *reinterpret_cast<const std::uint32_t*>(rung + first);
      return;
    }
    four_ = in_each_byte(nobody);
    for (std::size_t i = first; i < count; ++i) four_ = four_ << 8 | rung[i];
  }

  /// How many of all lanes are on a rung.
  __device__ std::uint32_t count_of(int rung) const {
    const int bits = __popc(__vcmpeq4(four_, in_each_byte(rung)));
    return __reduce_add_sync(~0u, static_cast<std::uint32_t>(bits / 8));
  }

  /// Calls visit(first) for each 32 particles, a lane each, of which some may be active. The last ones of all
  /// may not exist.
  template <class Visit>
  __device__ void for_active(int first_active, const Visit& visit) const {
    const unsigned lanes = __ballot_sync(~0u, __vcmpgeu4(four_, in_each_byte(first_active)) != 0);
    if (lanes == 0) return;
    constexpr int lanes_of_visit = 32 / per_lane;
#pragma unroll
    for (int k = 0; k < per_lane; ++k)
      if ((lanes >> lanes_of_visit * k & ((1u << lanes_of_visit) - 1)) != 0)
        visit(begin_ + 32 * static_cast<std::size_t>(k));
  }

 private:
  static constexpr int nobody = 0xff;  ///< in place of the rung of a particle that does not exist

  __device__ static std::uint32_t in_each_byte(int value) {
    return 0x01010101u * static_cast<std::uint32_t>(value);
  }

  std::size_t begin_;
  std::uint32_t four_;  ///< rungs, in any order
};

/// Calls body(i, its rung) of active particles. A warp per run.
template <class Body>
__global__ void __launch_bounds__(threads)
    for_each_active(std::size_t count, const std::uint8_t* rung, int first_active, const Body body) {
  const std::size_t warp = (static_cast<std::size_t>(blockIdx.x) * threads + threadIdx.x) / 32;
  if (warp * RungRun::size >= count) return;
  RungRun(rung, count, warp * RungRun::size).for_active(first_active, [&](std::size_t first) {
    const std::size_t i = first + static_cast<std::size_t>(lane_index());
    if (i >= count) return;
    const int own = rung[i];
    if (own >= first_active) body(i, own);
  });
}

}  // namespace grove::cuda
