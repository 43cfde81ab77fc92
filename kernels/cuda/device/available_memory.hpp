#pragma once

#include <cstdint>

namespace grove::cuda {

/// Bytes of the selected GPU that this process has for its arrays, in use or not, or that belong to nobody.
std::uint64_t available_device_memory();

}  // namespace grove::cuda
