#pragma once

#include <cstdint>

namespace grove::cuda {

/// Numbers of things, cells of the ORB or their leaves, in the images of a periodic box. In the box itself,
/// the first image, they have the numbers that they have anyway; behind all of these come those of the other
/// images of each, one thing after the other in any order, as far as walks of this rank may come to them.
/// Device memory.
struct ImageNumbers {
  std::uint32_t count;          ///< of things
  std::uint32_t room;           ///< for numbers; what had larger ones is not there
  const std::uint32_t* images;  ///< [count] a bit for each image but the first
  const std::uint32_t* before;  ///< [count] numbers between those of the first image and its next one
  std::uint32_t stride;         ///< from one of its images to the next

#if defined(__CUDACC__)
  __device__ std::uint32_t number(std::uint32_t thing, int image) const {
    if (image == 0) return thing;
    const int of_thing = __popc(images[thing] & ((1U << image) - 1));
    return count + before[thing] + stride * static_cast<std::uint32_t>(of_thing);
  }
  __device__ bool is_in(std::uint32_t thing, int image) const {
    return image == 0 || ((images[thing] >> image & 1) != 0 && number(thing, image) < room);
  }
#endif
};

}  // namespace grove::cuda
