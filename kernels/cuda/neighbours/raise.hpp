#pragma once

#include <cstddef>
#include <cstdint>

namespace grove::cuda {

/// all[numbers[k]] becomes at least values[k], k < count; numbers may be alike. Device memory.
void raise_to(const std::uint32_t* numbers, const std::uint32_t* values, std::size_t count,
              std::uint32_t* all);

}  // namespace grove::cuda
