#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commands/decompose_result.hpp"

namespace grove {

/// The work of `grove decompose` with GPUs.
class GpuDecompose {
 public:
  virtual ~GpuDecompose() = default;
  /// Collective. Decomposes once and adds the run; hash, fault and memory are filled in if is_last.
  virtual void run(bool is_last, std::vector<DecomposeResult>& runs) = 0;
  /// The rates of GPU and bus.
  virtual void calibrate(MachineRates& rates) = 0;
  /// Writes into the result which GPUs are used.
  virtual void describe(DecomposeResult& result) const = 0;
};

/// Collective. Takes a GPU for every rank. InputError if that cannot be done, or Grove was built without
/// CUDA.
std::unique_ptr<GpuDecompose> make_gpu_decompose(const Communicator& comm, const DecomposeOptions& options);

}  // namespace grove
