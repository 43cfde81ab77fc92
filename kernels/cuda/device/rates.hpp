#pragma once

namespace grove::cuda {

/// The rates of the GPU of this rank, in a second.
struct DeviceRates {
  double copy_bytes;          ///< read and written in its memory, together
  double to_device, to_host;  ///< bytes over the bus, from and to pinned memory
  double launch_seconds;      ///< of an empty kernel, in a row of them
  double transfer_seconds;    ///< of the smallest transfer, its waiting included
};

/// The best of several tries. Cost: a fifth of a second, 2 GiB of device memory (less on a small GPU).
DeviceRates measure_rates();

}  // namespace grove::cuda
