#pragma once

#include <cstddef>
#include <cstdint>

#include "base/box.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/records.hpp"
#include "kernels/math/led_positions.hpp"

/// Passes over fields of particles in device memory.
namespace grove::cuda {

/// An array in one or two parts: elements below `size` are in `first`, those from it on in `rest`.
struct TwoParts {
  const void* first;
  std::size_t size;
  const void* rest;
};

/// to[i] = from[index[i]], i < count. element_size: bytes, any; to and from must not overlap.
/// Cost: one reading and writing, the former in the order of the index.
void gather_elements(void* to, const TwoParts& from, const std::uint32_t* index, std::size_t count,
                     std::size_t element_size);

/// index[i] = i, i < count.
void number_elements(std::uint32_t* index, std::size_t count);

/// Bounds of positions; is_finite: all coordinates are numbers. No positions: low > high. Cost: one pass.
struct Extent {
  Vec3d low, high;
  bool is_finite;
};
Arriving<Extent> find_extent(const Vec3d* position, std::size_t count);
/// The first particle with a coordinate that is not a finite number; there is one. Cost: one pass.
std::size_t first_not_finite(const Vec3d* position, std::size_t count);

/// Records of positions: integer coordinates as Box::coordinates() gives them, indices from
/// first_index on. records (out): the first `count`. Cost: one pass.
void make_records(const Box& box, const LedPositions& position, std::size_t count, std::uint32_t first_index,
                  const DeviceRecords& records);

/// Sum of work, and how many have none; both 0 without work. Cost: one pass.
struct WorkSum {
  Count work, idle;
};
Arriving<WorkSum> sum_work(const std::uint32_t* work, std::size_t count);
/// Work 0 becomes 1. Cost: one pass.
void employ_idle(std::uint32_t* work, std::size_t count);

/// Points in the unit cube, each made from its number alone: particles first .. first + count - 1 of `all`.
/// position, velocity, mass, id (out): count.
void make_uniform(std::uint64_t stream, std::uint64_t first, std::size_t count, std::uint64_t all,
                  Vec3d* position, Vec3d* velocity, double* mass, ParticleId* id);

}  // namespace grove::cuda
