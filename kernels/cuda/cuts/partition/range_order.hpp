#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/box.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/particles/records.hpp"

/// Work on some ranges of the particles, joined to one list, while all others stay.
namespace grove::cuda {

/// Particles first .. first + count - 1.
struct ParticleRange {
  std::uint64_t first, count;
};

/// The numbers of the particles of all ranges, range by range. ranges: the host's, none empty.
DeviceArray<std::uint32_t> list_ranges(std::span<const ParticleRange> ranges);

/// Records of listed particles; indices are their numbers. position: of all; numbers, records (out): `count`.
/// Cost: one pass over the list.
void make_records_of(const Box& box, const Vec3d* position, const std::uint32_t* numbers, std::size_t count,
                     const DeviceRecords& records);

/// A field of all particles, and of more.
struct FieldColumn {
  void* values;
  std::size_t size;          ///< elements of values
  const void* rest;          ///< elements from number `size` on
  std::size_t element_size;  ///< bytes
};
/// Element numbers[i] of every column becomes what was element order[i], i < count. numbers, order: device;
/// no element is given up that is not replaced. Device memory on top: the elements moved. Cost: two readings
/// and writings of them.
void reorder_listed(std::span<const FieldColumn> columns, const std::uint32_t* numbers,
                    const std::uint32_t* order, std::size_t count);

}  // namespace grove::cuda
