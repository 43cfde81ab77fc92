#include <fmt/format.h>

#include "backend/backend.hpp"
#include "backend/gpu_backend.hpp"
#include "backend/host_backend.hpp"
#include "base/errors.hpp"
#include "kernels/math/tree_fault.hpp"

namespace grove {

std::string resolve(const Communicator& comm, BackendChoice& choice) {
  if (choice.name != "auto") return {};
  const std::string fault = fault_of_gpus(comm, choice.share_gpu);
  choice.name = fault.empty() ? "cuda" : "kokkos";
  choice.share_gpu = choice.share_gpu && fault.empty();
  return fault;
}

std::optional<DeviceMemory> device_memory(const Communicator& comm, const BackendChoice& choice) {
  if (choice.name != "cuda") return std::nullopt;
  return gpu_memory(comm, choice.share_gpu);
}

namespace {

/// Other walks of a GPU, and its direct sums, know no images.
void require_walks_of_groups(const GravityParameters& gravity) {
  const char* const does_it =
      "is for open space on GPUs, and the box is periodic; leave it out, or give --backend kokkos";
  if (gravity.walk != WalkKind::groups)
    throw Agreed<InputError>(fmt::format("gravity.walk: rope {}", does_it));
  if (gravity.direct_below > 0) throw Agreed<InputError>(fmt::format("gravity.direct_below {}", does_it));
  if (gravity.first == FirstForces::direct)
    throw Agreed<InputError>(fmt::format("gravity.first: direct {}", does_it));
}

void refuse_options_of_gpus(const BackendChoice& choice) {
  const char* given = choice.payload ? "--payload" : choice.share_gpu ? "--share-gpu" : nullptr;
  if (given)
    throw Agreed<InputError>(
        fmt::format("{} is for GPUs, and here the host does it all: leave it out", given));
}

}  // namespace

std::unique_ptr<Backend> make_backend(const Communicator& comm, const BackendChoice& choice,
                                      Particles particles, const GravityParameters& gravity,
                                      const GasParameters& gas) {
  for (const char* fault : {fault_of_trees(gravity), fault_of_order(gravity)})
    if (fault) throw Agreed<InputError>(fault);
  if (choice.name == "cuda" && !gravity.images.are_open()) require_walks_of_groups(gravity);
  if (choice.name == "cuda") return make_gpu_backend(comm, choice, std::move(particles), gravity, gas);
  refuse_options_of_gpus(choice);
  return std::make_unique<HostBackend>(comm, std::move(particles), gravity, gas);
}

std::unique_ptr<FriendFinder> make_friend_finder(const Communicator& comm, const BackendChoice& choice) {
  if (choice.name == "cuda") return make_gpu_friend_finder(comm, choice.share_gpu);
  refuse_options_of_gpus(choice);
  return std::make_unique<HostFriends>();
}

std::unique_ptr<PowerEstimator> make_power_estimator(const Communicator& comm, const BackendChoice& choice) {
  if (choice.name == "cuda") return make_gpu_power_estimator(comm, choice.share_gpu);
  refuse_options_of_gpus(choice);
  return std::make_unique<HostPower>();
}

}  // namespace grove
