#pragma once

#include <functional>
#include <memory>

#include "commands/decompose_result.hpp"
#include "particles/particles.hpp"

namespace grove {

/// Random stream of the points of --uniform.
std::uint64_t stream_of(const DecomposeOptions& options);

/// What `grove decompose` does with GPUs.
class GpuDecompose {
 public:
  virtual ~GpuDecompose() = default;
  /// Collective. Decomposes once: a set of particles on the host, or, if `host` is empty, the points of
  /// --uniform, made in the memory of the GPU for schedules that keep them there. The result's hash, fault
  /// and memory are filled in if is_last.
  virtual void run(const std::function<Particles()>& host, bool is_last,
                   std::vector<DecomposeResult>& runs) = 0;
  /// The rates of GPU and bus.
  virtual void calibrate(MachineRates& rates) = 0;
  /// What GPUs are used, into the result.
  virtual void describe(DecomposeResult& result) const = 0;
};

/// Collective. Whether Grove has GPU code and every rank a GPU.
bool gpus_are_there(const Communicator& comm);

/// Collective. Takes a GPU for every rank. InputError if that cannot be done, or Grove was built without
/// CUDA.
std::unique_ptr<GpuDecompose> make_gpu_decompose(const Communicator& comm, const DecomposeOptions& options);

}  // namespace grove
