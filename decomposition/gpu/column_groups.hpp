#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/types.hpp"
#include "particles/gpu/device_particles.hpp"

namespace grove {

/// Columns of particles that leave a rank are copied before they are sent: as many together as fit in so much
/// memory, or in that of the widest of them, and all of these in one group of messages.
constexpr std::size_t column_group_bytes = std::size_t{64} << 20;

/// The end of the group of columns that begins with column `begin`. most: particles that leave any rank, so
/// that all ranks make the same groups.
inline std::size_t end_of_group(std::span<const DeviceParticles::Column> columns, std::size_t begin,
                                Count most) {
  const auto bytes_of = [&](const DeviceParticles::Column& column) {
    return column.info.migrate ? static_cast<std::size_t>(most) * column.element_size : 0;
  };
  std::size_t room = column_group_bytes;
  for (const DeviceParticles::Column& column : columns) room = std::max(room, bytes_of(column));
  std::size_t end = begin;
  for (; end < columns.size() && bytes_of(columns[end]) <= room; ++end) room -= bytes_of(columns[end]);
  return end;
}

}  // namespace grove
