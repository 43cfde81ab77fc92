#pragma once

#include "backend/backend.hpp"

namespace grove {

/// Collective. Why GPUs cannot be used; empty: Grove has code for them, and every rank can have one of its
/// own, or, with may_share, one at all.
std::string fault_of_gpus(const Communicator& comm, bool may_share);

/// Collective. The memory of the GPU that this rank takes.
DeviceMemory gpu_memory(const Communicator& comm, bool may_share);

/// Collective. The backend "cuda". InputError if a rank has no GPU, or Grove was built without CUDA.
std::unique_ptr<Backend> make_gpu_backend(const Communicator& comm, const BackendChoice& choice,
                                          Particles particles, const GravityParameters& gravity,
                                          const GasParameters& gas);

/// Collective. make_friend_finder() of the backend "cuda".
std::unique_ptr<FriendFinder> make_gpu_friend_finder(const Communicator& comm, bool may_share);

/// Collective. make_power_estimator() of the backend "cuda".
std::unique_ptr<PowerEstimator> make_gpu_power_estimator(const Communicator& comm, bool may_share);

}  // namespace grove
